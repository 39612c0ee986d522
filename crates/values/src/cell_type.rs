//! Takes the text of a cell and the type of its column; returns the value of a script variable.

use crate::calendar::{parse_date, parse_time, parse_timestamp};
use crate::decimal::Decimal;
use crate::json::of_json;
use crate::value::Value;

/// What a driver reports of the type of an answer's column, if it is more than plain text or a number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CellType {
    /// A number, a text, or any other type without a variant here.
    #[default]
    Plain,
    /// The cell contains the bytes themselves.
    Bytes,
    /// The cell contains `\x` and hexadecimal digits.
    HexBytes,
    /// An exact number with decimal digits.
    Decimal,
    /// A date, as `2000-01-31`.
    Date,
    /// A time of day, as `23:59:59`.
    Time,
    /// A date and a time of day.
    Timestamp,
    /// The cell contains JSON.
    Document,
    /// The cell contains a JSON array: the column holds lists.
    List,
}

impl CellType {
    /// An integer if the text is exactly one, so that it is bound and printed unchanged; a value of the
    /// column's type if the text is valid for it (`infinity` is no date); otherwise the text itself.
    #[must_use]
    pub fn value(self, cell: Option<&[u8]>) -> Value {
        let Some(bytes) = cell else {
            return Value::Null;
        };
        let text = || String::from_utf8_lossy(bytes);
        let typed = match self {
            Self::Plain => None,
            Self::Bytes => Some(Value::Bytes(bytes.into())),
            Self::HexBytes => from_hex(bytes).map(|bytes| Value::Bytes(bytes.into())),
            Self::Decimal => match plain(&text()) {
                Value::Int(number) => Some(Value::Int(number)),
                _ => Decimal::parse(&text()).map(Value::Decimal),
            },
            Self::Date => parse_date(bytes).map(Value::Date),
            Self::Time => parse_time(bytes).map(Value::Time),
            Self::Timestamp => parse_timestamp(bytes).map(Value::Timestamp),
            Self::Document => Some(Value::Document(text().into())),
            Self::List => serde_json::from_slice(bytes)
                .ok()
                .map(|array| of_json(&array)),
        };
        typed.unwrap_or_else(|| plain(&text()))
    }
}

fn plain(text: &str) -> Value {
    let is_canonical = match text.strip_prefix('-').unwrap_or(text).as_bytes() {
        b"0" => !text.starts_with('-'),
        [b'1'..=b'9', ..] => true,
        _ => false,
    };
    match text.parse() {
        Ok(number) if is_canonical => Value::Int(number),
        _ => Value::Text(text.into()),
    }
}

/// Parses the bytes of `\x00ff`; `None` if the text is not in this form.
#[must_use]
pub fn from_hex(text: &[u8]) -> Option<Vec<u8>> {
    let digits = text.strip_prefix(b"\\x")?;
    if !digits.len().is_multiple_of(2) {
        return None;
    }
    let half = |digit: u8| {
        char::from(digit)
            .to_digit(16)
            .and_then(|half| u8::try_from(half).ok())
    };
    let byte = |pair: &[u8]| Some(half(pair[0])? << 4 | half(pair[1])?);
    digits.chunks_exact(2).map(byte).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_has_the_type_of_its_column_if_its_text_is_valid() {
        let decimal = Decimal::parse("1.50")
            .map(Value::Decimal)
            .expect("a decimal");
        let text = |text: &str| Value::Text(text.into());
        for (cell_type, cell, expected) in [
            (CellType::Plain, "-7", Value::Int(-7)),
            (CellType::Plain, "007", text("007")),
            (CellType::Plain, "2024-01-01", text("2024-01-01")),
            (CellType::Decimal, "1.50", decimal),
            (CellType::Decimal, "42", Value::Int(42)),
            (CellType::Decimal, "NaN", text("NaN")),
            (CellType::Date, "1970-01-02", Value::Date(1)),
            (CellType::Date, "infinity", text("infinity")),
            (CellType::Time, "00:00:01", Value::Time(1_000_000)),
            (
                CellType::Timestamp,
                "1970-01-01 00:00:00",
                Value::Timestamp(0),
            ),
            (CellType::Bytes, "ab", Value::Bytes((*b"ab").into())),
            (CellType::HexBytes, "\\x6162", Value::Bytes((*b"ab").into())),
            (CellType::HexBytes, "\\x616", text("\\x616")),
            (CellType::Document, "{}", Value::Document("{}".into())),
            (
                CellType::List,
                "[1, \"a\"]",
                Value::List([Value::Int(1), text("a")].into()),
            ),
        ] {
            assert_eq!(
                cell_type.value(Some(cell.as_bytes())),
                expected,
                "{cell_type:?} {cell}"
            );
        }
        assert_eq!(CellType::Date.value(None), Value::Null);
    }
}

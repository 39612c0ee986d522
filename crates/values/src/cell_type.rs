//! Takes the text of a cell and the type of its column; returns the value of a script variable, or whether every system
//! can store it as that type. What does not fit is refused by some systems, converted by others, and stored unchanged by
//! a system without strict types.

use std::str;
use std::str::FromStr as _;

use crate::calendar::{parse_date, parse_time, parse_timestamp};
use crate::decimal::Decimal;
use crate::json::of_json;
use crate::value::Value;
use crate::{Cell, ColumnType, json};

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

impl ColumnType {
    /// Whether `cell` is a value of this type, or the text form of one. NULL is of every type.
    pub fn accepts(self, cell: Cell<'_>) -> bool {
        match self {
            _ if cell == Cell::Null => true,
            Self::SmallInt => is_whole(cell, i64::from(i16::MIN), i64::from(i16::MAX)),
            Self::Int => is_whole(cell, i64::from(i32::MIN), i64::from(i32::MAX)),
            Self::BigInt => is_whole(cell, i64::MIN, i64::MAX),
            Self::Decimal { precision, scale } => {
                let whole_digits = i32::try_from(precision - scale).unwrap_or(i32::MAX);
                // Not `<`: a double cannot tell a long number from the next power of ten.
                number(cell).is_some_and(|number| number.abs() <= 10_f64.powi(whole_digits))
            }
            Self::Float => number(cell).is_some_and(|number| number.abs() <= f64::from(f32::MAX)),
            Self::Double => number(cell).is_some(),
            Self::Char(length) | Self::Varchar(length) => {
                is_text(cell, usize::try_from(length).unwrap_or(usize::MAX))
            }
            Self::Text => is_text(cell, usize::MAX),
            Self::Date => cell
                .as_text()
                .is_some_and(|text| parse_date(text).is_some()),
            Self::Timestamp => cell
                .as_text()
                .is_some_and(|text| parse_timestamp(text).is_some()),
            Self::Bool => {
                matches!(
                    cell,
                    Cell::Bool(_) | Cell::Int(0 | 1) | Cell::Text(b"0" | b"1")
                )
            }
            Self::Bytes => cell.as_text().is_some(),
            Self::Json => match cell {
                Cell::Text(text) => json::is_kept(text),
                Cell::Double(number) => number.is_finite(),
                Cell::Int(_) => true,
                // Its text is a number.
                Cell::Bool(_) | Cell::Null => false,
            },
            Self::Array(of) => cell
                .as_text()
                .is_some_and(|text| json::elements(text, of).is_some()),
        }
    }
}

fn is_whole(cell: Cell<'_>, lowest: i64, highest: i64) -> bool {
    let number = match cell {
        Cell::Bool(truth) => Some(i64::from(truth)),
        Cell::Int(number) => Some(number),
        Cell::Text(text) => str::from_utf8(text)
            .ok()
            .and_then(|text| i64::from_str(text).ok()),
        Cell::Double(_) | Cell::Null => None,
    };
    number.is_some_and(|number| (lowest..=highest).contains(&number))
}

/// Its value, near enough for its range; `None` for what is no finite number.
fn number(cell: Cell<'_>) -> Option<f64> {
    let mut scratch = Vec::new();
    let text = str::from_utf8(cell.text_in(&mut scratch)?).ok()?;
    f64::from_str(text).ok().filter(|number| number.is_finite())
}

fn is_text(cell: Cell<'_>, longest: usize) -> bool {
    let mut scratch = Vec::new();
    let Some(text) = cell.text_in(&mut scratch) else {
        return true;
    };
    // Systems ignore spaces beyond the length.
    str::from_utf8(text).is_ok_and(|text| text.trim_end_matches(' ').chars().count() <= longest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Cell::{Bool, Double, Int, Null, Text};
    use crate::{Cell, ColumnType};

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

    #[test]
    fn a_type_accepts_its_values_and_their_texts_and_nothing_else() {
        #[rustfmt::skip]
        let cases: [(&str, &[Cell<'_>], &[Cell<'_>]); 11] = [
            (
                "smallint",
                &[Null, Int(-32768), Text(b"7"), Bool(true)],
                &[Int(32768), Double(1.0), Text(b"seven"), Text(b"")],
            ),
            ("int", &[Int(2_147_483_647)], &[Int(2_147_483_648)]),
            ("bigint", &[Int(i64::MIN)], &[Text(b"1180591620717411303424"), Text(b"1.5")]),
            (
                "decimal(9,2)",
                &[Int(3), Text(b"-9999999.99"), Text(b"1E+2"), Double(0.1)],
                &[Int(100_000_000), Text(b"NaN"), Text(b"a dozen")],
            ),
            (
                "double",
                &[Int(1), Double(-1e300), Text(b"1e300")],
                &[Double(f64::NAN), Double(f64::INFINITY), Text(b"x")],
            ),
            (
                "varchar(3)",
                &[Text("äöü".as_bytes()), Int(123), Text(b"abc  ")],
                &[Text(b"abcd"), Text(b"\xff")],
            ),
            (
                "date",
                &[Text(b"2024-02-29")],
                &[Text(b"2023-02-29"), Text(b"29.2.2024"), Int(20_240_229)],
            ),
            (
                "timestamp",
                &[Text(b"2024-02-29 12:00:00.5"), Text(b"2024-02-29")],
                &[Text(b"noon"), Double(0.0)],
            ),
            ("bool", &[Bool(false), Int(1)], &[Int(2), Text(b"maybe")]),
            (
                "json",
                &[Text(b"{\"a\": [1]}"), Int(1), Text(b"\"a\"")],
                &[Text(b"a"), Text(b"{"), Bool(true)],
            ),
            ("int[]", &[Text(b"[1, null]"), Text(b"[]")], &[Text(b"[1.5]"), Text(b"{1}"), Int(1)]),
        ];
        for (name, valid, invalid) in cases {
            let of_type: ColumnType = name.parse().expect("a type");
            for &cell in valid {
                assert!(of_type.accepts(cell), "{name}: {cell:?}");
            }
            for &cell in invalid {
                assert!(!of_type.accepts(cell), "{name}: {cell:?}");
            }
        }
    }
}

//! Takes a value and the type that a statement expects; binds the value in that type where it fits exactly,
//! and otherwise in its own.

use assay_values::calendar::{parse_date, parse_timestamp};
use assay_values::json::of_json;
use assay_values::{Decimal, Value, write_array};

use crate::duckdb::library::{Handle, Library, RawDecimal, type_id as t};

/// The most digits of the library's decimals.
const MOST_DIGITS: u8 = 38;

/// The type of a parameter. The library compiles a statement again for each execution whose values have
/// other types.
#[derive(Clone, Copy, Debug)]
pub(super) struct Parameter {
    /// Its `duckdb_type`; 0 where it is not known.
    pub id: u32,
    /// Digits of a decimal.
    pub width: u8,
    /// Its digits after the point.
    pub scale: u8,
}

/// Binds the value; returns the library's state.
///
/// # Safety
/// `statement` is a statement of the library that has a parameter `index`, of the type `expected`.
pub(super) unsafe fn bind(
    library: &Library,
    statement: Handle,
    index: u64,
    value: &Value,
    expected: Parameter,
) -> u32 {
    // SAFETY: as the caller says, here and in the calls below.
    unsafe {
        match value {
            Value::Null => (library.bind_null)(statement, index),
            Value::Bool(truth) => (library.bind_boolean)(statement, index, *truth),
            Value::Int(number) => integer(library, statement, index, *number, expected),
            Value::Double(number) => match expected.id {
                #[expect(clippy::cast_possible_truncation, reason = "compared with the double")]
                t::FLOAT if f64::from(*number as f32) == *number => {
                    (library.bind_float)(statement, index, *number as f32)
                }
                _ => (library.bind_double)(statement, index, *number),
            },
            Value::Text(words) => parsed(library, statement, index, words, expected),
            Value::Bytes(bytes) => {
                (library.bind_blob)(statement, index, bytes.as_ptr().cast(), bytes.len() as u64)
            }
            Value::Decimal(decimal) => exact(library, statement, index, *decimal, expected),
            Value::Date(days) => (library.bind_date)(statement, index, *days),
            Value::Time(us) => (library.bind_time)(statement, index, *us),
            Value::Timestamp(us) => match expected.id {
                t::TIMESTAMP_TZ => (library.bind_timestamp_tz)(statement, index, *us),
                _ => (library.bind_timestamp)(statement, index, *us),
            },
            Value::List(values) if expected.id == t::LIST => {
                let list = list_text(values);
                text(library, statement, index, &list)
            }
            Value::Document(array) if expected.id == t::LIST => {
                let list = list_text_of_array(array.as_bytes());
                let list = list.as_deref().unwrap_or(array.as_bytes());
                text(library, statement, index, list)
            }
            Value::List(_) | Value::Document(_) => {
                text(library, statement, index, value.to_text().as_bytes())
            }
        }
    }
}

/// # Safety
/// As for [`bind`].
unsafe fn integer(
    library: &Library,
    statement: Handle,
    index: u64,
    number: i64,
    expected: Parameter,
) -> u32 {
    // SAFETY: as the caller says.
    unsafe {
        match expected.id {
            t::TINYINT => {
                if let Ok(number) = i8::try_from(number) {
                    return (library.bind_int8)(statement, index, number);
                }
            }
            t::SMALLINT => {
                if let Ok(number) = i16::try_from(number) {
                    return (library.bind_int16)(statement, index, number);
                }
            }
            t::INTEGER => {
                if let Ok(number) = i32::try_from(number) {
                    return (library.bind_int32)(statement, index, number);
                }
            }
            t::HUGEINT => {
                return (library.bind_hugeint)(statement, index, i128::from(number).into());
            }
            t::DOUBLE => {
                #[expect(clippy::cast_precision_loss, reason = "compared with the integer")]
                let double = number as f64;
                if number.unsigned_abs() < 1 << f64::MANTISSA_DIGITS {
                    return (library.bind_double)(statement, index, double);
                }
            }
            t::DECIMAL => {
                if let Some(decimal) = Decimal::new(number.into(), 0) {
                    return exact(library, statement, index, decimal, expected);
                }
            }
            // A number compared with a text column: as its digits.
            t::VARCHAR => return text(library, statement, index, number.to_string().as_bytes()),
            _ => {}
        }
        (library.bind_int64)(statement, index, number)
    }
}

/// A text that may be the text form of the expected type.
///
/// # Safety
/// As for [`bind`].
unsafe fn parsed(
    library: &Library,
    statement: Handle,
    index: u64,
    words: &str,
    expected: Parameter,
) -> u32 {
    // SAFETY: as the caller says.
    unsafe {
        match expected.id {
            t::DATE => {
                if let Some(days) = parse_date(words.as_bytes()) {
                    return (library.bind_date)(statement, index, days);
                }
            }
            t::TIMESTAMP => {
                if let Some(us) = parse_timestamp(words.as_bytes()) {
                    return (library.bind_timestamp)(statement, index, us);
                }
            }
            t::TINYINT | t::SMALLINT | t::INTEGER | t::BIGINT => {
                if let Ok(number) = words.parse() {
                    return integer(library, statement, index, number, expected);
                }
            }
            t::DOUBLE => {
                if let Ok(number) = words.parse() {
                    return (library.bind_double)(statement, index, number);
                }
            }
            t::DECIMAL => {
                if let Some(decimal) = Decimal::parse(words) {
                    return exact(library, statement, index, decimal, expected);
                }
            }
            _ => {}
        }
        text(library, statement, index, words.as_bytes())
    }
}

/// # Safety
/// As for [`bind`].
unsafe fn text(library: &Library, statement: Handle, index: u64, words: &[u8]) -> u32 {
    // SAFETY: as the caller says; the library copies the bytes.
    unsafe {
        (library.bind_varchar_length)(statement, index, words.as_ptr().cast(), words.len() as u64)
    }
}

/// # Safety
/// As for [`bind`].
unsafe fn exact(
    library: &Library,
    statement: Handle,
    index: u64,
    decimal: Decimal,
    expected: Parameter,
) -> u32 {
    // SAFETY: as the caller says.
    unsafe {
        match expected.id {
            t::DECIMAL => {
                if let Some(digits) = rescaled(decimal, expected) {
                    let raw = RawDecimal {
                        width: expected.width,
                        scale: expected.scale,
                        digits: digits.into(),
                    };
                    return (library.bind_decimal)(statement, index, raw);
                }
            }
            t::DOUBLE | t::FLOAT => {
                return (library.bind_double)(statement, index, decimal.double());
            }
            _ => {
                if let Some(number) = decimal.whole().filter(|_| decimal.scale() == 0) {
                    return integer(library, statement, index, number, expected);
                }
            }
        }
        let raw = RawDecimal {
            width: MOST_DIGITS,
            scale: decimal.scale(),
            digits: decimal.digits().into(),
        };
        (library.bind_decimal)(statement, index, raw)
    }
}

/// The digits at the expected scale, if the number fits exactly.
fn rescaled(decimal: Decimal, expected: Parameter) -> Option<i128> {
    let more = expected.scale.checked_sub(decimal.scale())?;
    let digits = decimal
        .digits()
        .checked_mul(10_i128.checked_pow(more.into())?)?;
    let limit = 10_i128.checked_pow(expected.width.into())?;
    (digits.unsigned_abs() < limit.unsigned_abs()).then_some(digits)
}

/// The text of a list.
pub(super) fn list_text(values: &[Value]) -> Vec<u8> {
    let mut out = Vec::new();
    write_array(values, *b"[]", &mut out);
    out
}

/// The text of a JSON array; none where the text is not one.
pub(super) fn list_text_of_array(text: &[u8]) -> Option<Vec<u8>> {
    match of_json(&serde_json::from_slice(text).ok()?) {
        Value::List(values) => Some(list_text(&values)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_decimal_is_bound_in_the_expected_type_only_where_it_fits_exactly() {
        let expected = Parameter {
            id: t::DECIMAL,
            width: 4,
            scale: 2,
        };
        for (text, digits) in
            [("1.5", Some(150)), ("-99.99", Some(-9999)), ("100", None), ("0.001", None)]
        {
            let decimal = Decimal::parse(text).expect("a decimal");
            assert_eq!(rescaled(decimal, expected), digits, "{text}");
        }
    }

    #[test]
    fn texts_are_quoted_and_numbers_are_not() {
        let array = br#"[1, null, "a \"b\"\\\n", [true]]"#;
        let found = list_text_of_array(array).expect("an array");
        let expected = "[1,NULL,\"a \\\"b\\\"\\\\\n\",[true]]";
        assert_eq!(String::from_utf8_lossy(&found), expected);
        assert!(list_text_of_array(b"{}").is_none());
    }
}

//! Takes a value in text form, as a system prints it, and its type; returns a normalized text that is the
//! same for equal values of all systems.
//!
//! Systems print the same value differently: `t` and `1`, `1.50` and `1.5`, a `char(4)` with and without
//! padding.

use std::borrow::Cow;
use std::io::Write as _;

use crate::number_text::{
    DOUBLE_DIGITS, decimal, number, number_or_time, without_ending, without_zeros,
};
use crate::{ColumnType, json};

/// Digits of a 32-bit number that every system prints.
const FLOAT_DIGITS: usize = 6;

impl ColumnType {
    /// The normalized text of `value`. A value that is invalid for the type is unchanged.
    pub fn comparable(self, value: &[u8]) -> Cow<'_, [u8]> {
        match self {
            Self::SmallInt
            | Self::Int
            | Self::BigInt
            | Self::Varchar(_)
            | Self::Text
            | Self::Bytes => Cow::Borrowed(value),
            Self::Date => Cow::Borrowed(without_midnight(value)),
            Self::Char(_) => Cow::Borrowed(without_ending(value, b' ')),
            Self::Timestamp => Cow::Borrowed(without_zeros(value)),
            Self::Bool => Cow::Borrowed(match value {
                b"t" | b"true" | b"TRUE" => b"1",
                b"f" | b"false" | b"FALSE" => b"0",
                other => other,
            }),
            Self::Decimal { scale, .. } => decimal(value, scale),
            Self::Float => rounded(value, FLOAT_DIGITS),
            Self::Double => rounded(value, DOUBLE_DIGITS),
            Self::Json | Self::Array(_) => {
                json::comparable(value).map_or(Cow::Borrowed(value), Cow::Owned)
            }
        }
    }
}

/// The normalized form of a value of unknown type, as far as its text shows one: that of a number or a time
/// ([`number_or_time`]), and that of an object or an array of JSON. Anything else is unchanged.
pub(crate) fn comparable_text(value: &[u8]) -> Cow<'_, [u8]> {
    match value.first() {
        Some(b'{' | b'[') => json::comparable(value).map_or(Cow::Borrowed(value), Cow::Owned),
        _ => number_or_time(value),
    }
}

/// Systems without dates store a time at midnight.
fn without_midnight(text: &[u8]) -> &[u8] {
    without_zeros(text)
        .strip_suffix(b" 00:00:00")
        .unwrap_or(text)
}

fn rounded(value: &[u8], digits: usize) -> Cow<'_, [u8]> {
    let Some(number) = number(value) else {
        return Cow::Borrowed(value);
    };
    let mut text = Vec::new();
    // Minus zero becomes zero: not every system keeps the sign.
    let number = if number == 0.0 { 0.0 } else { number };
    write!(text, "{number:.*e}", digits - 1).expect("writing to memory is infallible");
    Cow::Owned(text)
}

#[cfg(test)]
mod tests {
    use super::comparable_text;
    use crate::ColumnType;

    #[test]
    fn values_of_unknown_type_have_the_form_that_their_text_shows() {
        for (value, common) in [
            ("2013-10-12 07:59:20.000000", "2013-10-12 07:59:20"),
            ("07:59:20.50", "07:59:20.5"),
            ("1.50", "1.5"),
            ("-0.0", "0"),
            (".5", "0.5"),
            ("5.", "5"),
            ("100", "100"),
            ("0.1000000000000000055", "0.1"),
            ("0.30000000000000004", "0.3"),
            ("1e+20", "100000000000000000000"),
            ("1E20", "100000000000000000000"),
            ("1.7976931348623157E308", "1.7976931348623157E308"),
            ("-1.7976931348623157e308", "-1.7976931348623157e308"),
            ("2013-10-12", "2013-10-12"),
            ("1.2.30", "1.2.30"),
            ("10.0.0.10", "10.0.0.10"),
            ("T2_XX.10", "T2_XX.10"),
            ("-e", "-e"),
            ("", ""),
            ("{\"b\": 1.0, \"a\": 2}", "{\"a\":2,\"b\":1}"),
            ("[1, 2]", "[1,2]"),
            ("{1,2}", "{1,2}"),
        ] {
            assert_eq!(
                comparable_text(value.as_bytes()),
                common.as_bytes(),
                "{value}"
            );
        }
    }

    /// The forms of one value in several systems, and their normalized form.
    #[test]
    fn equal_values_have_the_same_normalized_text() {
        #[rustfmt::skip]
        let cases = [
            ("bool", vec!["t", "1", "true"], "1"),
            ("bool", vec!["f", "0"], "0"),
            ("decimal(9,2)", vec!["1.50", "1.5", "01.5", "1.5000000000000002"], "1.5"),
            ("decimal(9,2)", vec!["-0.10", "-.1", "-0.1"], "-0.1"),
            ("decimal(9,2)", vec!["0.00", "0", "-0", "0.0", "-0.001"], "0"),
            ("decimal(9,2)", vec!["100", "100.00", "1e2"], "100"),
            ("char(4)", vec!["ab", "ab  "], "ab"),
            ("float", vec!["0.1", "0.10000000149011612"], "1.00000e-1"),
            ("double", vec!["3", "3.0", "3e0"], "3.00000000000000e0"),
            ("double", vec!["0", "-0", "0.0"], "0.00000000000000e0"),
            (
                "timestamp",
                vec!["2026-01-02 03:04:00", "2026-01-02 03:04:00.000000"],
                "2026-01-02 03:04:00",
            ),
            (
                "date",
                vec![
                    "2026-01-02",
                    "2026-01-02 00:00:00",
                    "2026-01-02 00:00:00.000",
                ],
                "2026-01-02",
            ),
            ("date", vec!["2026-01-02 00:00:01"], "2026-01-02 00:00:01"),
            ("bytes", vec!["\\x6869"], "\\x6869"),
            ("int", vec!["10"], "10"),
            ("json", vec!["{\"b\": 1.0, \"a\": 2}"], "{\"a\":2,\"b\":1}"),
            ("double[]", vec!["[1, 0.5]", "[1.0,0.50]"], "[1,0.5]"),
            ("text", vec!["1.50 "], "1.50 "),
        ];
        for (kind, forms, common) in cases {
            let kind: ColumnType = kind.parse().expect("a type");
            for form in forms {
                assert_eq!(
                    String::from_utf8_lossy(&kind.comparable(form.as_bytes())),
                    common,
                    "{form} of {kind:?}"
                );
            }
        }
    }
}

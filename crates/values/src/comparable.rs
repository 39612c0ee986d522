//! Takes a value in text form, as a system prints it, and its type; returns a normalized text that is the
//! same for equal values of all systems.
//!
//! Systems print the same value differently: `t` and `1`, `1.50` and `1.5`, a `char(4)` with and without
//! padding.

use std::borrow::Cow;
use std::io::Write as _;

use crate::ColumnType;

/// Digits of a 32-bit number that every system prints.
const FLOAT_DIGITS: usize = 6;
/// Digits of a 64-bit number that every system prints.
const DOUBLE_DIGITS: usize = 15;

impl ColumnType {
    /// The normalized text of `value`. A value that is invalid for the type is unchanged.
    #[must_use]
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
        }
    }
}

/// The normalized form of a value of unknown type, as far as its text shows one: numbers and times lose the zeros
/// at the end of their fraction, and numbers of more than 15 digits with a fraction or an exponent are rounded to
/// 15. Anything else, integers too, is unchanged.
#[must_use]
pub fn comparable_text(value: &[u8]) -> Cow<'_, [u8]> {
    const LONGEST: usize = 64;
    let starts_a_number = |byte: &u8| byte.is_ascii_digit() || matches!(byte, b'-' | b'.');
    let has_fraction = |byte: &u8| matches!(byte, b'.' | b'e' | b'E');
    if !value.first().is_some_and(starts_a_number)
        || value.len() > LONGEST
        || !value.iter().any(has_fraction)
    {
        return Cow::Borrowed(value);
    }
    let is_of_digits = |others: &[u8]| {
        let mut bytes = value.iter();
        bytes.all(|byte| byte.is_ascii_digit() || others.contains(byte))
    };
    if value.contains(&b':') && is_of_digits(b"-: .") {
        return Cow::Borrowed(without_zeros(value));
    }
    let Some(found) = number(value).filter(|found| found.is_finite()) else {
        return Cow::Borrowed(value);
    };
    let digits = value.iter().filter(|byte| byte.is_ascii_digit()).count();
    if is_of_digits(b"-.") && digits <= DOUBLE_DIGITS {
        return decimal(value, u32::MAX);
    }
    let rounded: f64 = format!("{found:.*e}", DOUBLE_DIGITS - 1)
        .parse()
        .expect("a number is printed as one");
    if rounded.is_infinite() {
        // The largest numbers would be rounded up to one that there is not.
        return Cow::Borrowed(value);
    }
    Cow::Owned(decimal(rounded.to_string().as_bytes(), u32::MAX).into_owned())
}

fn without_ending(mut text: &[u8], ending: u8) -> &[u8] {
    while let Some((&last, rest)) = text.split_last()
        && last == ending
    {
        text = rest;
    }
    text
}

/// Systems without dates store a time at midnight.
fn without_midnight(text: &[u8]) -> &[u8] {
    without_zeros(text)
        .strip_suffix(b" 00:00:00")
        .unwrap_or(text)
}

/// Removes zeros after the decimal point, and the point if nothing follows it.
fn without_zeros(text: &[u8]) -> &[u8] {
    if !text.contains(&b'.') {
        return text;
    }
    let kept = without_ending(text, b'0');
    kept.strip_suffix(b".").unwrap_or(kept)
}

/// Systems without decimals store a 64-bit float, of which `scale` digits after the point count.
fn decimal(value: &[u8], scale: u32) -> Cow<'_, [u8]> {
    let (digits, is_negative) = match value.split_first() {
        Some((b'-', rest)) => (rest, true),
        _ => (value, false),
    };
    let whole_digits = digits.iter().position(|&byte| byte == b'.');
    let fraction_len = whole_digits.map_or(0, |at| digits.len() - at - 1);
    let is_plain = digits
        .iter()
        .all(|byte| byte.is_ascii_digit() || *byte == b'.');
    if !is_plain || fraction_len > scale as usize {
        let Some(number) = number(value) else {
            return Cow::Borrowed(value);
        };
        let mut text = Vec::new();
        write!(text, "{number:.*}", scale as usize).expect("writing to memory is infallible");
        let kept = without_zeros(&text).to_vec();
        return Cow::Owned(if kept == b"-0" { b"0".to_vec() } else { kept });
    }
    let digits = without_zeros(digits);
    let zeros = digits.iter().take_while(|&&byte| byte == b'0').count();
    let mut text = Vec::with_capacity(digits.len() + 2);
    let significant = &digits[zeros..];
    if is_negative && !significant.is_empty() {
        text.push(b'-');
    }
    if significant.is_empty() || significant[0] == b'.' {
        text.push(b'0');
    }
    text.extend_from_slice(significant);
    Cow::Owned(text)
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

fn number(value: &[u8]) -> Option<f64> {
    std::str::from_utf8(value).ok()?.parse().ok()
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
        for (kind, forms, common) in [
            ("bool", vec!["t", "1", "true"], "1"),
            ("bool", vec!["f", "0"], "0"),
            (
                "decimal(9,2)",
                vec!["1.50", "1.5", "01.5", "1.5000000000000002"],
                "1.5",
            ),
            ("decimal(9,2)", vec!["-0.10", "-.1", "-0.1"], "-0.1"),
            (
                "decimal(9,2)",
                vec!["0.00", "0", "-0", "0.0", "-0.001"],
                "0",
            ),
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
            ("text", vec!["1.50 "], "1.50 "),
        ] {
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

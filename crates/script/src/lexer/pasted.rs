//! Takes a value; appends it to a statement's text as pgbench does in its `simple` mode: without quotes,
//! doubles with 15 digits.

use assay_values::Value;
use std::fmt::Write as _;

/// What the C language calls `DBL_DIG`.
const DIGITS: i32 = 15;
/// The exponent of the smallest number written without an exponent, 0.0001.
const MOST_DECIMALS: usize = 18;

pub(crate) fn paste(value: &Value, text: &mut String) {
    match value {
        Value::Null => text.push_str("NULL"),
        Value::Bool(true) => text.push_str("true"),
        Value::Bool(false) => text.push_str("false"),
        Value::Int(number) => {
            write!(text, "{number}").expect("writing to memory is infallible");
        }
        Value::Double(number) => paste_double(*number, text),
        Value::Text(value) => text.push_str(value),
        other => {
            let mut bytes = std::mem::take(text).into_bytes();
            other.write_text(&mut bytes);
            *text = String::from_utf8(bytes).expect("the text form is UTF-8");
        }
    }
}

/// As `printf("%.15g")` writes it.
fn paste_double(number: f64, text: &mut String) {
    if !number.is_finite() {
        text.push_str(match (number.is_nan(), number > 0.0) {
            (true, _) => "nan",
            (false, true) => "inf",
            (false, false) => "-inf",
        });
        return;
    }
    let start = text.len();
    write!(text, "{number:.14e}").expect("writing to memory is infallible");
    let mark = text
        .rfind('e')
        .expect("the scientific form has an exponent");
    let exponent: i32 = text[mark + 1..].parse().expect("it is a whole number");
    match usize::try_from(DIGITS - 1 - exponent) {
        Ok(decimals) if decimals <= MOST_DECIMALS => {
            text.truncate(start);
            write!(text, "{number:.decimals$}").expect("writing to memory is infallible");
            drop_zeros(start, text);
        }
        _ => {
            text.truncate(mark);
            drop_zeros(start, text);
            let sign = if exponent < 0 { '-' } else { '+' };
            write!(text, "e{sign}{:02}", exponent.abs()).expect("writing to memory is infallible");
        }
    }
}

/// Drops the trailing zeros of the fraction of the number that begins at `start`.
fn drop_zeros(start: usize, text: &mut String) {
    let number = &text[start..];
    if number.contains('.') {
        let kept = number.trim_end_matches('0').trim_end_matches('.').len();
        text.truncate(start + kept);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_double_is_written_as_the_c_library_does() {
        for (number, expected) in [
            (0.0, "0"),
            (-0.0, "-0"),
            (0.1, "0.1"),
            (1.0 / 3.0, "0.333333333333333"),
            (-1234.5, "-1234.5"),
            (0.0001, "0.0001"),
            (0.00001, "1e-05"),
            (123_456_789_012_345.0, "123456789012345"),
            (1e15, "1e+15"),
            (999_999_999_999_999.9, "1e+15"),
            (1.25e300, "1.25e+300"),
            (f64::NEG_INFINITY, "-inf"),
        ] {
            let mut text = String::new();
            paste(&Value::Double(number), &mut text);
            assert_eq!(text, expected);
        }
    }
}

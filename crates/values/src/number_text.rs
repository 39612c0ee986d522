//! Takes numbers and bytes; appends their text for files and text protocols. Takes the text of a number or a time as a
//! system prints it; returns the one that is the same for equal values of all systems.

use std::borrow::Cow;
use std::io::Write as _;

/// Appends the decimal digits of `number`, with its sign.
#[inline]
pub fn write_int(number: i64, out: &mut Vec<u8>) {
    if number < 0 {
        out.push(b'-');
    }
    write_unsigned(number.unsigned_abs(), out);
}

/// Appends the decimal digits of `number`.
#[inline]
pub fn write_unsigned(mut number: u64, out: &mut Vec<u8>) {
    // Written by hand, because formatting takes ten times as long and rows are full of integers.
    let mut digits = [0; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + u8::try_from(number % 10).expect("a remainder of 10");
        number /= 10;
        if number == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[at..]);
}

/// Appends two hexadecimal digits for each byte.
pub fn write_hex(bytes: &[u8], out: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    for byte in bytes {
        out.extend([byte >> 4, byte & 15].map(|half| DIGITS[usize::from(half)]));
    }
}

/// Appends the digits of a UUID in their five groups.
pub fn write_uuid(bytes: [u8; 16], out: &mut Vec<u8>) {
    for (at, byte) in bytes.into_iter().enumerate() {
        if matches!(at, 4 | 6 | 8 | 10) {
            out.push(b'-');
        }
        write_hex(&[byte], out);
    }
}

/// The exponents of ten that are written without an exponent.
const PLAIN_EXPONENTS: std::ops::Range<i32> = -4..15;

/// Appends the fewest digits that parse back to the same number, as most servers print a double: `0.1`, `3`,
/// `1e+20`; `NaN`, `Infinity`.
pub fn write_double(number: f64, out: &mut Vec<u8>) {
    if !number.is_finite() {
        let word = match (number.is_nan(), number > 0.0) {
            (true, _) => "NaN",
            (false, true) => "Infinity",
            (false, false) => "-Infinity",
        };
        return out.extend_from_slice(word.as_bytes());
    }
    let start = out.len();
    write!(out, "{number:e}").expect("writing to memory is infallible");
    let mark = out[start..]
        .iter()
        .position(|&byte| byte == b'e')
        .expect("the scientific form has an exponent");
    let exponent = out[start + mark + 1..]
        .iter()
        .filter(|byte| byte.is_ascii_digit())
        .fold(0, |value: i32, digit| value * 10 + i32::from(digit - b'0'));
    let is_small = out.get(start + mark + 1) == Some(&b'-');
    let exponent = if is_small { -exponent } else { exponent };
    out.truncate(start);
    if PLAIN_EXPONENTS.contains(&exponent) {
        write!(out, "{number}").expect("writing to memory is infallible");
    } else {
        write!(out, "{number:e}").expect("writing to memory is infallible");
        out.truncate(start + mark);
        let sign = if is_small { '-' } else { '+' };
        write!(out, "e{sign}{:02}", exponent.unsigned_abs())
            .expect("writing to memory is infallible");
    }
}

/// Digits of a 64-bit number that every system prints.
pub(crate) const DOUBLE_DIGITS: usize = 15;

/// The normalized form as far as the text shows a number or a time: these lose the zeros at the end of their fraction,
/// and numbers of more than 15 digits with a fraction or an exponent are rounded to 15. Anything else, integers too,
/// is unchanged.
pub(crate) fn number_or_time(value: &[u8]) -> Cow<'_, [u8]> {
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

pub(crate) fn without_ending(mut text: &[u8], ending: u8) -> &[u8] {
    while let Some((&last, rest)) = text.split_last()
        && last == ending
    {
        text = rest;
    }
    text
}

/// Removes zeros after the decimal point, and the point if nothing follows it.
pub(crate) fn without_zeros(text: &[u8]) -> &[u8] {
    if !text.contains(&b'.') {
        return text;
    }
    let kept = without_ending(text, b'0');
    kept.strip_suffix(b".").unwrap_or(kept)
}

/// Systems without decimals store a 64-bit float, of which `scale` digits after the point count.
pub(crate) fn decimal(value: &[u8], scale: u32) -> Cow<'_, [u8]> {
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

pub(crate) fn number(value: &[u8]) -> Option<f64> {
    std::str::from_utf8(value).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::{write_double, write_int, write_unsigned};

    #[test]
    fn integers_are_written_as_they_are_printed() {
        for number in [0, 7, -1, 10, 1_234_567, i64::MAX, i64::MIN] {
            let mut text = Vec::new();
            write_int(number, &mut text);
            assert_eq!(text, number.to_string().as_bytes());
        }
        let mut text = Vec::new();
        write_unsigned(u64::MAX, &mut text);
        assert_eq!(text, u64::MAX.to_string().as_bytes());
    }

    #[test]
    fn doubles_are_written_as_servers_print_them() {
        for (number, expected) in [
            (0.0, "0"),
            (-0.0, "-0"),
            (3.0, "3"),
            (0.1, "0.1"),
            (-1234.5, "-1234.5"),
            (0.0001, "0.0001"),
            (0.00001, "1e-05"),
            (1.5e14, "150000000000000"),
            (1e15, "1e+15"),
            (1.25e300, "1.25e+300"),
            (f64::NAN, "NaN"),
            (f64::NEG_INFINITY, "-Infinity"),
        ] {
            let mut text = Vec::new();
            write_double(number, &mut text);
            assert_eq!(String::from_utf8_lossy(&text), expected);
        }
    }
}

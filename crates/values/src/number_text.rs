//! Takes numbers and bytes; appends their text for files and text protocols.

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

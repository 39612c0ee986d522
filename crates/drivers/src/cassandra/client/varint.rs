//! Takes whole numbers of any length, highest byte first with a sign, and the protocol's numbers of variable
//! length; gives their digits, or their bytes.

use std::io::Write as _;

use assay_values::write_int;
use num_bigint::BigInt;

use crate::scan::Scan;

/// Turning a number into digits takes the square of its length: longer ones are not believed.
const MAX_NUMBER_BYTES: usize = 4096;
/// More digits behind the point than this are written as an exponent.
const MAX_FRACTION: i32 = 1000;

/// Appends the digits; none if the number is absurdly long.
pub(crate) fn write_digits(bytes: &[u8], out: &mut Vec<u8>) -> Option<()> {
    if bytes.len() <= 8 {
        write_int(short(bytes), out);
        return Some(());
    }
    if bytes.len() > MAX_NUMBER_BYTES {
        return None;
    }
    let digits = BigInt::from_signed_bytes_be(bytes).to_string();
    out.extend_from_slice(digits.as_bytes());
    Some(())
}

/// A number of at most eight bytes.
fn short(bytes: &[u8]) -> i64 {
    let is_negative = bytes.first().is_some_and(|&first| first >= 0x80);
    let start = if is_negative { -1 } else { 0 };
    (bytes.iter()).fold(start, |number: i64, &byte| number << 8 | i64::from(byte))
}

/// Appends a decimal number: its digits are those of `unscaled`, with the point so far to the left.
pub(crate) fn write_decimal(scale: i32, unscaled: &[u8], out: &mut Vec<u8>) -> Option<()> {
    let start = out.len();
    write_digits(unscaled, out)?;
    if scale == 0 {
        return Some(());
    }
    if !(0..=MAX_FRACTION).contains(&scale) {
        write!(out, "e{}", -i64::from(scale)).ok()?;
        return Some(());
    }
    let scale = usize::try_from(scale).ok()?;
    let start = start + usize::from(out.get(start) == Some(&b'-'));
    let digits = out.len() - start;
    if digits <= scale {
        let zeros = std::iter::repeat_n(b'0', scale + 1 - digits);
        out.splice(start..start, zeros);
    }
    let point = out.len() - scale;
    out.insert(point, b'.');
    Some(())
}

/// Appends a number as few bytes as hold it.
pub(crate) fn write_number(number: i128, out: &mut Vec<u8>) {
    let bytes = number.to_be_bytes();
    let needless =
        |pair: &[u8]| (pair[0] == 0 && pair[1] < 0x80) || (pair[0] == 0xFF && pair[1] >= 0x80);
    let start = bytes.windows(2).take_while(|pair| needless(pair)).count();
    out.extend_from_slice(&bytes[start..]);
}

/// Appends the number in a text of digits, however many; none if it is no number.
pub(crate) fn write_text_number(text: &str, out: &mut Vec<u8>) -> Option<()> {
    if let Ok(number) = text.parse() {
        write_number(number, out);
        return Some(());
    }
    if text.len() > 2 * MAX_NUMBER_BYTES {
        return None;
    }
    let number: BigInt = text.parse().ok()?;
    out.extend_from_slice(&number.to_signed_bytes_be());
    Some(())
}

/// Appends scale and digits of a decimal number in a text, `-1.50` or `1.5e-7`; none if it is no number.
pub(crate) fn write_text_decimal(text: &str, out: &mut Vec<u8>) -> Option<()> {
    let (number, exponent) = match text.split_once(['e', 'E']) {
        Some((number, exponent)) => (number, exponent.parse::<i32>().ok()?),
        None => (text, 0),
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let fraction_digits = i32::try_from(fraction.len()).ok()?;
    let scale = fraction_digits.checked_sub(exponent)?;
    out.extend_from_slice(&scale.to_be_bytes());
    if fraction.is_empty() {
        return write_text_number(whole, out);
    }
    if !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    write_text_number(&format!("{whole}{fraction}"), out)
}

/// A *vint* with a sign: the first byte's leading ones say how many more there are; even numbers are positive.
pub(crate) fn read_vint(scan: &mut Scan<'_>) -> Option<i64> {
    let first = scan.u8()?;
    let more = first.leading_ones();
    let mut number = match more {
        0..=6 => u64::from(first & (0xFF >> (more + 1))),
        _ => 0,
    };
    for _ in 0..more {
        number = number << 8 | u64::from(scan.u8()?);
    }
    let half = i64::try_from(number >> 1).ok()?;
    Some(if number & 1 == 0 { half } else { !half })
}

pub(crate) fn write_vint(number: i64, out: &mut Vec<u8>) {
    let folded = (number << 1 ^ number >> 63).cast_unsigned();
    let bits = 64 - (folded | 1).leading_zeros();
    // Each byte carries seven bits, as one of the first goes to the count; nine bytes carry all.
    let more = bits.saturating_sub(1) / 7;
    let bytes = folded.to_be_bytes();
    if more >= 8 {
        out.push(0xFF);
        out.extend_from_slice(&bytes);
        return;
    }
    let start = out.len();
    out.extend_from_slice(&bytes[7 - more as usize..]);
    out[start] |= !(0xFF_u8 >> more);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_take_as_few_bytes_as_hold_them() {
        for (number, expected) in [
            (0, &[0][..]),
            (127, &[0x7F]),
            (128, &[0, 0x80]),
            (-1, &[0xFF]),
            (-128, &[0x80]),
            (-129, &[0xFF, 0x7F]),
        ] {
            let mut bytes = Vec::new();
            write_number(number, &mut bytes);
            assert_eq!(bytes, expected, "{number}");
            let mut text = Vec::new();
            write_digits(&bytes, &mut text).expect("it is short");
            assert_eq!(text, number.to_string().as_bytes());
        }
    }

    #[test]
    fn a_decimal_is_written_as_it_is_read() {
        for text in ["0.00", "-1.50", "12", "-0.001", "123456789012345678901234567890.12"] {
            let mut bytes = Vec::new();
            write_text_decimal(text, &mut bytes).expect("it is a number");
            let (scale, unscaled) = bytes.split_first_chunk::<4>().expect("a scale");
            let mut back = Vec::new();
            write_decimal(i32::from_be_bytes(*scale), unscaled, &mut back).expect("it is short");
            assert_eq!(String::from_utf8_lossy(&back), text);
        }
        let mut bytes = Vec::new();
        for wrong in ["", "x", "1.x", "1.-5", "--1", "1e", "1.5.2"] {
            assert_eq!(write_text_decimal(wrong, &mut bytes), None, "{wrong:?}");
        }
        let mut back = Vec::new();
        write_decimal(i32::MAX, &[5], &mut back).expect("it is short");
        assert_eq!(back, b"5e-2147483647");
        assert_eq!(write_digits(&[1; 5000], &mut back), None);
    }

    #[test]
    fn numbers_of_variable_length_are_read_as_they_are_written() {
        for number in [0, 1, -1, 63, -64, 64, 8191, -8192, 1 << 34, i64::MAX, i64::MIN] {
            let mut bytes = Vec::new();
            write_vint(number, &mut bytes);
            let mut scan = Scan(&bytes);
            assert_eq!(read_vint(&mut scan), Some(number), "{number}: {bytes:x?}");
            assert!(scan.0.is_empty());
        }
    }
}

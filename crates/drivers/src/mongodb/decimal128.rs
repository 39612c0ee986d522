//! Takes the text of a decimal number, or a decimal of a script; gives it as BSON's decimal128, and back.
//!
//! A decimal128 is IEEE 754-2008's in binary integer form: a sign, an exponent of 14 bits, at most 34 digits.

use std::io::Write as _;

use assay_values::Decimal;

const BIAS: i32 = 6176;
const MAX_BIASED: i32 = 12_287;
const MAX_DIGITS: u128 = 10_u128.pow(34) - 1;
const NEGATIVE: u128 = 1 << 127;

/// The number, exactly; none if it has more than 34 digits.
pub(crate) fn of_decimal(decimal: Decimal) -> Option<[u8; 16]> {
    let digits = decimal.digits();
    build(digits < 0, digits.unsigned_abs(), -i32::from(decimal.scale()))
}

/// The number that a text such as `-1.50` or `1.5E+3` is, exactly; none if it is none, or has too many digits.
pub(crate) fn of_text(text: &str) -> Option<[u8; 16]> {
    let (is_negative, rest) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    match rest.to_ascii_lowercase().as_str() {
        "nan" => return Some(special(0x1F, false)),
        "inf" | "infinity" => return Some(special(0x1E, is_negative)),
        _ => {}
    }
    let (mantissa, exponent) = match rest.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
        None => (rest, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let is_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    if whole.len() + fraction.len() == 0 || !is_digits(whole) || !is_digits(fraction) {
        return None;
    }
    let mut digits = 0_u128;
    for digit in whole.bytes().chain(fraction.bytes()) {
        digits = digits.checked_mul(10)?.checked_add(u128::from(digit - b'0'))?;
    }
    let scale = i32::try_from(fraction.len()).ok()?;
    build(is_negative, digits, exponent.checked_sub(scale)?)
}

fn build(is_negative: bool, mut digits: u128, mut exponent: i32) -> Option<[u8; 16]> {
    while digits > MAX_DIGITS && digits.is_multiple_of(10) {
        digits /= 10;
        exponent = exponent.checked_add(1)?;
    }
    let biased = exponent.checked_add(BIAS)?;
    if digits > MAX_DIGITS || !(0..=MAX_BIASED).contains(&biased) {
        return None;
    }
    let sign = if is_negative { NEGATIVE } else { 0 };
    let bits = sign | u128::from(biased.unsigned_abs()) << 113 | digits;
    Some(bits.to_le_bytes())
}

/// Infinity or NaN, by the five bits behind the sign.
fn special(mark: u128, is_negative: bool) -> [u8; 16] {
    let sign = if is_negative { NEGATIVE } else { 0 };
    (sign | mark << 122).to_le_bytes()
}

/// Appends the number: without an exponent where it has up to 38 digits so, otherwise as `1.5E+100`.
pub(crate) fn write_text(bytes: [u8; 16], out: &mut Vec<u8>) {
    let bits = u128::from_le_bytes(bytes);
    let is_negative = bits & NEGATIVE != 0;
    let sign = if is_negative { "-" } else { "" };
    let (digits, exponent) = match bits >> 122 & 0x1F {
        0x1F => return out.extend_from_slice(b"NaN"),
        0x1E => return write(out, format_args!("{sign}Infinity")),
        // The form for coefficients that no decimal128 may have: they count as zero.
        mark if mark >> 3 == 0b11 => (0, (bits >> 111 & 0x3FFF) as i32),
        _ => {
            let digits = bits & ((1 << 113) - 1);
            let digits = if digits > MAX_DIGITS { 0 } else { digits };
            (digits, (bits >> 113 & 0x3FFF) as i32)
        }
    };
    let exponent = exponent - BIAS;
    let signed = |digits: u128| {
        let digits = i128::try_from(digits).ok()?;
        Some(if is_negative { -digits } else { digits })
    };
    let plain = match u32::try_from(exponent) {
        Ok(zeros) => 10_u128
            .checked_pow(zeros)
            .and_then(|unit| digits.checked_mul(unit))
            .and_then(signed)
            .and_then(|digits| Decimal::new(digits, 0)),
        Err(_) => {
            u8::try_from(-exponent).ok().and_then(|scale| Decimal::new(signed(digits)?, scale))
        }
    };
    if let Some(decimal) = plain {
        if is_negative && digits == 0 {
            out.push(b'-');
        }
        return decimal.write_text(out);
    }
    let text = digits.to_string();
    let (first, rest) = text.split_at(1);
    let point = if rest.is_empty() { "" } else { "." };
    let exponent = exponent + i32::try_from(rest.len()).unwrap_or(0);
    write(out, format_args!("{sign}{first}{point}{rest}E{exponent:+}"));
}

fn write(out: &mut Vec<u8>, text: std::fmt::Arguments<'_>) {
    out.write_fmt(text).expect("writing to memory is infallible");
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bytes are those of the reference implementation (pymongo's `bson`).
    #[test]
    fn a_decimal128_is_what_its_text_says() {
        for (text, hex, printed) in [
            ("0", "00000000000000000000000000004030", "0"),
            ("0.1", "01000000000000000000000000003e30", "0.1"),
            ("1", "01000000000000000000000000004030", "1"),
            ("-0.0", "00000000000000000000000000003eb0", "-0.0"),
            ("0.001234", "d2040000000000000000000000003430", "0.001234"),
            (
                "1234567890123456789012345678901234",
                "f2af967ed05c82de3297ff6fde3c4030",
                "1234567890123456789012345678901234",
            ),
            ("1E+3", "01000000000000000000000000004630", "1000"),
            ("1.5E+6111", "0f00000000000000000000000000fc5f", "1.5E+6111"),
            ("NaN", "0000000000000000000000000000007c", "NaN"),
            ("-Infinity", "000000000000000000000000000000f8", "-Infinity"),
        ] {
            let bytes = of_text(text).unwrap_or_else(|| panic!("{text}"));
            let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            assert_eq!(digits, hex, "{text}");
            let mut out = Vec::new();
            write_text(bytes, &mut out);
            assert_eq!(String::from_utf8_lossy(&out), printed);
        }
        for wrong in ["", ".", "1e", "x", "1..2", "1E9999", &"9".repeat(35)] {
            assert_eq!(of_text(wrong), None, "{wrong}");
        }
        let decimal = Decimal::parse("-12.50").expect("a decimal");
        assert_eq!(of_decimal(decimal), of_text("-12.50"));
    }
}

//! Takes a number or a time in text form, as a system prints it; returns the text that is the same for equal values
//! of all systems.

use std::borrow::Cow;
use std::io::Write as _;

/// Digits of a 64-bit number that every system prints.
pub(crate) const DOUBLE_DIGITS: usize = 15;

/// The normalized form as far as the text shows a number or a time: these lose the zeros at the end of their fraction,
/// and numbers of more than 15 digits with a fraction or an exponent are rounded to 15. Anything else, integers too,
/// is unchanged.
#[must_use]
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

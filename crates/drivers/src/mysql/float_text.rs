//! Takes a floating-point number; appends the text that these servers print for it.
//!
//! A column with fixed decimals prints all of them. Others print the shortest text that parses as the
//! same number (FLOAT: at most 6 significant digits, which is lossy), with an exponent outside
//! 1e-15 … 1e15. The rules were found by comparing both protocols (`tests/drivers/mysql/statements.rs`).

use std::io::Write as _;

/// The value of a column's `decimals` where they are not fixed.
const NOT_FIXED: u8 = 31;
/// Significant digits of a FLOAT.
const FLOAT_DIGITS: usize = 6;
/// Above this exponent of ten (and below its negative) the exponent is written.
const LARGEST_PLAIN_EXPONENT: i32 = 15;

pub(crate) fn append_double(text: &mut Vec<u8>, number: f64, decimals: u8) {
    if decimals < NOT_FIXED {
        append_fixed(text, number, decimals);
    } else {
        append_digits(text, &shortest(number));
    }
}

pub(crate) fn append_float(text: &mut Vec<u8>, number: f32, decimals: u8) {
    let number = f64::from(number);
    if decimals < NOT_FIXED {
        append_fixed(text, number, decimals);
    } else {
        append_digits(text, &format!("{number:.*e}", FLOAT_DIGITS - 1));
    }
}

/// The fewest digits that parse as the same number. Of two equally near texts of that length these
/// servers take the even one, Rust the upper one; that happens only to long texts.
fn shortest(number: f64) -> String {
    let text = format!("{number:e}");
    let digits = text.bytes().take_while(|&byte| byte != b'e').filter(u8::is_ascii_digit).count();
    if digits < 16 {
        return text;
    }
    let rounded = format!("{number:.*e}", digits - 1);
    if rounded.parse() == Ok(number) { rounded } else { text }
}

/// The shortest digits, filled with zeros, if they fit; otherwise the exact value, rounded.
fn append_fixed(text: &mut Vec<u8>, number: f64, decimals: u8) {
    let Some(shortest) = Digits::of(&shortest(number)) else {
        return text.push(b'0');
    };
    let fraction = shortest.digits.len().saturating_sub(shortest.whole());
    let decimals = usize::from(decimals);
    if shortest.point > 0 && fraction <= decimals {
        shortest.append_plain(text);
        if fraction == 0 && decimals > 0 {
            text.push(b'.');
        }
        text.extend(std::iter::repeat_n(b'0', decimals - fraction));
    } else {
        write!(text, "{number:.decimals$}").expect("memory takes any text");
    }
}

fn append_digits(text: &mut Vec<u8>, scientific: &str) {
    let Some(digits) = Digits::of(scientific) else {
        return text.push(b'0');
    };
    let is_plain = digits.point > -LARGEST_PLAIN_EXPONENT
        && (digits.point <= LARGEST_PLAIN_EXPONENT || digits.digits.len() > digits.whole());
    if is_plain {
        digits.append_plain(text);
    } else {
        let exponent = digits.point - 1;
        Digits { point: 1, ..digits }.append_plain(text);
        write!(text, "e{exponent}").expect("memory takes any text");
    }
}

/// A number as its significant digits, `point` of them before the decimal point (negative: zeros
/// follow the point first).
struct Digits {
    is_negative: bool,
    digits: Vec<u8>,
    point: i32,
}

impl Digits {
    /// Takes Rust's scientific form (`-1.25e-7`); `None` for infinity and NaN, for which the servers
    /// print 0.
    fn of(scientific: &str) -> Option<Self> {
        let (mantissa, exponent) = scientific.split_once('e')?;
        let exponent: i32 = exponent.parse().ok()?;
        let mut digits: Vec<u8> = mantissa.bytes().filter(u8::is_ascii_digit).collect();
        let significant = digits.iter().rposition(|&digit| digit != b'0').map_or(1, |at| at + 1);
        digits.truncate(significant);
        Some(Self { is_negative: mantissa.starts_with('-'), digits, point: exponent + 1 })
    }

    /// The number of digits before the point.
    fn whole(&self) -> usize {
        usize::try_from(self.point).unwrap_or(0)
    }

    fn append_plain(&self, text: &mut Vec<u8>) {
        let zeros = |count: usize| std::iter::repeat_n(b'0', count);
        if self.is_negative {
            text.push(b'-');
        }
        let (before, after) = self.digits.split_at(self.whole().min(self.digits.len()));
        text.extend_from_slice(before);
        text.extend(zeros(self.whole() - before.len()));
        if self.point <= 0 {
            text.extend_from_slice(b"0.");
            text.extend(zeros(self.point.unsigned_abs() as usize));
        } else if !after.is_empty() {
            text.push(b'.');
        }
        text.extend_from_slice(after);
    }
}

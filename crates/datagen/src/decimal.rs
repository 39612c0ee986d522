//! Takes numbers; returns them as decimals with a fixed number of digits after the point.
//!
//! Half a unit is rounded away from zero, as in SQL's numeric types.

use assay_values::Cell;

/// Powers of ten that are exact in 64 bits.
const MOST_DIGITS: u32 = 18;

/// The text with exactly `scale` digits after the point; `None` if it is not a number, or has more digits
/// than the type.
pub(crate) fn written(cell: Cell<'_>, precision: u32, scale: u32) -> Option<Vec<u8>> {
    let text = match cell {
        Cell::Int(number) => of_digits(number.unsigned_abs().to_string(), number < 0, 0, scale),
        Cell::Double(number) => of_double(number, scale)?,
        Cell::Text(text) => of_text(text, scale)?,
        Cell::Bool(_) | Cell::Null => return None,
    };
    let whole = text
        .iter()
        .take_while(|&&byte| byte != b'.')
        .filter(|byte| byte.is_ascii_digit());
    let whole = whole.skip_while(|&&digit| digit == b'0').count();
    (whole <= (precision - scale) as usize).then_some(text)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "the bounds are tested before"
)]
fn of_double(number: f64, scale: u32) -> Option<Vec<u8>> {
    if !number.is_finite() {
        return None;
    }
    if scale <= MOST_DIGITS {
        let scaled = (number * 10_i64.pow(scale) as f64).round();
        if scaled.abs() < 9.0e15 {
            let units = scaled as i64;
            let digits = units.unsigned_abs().to_string();
            return Some(of_digits(digits, units < 0, scale, scale));
        }
    }
    Some(format!("{number:.*}", scale as usize).into_bytes())
}

/// Takes digits of which `has` are after the point; returns them with `scale` after it.
fn of_digits(mut digits: String, is_negative: bool, has: u32, scale: u32) -> Vec<u8> {
    digits.extend(std::iter::repeat_n('0', (scale - has) as usize));
    let least = scale as usize + 1;
    let missing = least.saturating_sub(digits.len());
    digits.insert_str(0, &"0".repeat(missing));
    if scale > 0 {
        digits.insert(digits.len() - scale as usize, '.');
    }
    if is_negative {
        digits.insert(0, '-');
    }
    digits.into_bytes()
}

fn of_text(text: &[u8], scale: u32) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(text).ok()?.trim();
    let (digits, is_negative) = match text.strip_prefix('-') {
        Some(digits) => (digits, true),
        None => (text, false),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let is_plain = !whole.is_empty()
        && whole
            .bytes()
            .chain(fraction.bytes())
            .all(|byte| byte.is_ascii_digit());
    match u32::try_from(fraction.len()) {
        Ok(has) if is_plain && has <= scale => Some(of_digits(
            format!("{whole}{fraction}"),
            is_negative,
            has,
            scale,
        )),
        _ => of_double(text.parse().ok()?, scale),
    }
}

#[cfg(test)]
mod tests {
    use super::written;
    use assay_values::Cell;

    #[test]
    fn decimals_have_all_their_digits_and_round_half_away_from_zero() {
        for (cell, scale, expected) in [
            (Cell::Int(-5), 2, Some("-5.00")),
            (Cell::Int(7), 0, Some("7")),
            (Cell::Double(0.125), 2, Some("0.13")),
            (Cell::Double(-0.125), 2, Some("-0.13")),
            (Cell::Double(1234.5), 2, Some("1234.50")),
            (Cell::Double(0.001), 2, Some("0.00")),
            (Cell::Text(b"12.5"), 2, Some("12.50")),
            (Cell::Text(b"12.345"), 2, Some("12.35")),
            (Cell::Text(b"0.3"), 0, Some("0")),
            (Cell::Double(f64::NAN), 2, None),
            (Cell::Text(b"x"), 2, None),
            (Cell::Text(b""), 2, None),
            (Cell::Int(12_345_678), 2, None),
        ] {
            let found = written(cell, 9, scale);
            let found = found.map(|text| String::from_utf8(text).expect("digits"));
            assert_eq!(found.as_deref(), expected, "{cell:?}");
        }
    }
}

//! Takes a duration as CQL writes it (`1y2mo`, `-3d4h5m6s7ms8us9ns`); appends it as the protocol sends it:
//! months, days and nanoseconds.

use super::varint::write_vint;

/// None where the text is no duration, or more than the protocol can hold.
pub(super) fn write(text: &str, out: &mut Vec<u8>) -> Option<()> {
    let (is_negative, mut rest) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    if rest.is_empty() {
        return None;
    }
    let mut parts = [0_i64; 3];
    while !rest.is_empty() {
        let digits = rest.find(|letter: char| !letter.is_ascii_digit())?;
        let (number, behind) = rest.split_at(digits);
        let unit_bytes = behind
            .find(|letter: char| letter.is_ascii_digit())
            .unwrap_or(behind.len());
        let (unit, behind) = behind.split_at(unit_bytes);
        let (place, factor) = unit_of(unit)?;
        let amount = number.parse::<i64>().ok()?.checked_mul(factor)?;
        parts[place] = parts[place].checked_add(amount)?;
        rest = behind;
    }
    i32::try_from(parts[0]).ok()?;
    i32::try_from(parts[1]).ok()?;
    for part in parts {
        write_vint(if is_negative { -part } else { part }, out);
    }
    Some(())
}

/// Which of the three numbers a unit belongs to, and how many of its own it is.
fn unit_of(unit: &str) -> Option<(usize, i64)> {
    Some(match unit.to_lowercase().as_str() {
        "y" => (0, 12),
        "mo" => (0, 1),
        "w" => (1, 7),
        "d" => (1, 1),
        "h" => (2, 3_600_000_000_000),
        "m" => (2, 60_000_000_000),
        "s" => (2, 1_000_000_000),
        "ms" => (2, 1_000_000),
        "us" | "µs" => (2, 1000),
        "ns" => (2, 1),
        _ => return None,
    })
}

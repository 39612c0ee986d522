//! Takes a text and a seed; returns it with a seal that is computed from both, or whether it has the right one.

use super::Arguments;
use super::hashes::murmur2_of_bytes;
use crate::number::{Fault, number, plain};
use assay_values::{Random, Value};

/// Characters of a seal: 64 bits in digits of six.
const OF_A_SEAL: usize = 11;
const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

fn seal(text: &str, seed: i64) -> [u8; OF_A_SEAL] {
    let mut left = murmur2_of_bytes(text.as_bytes(), seed.cast_unsigned());
    let mut digits = [0; OF_A_SEAL];
    for digit in &mut digits {
        *digit = DIGITS[usize::try_from(left % 64).expect("below 64")];
        left /= 64;
    }
    digits
}

pub(super) fn sealed(x: Arguments<'_>, _: &mut Random, out: &mut Vec<u8>) -> Result<(), Fault> {
    let text = plain(&x[0]);
    let (length, seed) = (number(&x[1])?.int()?, number(&x[2])?.int()?);
    let kept = usize::try_from(length).ok();
    let kept = kept.and_then(|length| length.checked_sub(OF_A_SEAL));
    let cut = match (kept, text.is_ascii()) {
        (Some(kept), true) => text.get(..kept),
        (Some(kept), false) => {
            let end = text.char_indices().map(|(at, _)| at).nth(kept);
            let is_whole = text.chars().count() == kept;
            end.or(is_whole.then_some(text.len()))
                .map(|end| &text[..end])
        }
        (None, _) => None,
    };
    let cut = cut.ok_or_else(|| {
        Fault::of(format!(
            "sealed(x, {length}) expects a length of {OF_A_SEAL} or more, and a text of {} characters or more, found '{text}'",
            length.saturating_sub(11).max(0),
        ))
    })?;
    out.extend_from_slice(cut.as_bytes());
    out.extend_from_slice(&seal(cut, seed));
    Ok(())
}

pub(super) fn is_sealed(x: Arguments<'_>, _: &mut Random) -> Result<Value, Fault> {
    let text = plain(&x[0]);
    let seed = number(&x[1])?.int()?;
    let cut = text.len().checked_sub(OF_A_SEAL);
    let cut = cut.and_then(|at| text.split_at_checked(at));
    Ok(Value::Bool(cut.is_some_and(|(cut, found)| {
        found.as_bytes() == seal(cut, seed)
    })))
}

//! Takes an integer and a seed; returns a hash: pgbench's, and one into a range that may grow.

use crate::expression::function::Arguments;
use crate::expression::number::{Fault, number, plain};
use assay_values::{Random, Value};

type Answer = Result<Value, Fault>;

fn hashed(x: Arguments<'_>, hash: fn(i64, i64) -> i64) -> Answer {
    let (key, seed) = (number(&x[0])?.int()?, number(&x[1])?.int()?);
    Ok(Value::Int(hash(key, seed)))
}

pub(super) fn fnv1a(x: Arguments<'_>, _: &mut Random) -> Answer {
    hashed(x, fnv1a_whole)
}

pub(super) fn murmur2(x: Arguments<'_>, _: &mut Random) -> Answer {
    hashed(x, murmur2_whole)
}

pub(super) fn fnv1a_whole(key: i64, seed: i64) -> i64 {
    fnv1a_of(key.cast_unsigned(), seed.cast_unsigned()).cast_signed()
}

pub(super) fn murmur2_whole(key: i64, seed: i64) -> i64 {
    murmur2_of(key.cast_unsigned(), seed.cast_unsigned()).cast_signed()
}

pub(super) fn consistent(x: Arguments<'_>, _: &mut Random) -> Answer {
    let (key, count, seed) = (
        number(&x[0])?.int()?,
        number(&x[1])?.int()?,
        number(&x[2])?.int()?,
    );
    let chosen = consistent_whole(key, count, seed).ok_or_else(|| {
        Fault::of(format!(
            "hash_consistent expects 1 to 2147483648 numbers to choose from, found {count}"
        ))
    })?;
    Ok(Value::Int(chosen))
}

/// Jump consistent hash (Lamping and Veach, arXiv 1406.2294): the number changes where the count passes the next jump.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "the count is at most 2^31"
)]
pub(super) fn consistent_whole(key: i64, count: i64, seed: i64) -> Option<i64> {
    const MOST: i64 = 1 << 31;
    if !(1..=MOST).contains(&count) {
        return None;
    }
    let mut state = murmur2_of(key.cast_unsigned(), seed.cast_unsigned());
    let (mut chosen, mut next) = (0, 0);
    while next < count {
        chosen = next;
        state = state
            .wrapping_mul(2_862_933_555_777_941_757)
            .wrapping_add(1);
        let drawn = (state >> 33) + 1;
        next = ((chosen + 1) as f64 * (MOST as f64 / drawn as f64)) as i64;
    }
    Some(chosen)
}

/// FNV-1a with 64 bits over the bytes of the key, the lowest first; the seed changes the offset basis
/// (Fowler, Noll, Vo, Eastlake, «The FNV Non-Cryptographic Hash Algorithm», IETF draft).
fn fnv1a_of(key: u64, seed: u64) -> u64 {
    const BASIS: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0000_0100_0000_01b3;
    let bytes = key.to_le_bytes();
    bytes.into_iter().fold(BASIS ^ seed, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(PRIME)
    })
}

/// MurmurHash64A (Appleby, 2008).
pub(super) fn murmur2_of_bytes(bytes: &[u8], seed: u64) -> u64 {
    const MULTIPLIER: u64 = 0xc6a4_a793_5bd1_e995;
    let mixed = |word: u64| word ^ (word >> 47);
    let mut hash = seed ^ (bytes.len() as u64).wrapping_mul(MULTIPLIER);
    let (words, rest) = bytes.as_chunks::<8>();
    for word in words {
        let word =
            mixed(u64::from_le_bytes(*word).wrapping_mul(MULTIPLIER)).wrapping_mul(MULTIPLIER);
        hash = (hash ^ word).wrapping_mul(MULTIPLIER);
    }
    if !rest.is_empty() {
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        hash = (hash ^ u64::from_le_bytes(last)).wrapping_mul(MULTIPLIER);
    }
    mixed(mixed(hash).wrapping_mul(MULTIPLIER))
}

/// The same of an 8-byte key.
pub(super) fn murmur2_of(key: u64, seed: u64) -> u64 {
    const MULTIPLIER: u64 = 0xc6a4_a793_5bd1_e995;
    const LENGTH: u64 = 8;
    let mixed = |word: u64| word ^ (word >> 47);
    let key = mixed(key.wrapping_mul(MULTIPLIER)).wrapping_mul(MULTIPLIER);
    let hash = seed ^ LENGTH.wrapping_mul(MULTIPLIER);
    let hash = (hash ^ key).wrapping_mul(MULTIPLIER);
    mixed(mixed(hash).wrapping_mul(MULTIPLIER))
}

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

#[cfg(test)]
mod tests {
    use super::{murmur2_of, murmur2_of_bytes};

    #[test]
    fn the_hash_of_eight_bytes_is_that_of_their_number() {
        for (key, seed) in [(0, 0), (7, 3), (u64::MAX, 1)] {
            assert_eq!(
                murmur2_of(key, seed),
                murmur2_of_bytes(&key.to_le_bytes(), seed)
            );
        }
        let hashes = [b"".as_slice(), b"a", b"a\0", b"12345678a", b"12345678b"]
            .map(|bytes| murmur2_of_bytes(bytes, 5));
        for (place, hash) in hashes.iter().enumerate() {
            assert!(!hashes[place + 1..].contains(hash));
        }
    }
}

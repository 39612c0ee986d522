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
    let (key, count, seed) = (number(&x[0])?.int()?, number(&x[1])?.int()?, number(&x[2])?.int()?);
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
        state = state.wrapping_mul(2_862_933_555_777_941_757).wrapping_add(1);
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
    bytes.into_iter().fold(BASIS ^ seed, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(PRIME))
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
            end.or(is_whole.then_some(text.len())).map(|end| &text[..end])
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
    Ok(Value::Bool(cut.is_some_and(|(cut, found)| found.as_bytes() == seal(cut, seed))))
}

// Takes an index, a size and a seed; returns the index's position in a pseudorandom permutation, without
// computing the whole permutation.
//
// A Feistel network (Luby and Rackoff, SIAM Journal on Computing 17, 1988) permutes the smallest even
// power of two that holds all indexes; results outside the range are permuted again until they are inside
// (cycle walking: Black and Rogaway, "Ciphers with arbitrary finite domains", 2002), less than four times on
// average. pgbench promises a permutation but no particular one: this one differs from pgbench's.

/// Four rounds are enough for random round functions; these are hashes, and small sizes need more.
const ROUNDS: u64 = 6;

pub(super) fn permute(x: Arguments<'_>, _: &mut Random) -> Result<Value, Fault> {
    let (place, size) = (number(&x[0])?.int()?, number(&x[1])?.int()?);
    let seed = number(&x[2])?.int()?;
    let found = permute_whole(place, size, seed).map(Value::Int);
    found.ok_or_else(|| Fault::of(format!("permute expects a size above 0, found {size}")))
}

/// `None` if `size` is not above 0.
pub(super) fn permute_whole(place: i64, size: i64, seed: i64) -> Option<i64> {
    if size <= 0 {
        return None;
    }
    let place = place.rem_euclid(size).cast_unsigned();
    Some(permuted(place, size.cast_unsigned(), seed.cast_unsigned()).cast_signed())
}

/// `place` is below `size`, which is at most 2^63.
pub(super) fn permuted(place: u64, size: u64, seed: u64) -> u64 {
    let bits = u64::BITS - (size - 1).leading_zeros();
    let half = bits.div_ceil(2);
    let mask = (1_u64 << half) - 1;
    if half == 0 {
        return 0;
    }
    let mut at = place;
    loop {
        let (mut left, mut right) = (at >> half, at & mask);
        for round in 0..ROUNDS {
            let key = murmur2_of(round, seed);
            (left, right) = (right, left ^ (murmur2_of(right, key) & mask));
        }
        at = (left << half) | right;
        if at < size {
            return at;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{murmur2_of, murmur2_of_bytes, permuted};

    #[test]
    fn the_hash_of_eight_bytes_is_that_of_their_number() {
        for (key, seed) in [(0, 0), (7, 3), (u64::MAX, 1)] {
            assert_eq!(murmur2_of(key, seed), murmur2_of_bytes(&key.to_le_bytes(), seed));
        }
        let hashes = [b"".as_slice(), b"a", b"a\0", b"12345678a", b"12345678b"]
            .map(|bytes| murmur2_of_bytes(bytes, 5));
        for (place, hash) in hashes.iter().enumerate() {
            assert!(!hashes[place + 1..].contains(hash));
        }
    }

    #[test]
    fn every_index_is_taken_once() {
        for size in (1..70).chain([1000, 4096, 4097, 65_537]) {
            let mut taken = vec![false; usize::try_from(size).expect("small")];
            for place in 0..size {
                let at = usize::try_from(permuted(place, size, 42)).expect("small");
                assert!(!std::mem::replace(&mut taken[at], true), "{size}: {at}");
            }
        }
        assert!(permuted(1 << 62, 1 << 63, 7) < 1 << 63);
    }

    /// Over 30,000 seeds index 2 of 6 maps to each index about 5,000 times (standard deviation 65).
    #[test]
    fn every_index_is_equally_likely() {
        let mut counts = [0_u32; 6];
        for seed in 0..30_000 {
            counts[usize::try_from(permuted(2, 6, seed)).expect("small")] += 1;
        }
        assert!(counts.iter().all(|&count| count.abs_diff(5_000) < 390), "{counts:?}");
    }
}

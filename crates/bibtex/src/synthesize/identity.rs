//! Takes the number of an entry; returns its key, first author and year, and the number that determines its content.

use crate::chance::{Purpose, chance, stream};
use crate::synthesize::files::{in_first_file, place_of};
use crate::synthesize::words::person;

/// Entries outside the first file that share a key with an entry of the first file, per million; and those
/// that are identical to it.
const SHARED_KEYS: u32 = 116_000;
const SAME_ENTRIES: u32 = 80_000;

/// The parts of an entry's key.
pub(super) struct Identity {
    pub(super) author: String,
    pub(super) year: i64,
    pub(super) key: String,
}

/// The numbers of the entries whose key and whose content entry `index` has: nearly always `index`.
pub(super) fn numbers_of(seed: u64, index: u64) -> (u64, u64) {
    let mut random = stream(seed, Purpose::Sharing, index);
    let (file, place) = place_of(index);
    if file == 0 || !chance(&mut random, SHARED_KEYS) {
        return (index, index);
    }
    // Places differ within a file, so no key is used twice in it.
    let original = in_first_file(index, place);
    (
        original,
        if chance(&mut random, SAME_ENTRIES) {
            original
        } else {
            index
        },
    )
}

impl Identity {
    pub(super) fn of(seed: u64, index: u64) -> Self {
        let mut random = stream(seed, Purpose::Identity, index);
        let (author, family) = person(&mut random, seed);
        let year = match random.between(1, 1000) {
            1..=4 => random.between(1760, 1949),
            5..=38 => random.between(1950, 1979),
            39..=348 => random.between(1980, 1989),
            349..=682 => random.between(1990, 1999),
            683..=828 => random.between(2000, 2009),
            829..=968 => random.between(2010, 2019),
            _ => random.between(2020, 2022),
        };
        let mut rest = index;
        let mut letters = String::new();
        while rest > 0 || letters.len() < 3 {
            letters.push(char::from(b'A' + (rest % 26) as u8));
            rest /= 26;
        }
        Self {
            key: format!("{family}:{year}:{letters}"),
            author,
            year,
        }
    }
}

//! Takes the number of an entry; returns its key, first author, year and file, with the same distribution over files as in
//! the model, and the number that determines its content.

use crate::chance::{Purpose, chance, stream};
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
    (original, if chance(&mut random, SAME_ENTRIES) { original } else { index })
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
        Self { key: format!("{family}:{year}:{letters}"), author, year }
    }
}

/// The files, and how many of every [`BLOCK`] entries each contains, as in the model.
pub(super) const FILES: [(&str, u64); 13] = [
    ("journal.bib", 4839),
    ("letters.bib", 986),
    ("setting.bib", 899),
    ("books3.bib", 859),
    ("history.bib", 665),
    ("books2.bib", 531),
    ("books1.bib", 386),
    ("electronic.bib", 183),
    ("graphics.bib", 170),
    ("journals.bib", 68),
    ("serifs.bib", 67),
    ("technique.bib", 48),
    ("types.bib", 32),
];

/// The number of entries of the model.
const BLOCK: u64 = 9733;

/// Spreads consecutive entries over the files; coprime with [`BLOCK`].
const STRIDE: u64 = 5209;

/// The file of entry `index`, and its place among the entries of this file in its block.
pub(super) fn place_of(index: u64) -> (usize, u64) {
    let mut place = (index % BLOCK) * STRIDE % BLOCK;
    for (file, (_, share)) in FILES.iter().enumerate() {
        if place < *share {
            return (file, place);
        }
        place -= share;
    }
    unreachable!("the shares add up to a block");
}

/// The entry that has `place` in the first file, in the block of entry `index`.
pub(super) fn in_first_file(index: u64, place: u64) -> u64 {
    // STRIDE * INVERSE is 1 modulo BLOCK.
    const INVERSE: u64 = 1293;
    index - index % BLOCK + place * INVERSE % BLOCK
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_fills_every_file_with_its_share_and_can_be_found_again() {
        let mut counts = [0; FILES.len()];
        for index in BLOCK..2 * BLOCK {
            let (file, place) = place_of(index);
            counts[file] += 1;
            if file == 0 {
                assert_eq!(in_first_file(index, place), index);
            }
        }
        assert_eq!(counts, FILES.map(|(_, share)| share));
    }
}

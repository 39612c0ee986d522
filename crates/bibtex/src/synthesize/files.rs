//! Takes the number of an entry; returns its file, with the same distribution over files as in the model.

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

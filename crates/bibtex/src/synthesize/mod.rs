//! Takes a number and a seed; gives files of invented entries that resemble a real bibliography.
//!
//! For use where no real data can be had. Types, coverage and length of fields, forms of dates, labels
//! and the share of defects follow the 13 bibliographies of the TeX Users Group that come with TeX
//! Live (9,733 entries); not a word is theirs. Entry *i* is a function of the seed and *i*, so a larger
//! bibliography begins with the same entries as a smaller one.

mod defects;
mod entry;
mod identity;
mod layout;
mod library;
mod shapes;
mod streams;
mod words;

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::input::unreadable;
use crate::sql::WriteError;

/// The files and how many of every [`BLOCK`] entries each holds, as in the model.
const FILES: [(&str, u64); 13] = [
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

/// The entries of the model.
const BLOCK: u64 = 9733;

/// Spreads neighbours over the files; it has no factor in common with [`BLOCK`].
const STRIDE: u64 = 5209;

/// What was written.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct Synthesized {
    /// Paths of the files that have entries.
    pub files: Vec<String>,
    pub entries: u64,
    pub bytes: u64,
}

/// Writes `entries` entries into files in `folder`, which must exist; files of the same names are
/// replaced.
///
/// # Errors
/// Where a file cannot be written.
pub fn synthesize(folder: &Path, entries: u64, seed: u64) -> Result<Synthesized, WriteError> {
    let mut outputs: Vec<Option<Output>> = FILES.iter().map(|_| None).collect();
    let mut text = String::new();
    for index in 0..entries {
        let (file, _) = place_of(index);
        let output = match &mut outputs[file] {
            Some(output) => output,
            none => none.insert(Output::create(folder, file, seed)?),
        };
        text.clear();
        entry::write(&mut text, seed, index);
        output.write(&text)?;
    }
    let mut synthesized = Synthesized {
        files: Vec::new(),
        entries,
        bytes: 0,
    };
    for mut output in outputs.into_iter().flatten() {
        output.out.flush()?;
        synthesized.files.push(output.path);
        synthesized.bytes += output.bytes;
    }
    Ok(synthesized)
}

/// The file of entry `index`, and its place among the entries of this file in its block.
fn place_of(index: u64) -> (usize, u64) {
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
fn in_first_file(index: u64, place: u64) -> u64 {
    // STRIDE * INVERSE is 1 modulo BLOCK.
    const INVERSE: u64 = 1293;
    index - index % BLOCK + place * INVERSE % BLOCK
}

struct Output {
    path: String,
    out: BufWriter<File>,
    bytes: u64,
}

impl Output {
    fn create(folder: &Path, file: usize, seed: u64) -> Result<Self, WriteError> {
        let path = folder.join(FILES[file].0).to_string_lossy().into_owned();
        let created = File::create(&path).map_err(|error| unreadable(&path, &error))?;
        let mut output = Self {
            path,
            out: BufWriter::with_capacity(1 << 18, created),
            bytes: 0,
        };
        output.write(&library::prologue(seed))?;
        Ok(output)
    }

    fn write(&mut self, text: &str) -> Result<(), WriteError> {
        self.bytes += text.len() as u64;
        Ok(self.out.write_all(text.as_bytes())?)
    }
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

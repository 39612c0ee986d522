//! Takes a number and a seed; writes files of synthetic entries that resemble a real bibliography.
//!
//! For use if no real data are available. Types, coverage and length of fields, forms of dates, labels
//! and the share of defects follow the model, the 13 bibliographies of the TeX Users Group that come with TeX
//! Live (9,733 entries); none of their text is copied. Entry *i* is a function of the seed and *i*, so a larger
//! bibliography begins with the same entries as a smaller one.

mod entry;
mod identity;
mod shapes;
mod words;

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use identity::{FILES, place_of};
use serde::{Deserialize, Serialize};

use crate::input::unreadable;
use crate::sql::WriteError;

/// What was written.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct Synthesized {
    /// Paths of the files written.
    pub files: Vec<String>,
    /// Entries in all files together.
    pub entries: u64,
    /// Bytes of all files together.
    pub bytes: u64,
}

/// Writes `entries` entries to files in `folder`, which must exist; existing files of the same names
/// are replaced.
///
/// # Errors
/// If a file cannot be written.
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
    let mut synthesized = Synthesized { files: Vec::new(), entries, bytes: 0 };
    for mut output in outputs.into_iter().flatten() {
        output.out.flush()?;
        synthesized.files.push(output.path);
        synthesized.bytes += output.bytes;
    }
    Ok(synthesized)
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
        let mut output = Self { path, out: BufWriter::with_capacity(1 << 18, created), bytes: 0 };
        output.write(&words::prologue(seed))?;
        Ok(output)
    }

    fn write(&mut self, text: &str) -> Result<(), WriteError> {
        self.bytes += text.len() as u64;
        Ok(self.out.write_all(text.as_bytes())?)
    }
}

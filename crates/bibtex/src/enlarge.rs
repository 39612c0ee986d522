//! Takes files; writes the enlarged bibliography as one BibTeX file.

use std::io::Write;

use serde::{Deserialize, Serialize};

use crate::columns::Written;
use crate::input::Input;
use crate::item::Kind;
use crate::keys::Keys;
use crate::reader::Reader;
use crate::replicate::{Edited, Replicator};
use crate::source::SourceOptions;
use crate::sql::WriteError;

/// What was written as BibTeX.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct Replicated {
    /// Entries written, in all replicas.
    pub entries: u64,
    /// Entries left out because an earlier file has an entry with the same key.
    pub left_out: u64,
    /// Bytes of BibTeX written.
    pub bytes: u64,
}

/// Writes all replicas as one BibTeX file: definitions and preambles once, and every entry as in
/// the rows of a [`crate::BibSource`] with the same options, except entries whose key an
/// earlier file has.
///
/// # Errors
/// The errors of the reader, or if `out` cannot be written.
pub fn write_replicated(
    options: &SourceOptions,
    out: &mut dyn Write,
) -> Result<Replicated, WriteError> {
    let mut replicator = Replicator::new(options.replicas.as_ref())?;
    let mut written = Replicated {
        entries: 0,
        left_out: 0,
        bytes: 0,
    };
    let mut keys = Keys::default();
    let mut out = std::io::BufWriter::with_capacity(1 << 18, out);
    for replica in 1..=replicator.count {
        let mut reader = Reader::new(Input::files(&options.files), options.reading())?;
        while let Some(kind) = reader.advance()? {
            let text = match kind {
                Kind::Entry => {
                    let edited = replicator.edit(reader.written(), reader.file_name(), replica);
                    let Some(Edited {
                        written: Written { text, entry },
                        ..
                    }) = edited
                    else {
                        continue;
                    };
                    if keys.add(&text[entry.key.clone()], 0).is_some() {
                        written.left_out += 1;
                        continue;
                    }
                    written.entries += 1;
                    text
                }
                _ if replica == 1 => reader.text(),
                _ => continue,
            };
            out.write_all(text)?;
            out.write_all(b"\n\n")?;
            written.bytes += text.len() as u64 + 2;
        }
    }
    out.flush()?;
    Ok(written)
}

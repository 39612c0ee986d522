//! Takes `@String` definitions; returns the rows of `strtab`, each definition once.

use std::collections::HashSet;

use assay_values::Row;

use crate::entry::Entry;
use crate::tex::Cleaner;

/// The definitions in the order of their first occurrence. Definitions that differ only in white space are
/// one row; definitions of one key with different values are separate rows.
#[derive(Default)]
pub(crate) struct Strings {
    definitions: Vec<Definition>,
    /// 128-bit digests of the definitions with white space collapsed.
    seen: HashSet<u128>,
    scratch: Vec<u8>,
}

struct Definition {
    key: Box<[u8]>,
    value: Box<[u8]>,
    verbatim: Box<[u8]>,
}

impl Strings {
    /// Adds the definition with the bytes `text`, parsed as `entry`.
    pub(crate) fn add(&mut self, text: &[u8], entry: &Entry) {
        self.scratch.clear();
        Cleaner::new(&mut self.scratch).collapse(text);
        if !self.seen.insert(xxhash_rust::xxh3::xxh3_128(&self.scratch)) {
            return;
        }
        let field = &entry.fields[0];
        self.scratch.clear();
        let mut cleaner = Cleaner::new(&mut self.scratch);
        for piece in &entry.pieces[field.pieces.clone()] {
            cleaner.collapse(&text[piece.text.clone()]);
        }
        self.definitions.push(Definition {
            key: text[field.name.clone()].into(),
            value: self.scratch.as_slice().into(),
            verbatim: text.into(),
        });
    }

    pub(crate) fn len(&self) -> usize {
        self.definitions.len()
    }

    /// Fills `row` with key, value (NULL if empty) and the definition's text.
    pub(crate) fn write(&self, index: usize, row: &mut Row) {
        let definition = &self.definitions[index];
        row.clear();
        row.push_bytes(&definition.key);
        row.push_or_null(|out| {
            out.extend_from_slice(&definition.value);
            !definition.value.is_empty()
        });
        row.push_with(|out| {
            out.push(b'\n');
            out.extend_from_slice(&definition.verbatim);
        });
    }
}

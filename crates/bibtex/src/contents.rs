//! Counts what one file holds, item by item.

use crate::item::Kind;
use crate::problems::{Flaw, Place};

/// What one file turned out to hold.
#[derive(Clone, Debug, Default)]
pub(crate) struct Contents {
    /// Index into the list of inputs.
    pub(crate) file: usize,
    pub(crate) bytes: u64,
    pub(crate) entries: u64,
    pub(crate) strings: u64,
    pub(crate) preambles: u64,
    pub(crate) digest: u128,
}

impl Contents {
    /// One more item of this kind.
    pub(crate) fn count(&mut self, kind: Kind) {
        match kind {
            Kind::Entry => self.entries += 1,
            Kind::String => self.strings += 1,
            Kind::Preamble => self.preambles += 1,
        }
    }

    /// Whether the file held any item at all.
    pub(crate) fn is_empty(&self) -> bool {
        self.entries + self.strings + self.preambles == 0
    }
}

/// What is wrong with a file of so many bytes in which nothing was found.
pub(crate) fn nothing_found(bytes: u64) -> Flaw {
    Flaw {
        place: Place::default(),
        message: match bytes {
            0 => "expected BibTeX entries, found an empty file".to_owned(),
            _ => format!("expected BibTeX entries, found none in {bytes} bytes of other text"),
        },
        hint: Some("an entry begins with `@type{key,`".to_owned()),
    }
}

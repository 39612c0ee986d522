//! Takes the items of one file; counts them by kind.

use crate::item::Kind;
use crate::problems::{Flaw, Place};

/// The numbers of items found in one file.
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
    /// Counts an item of this kind.
    pub(crate) fn count(&mut self, kind: Kind) {
        match kind {
            Kind::Entry => self.entries += 1,
            Kind::String => self.strings += 1,
            Kind::Preamble => self.preambles += 1,
        }
    }

    /// Whether the file has no items.
    pub(crate) fn is_empty(&self) -> bool {
        self.entries + self.strings + self.preambles == 0
    }
}

/// The error for a file of `bytes` bytes without items.
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

//! Says what an item of a BibTeX file is, and how long it may be.

/// The longest entry that is read: whatever is longer is rather a brace that was never closed.
pub const MAX_ENTRY_BYTES: usize = 8 * 1024 * 1024;

/// The longest word after an `@` that is taken for the type of an entry.
pub(crate) const MAX_TYPE_BYTES: usize = 100;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Entry,
    String,
    Preamble,
}

/// What is known of the item under way; offsets count from its `@`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Item {
    pub(crate) kind: Kind,
    /// The type of the entry: `article` in `@article{`.
    pub(crate) word: (usize, usize),
    /// The opening brace or parenthesis.
    pub(crate) open: usize,
    /// The whole item, closing delimiter included.
    pub(crate) length: usize,
}

//! Defines an item of a BibTeX file, and its maximum length.

/// The longest entry that is read: a longer one probably has an unclosed brace.
pub const MAX_ENTRY_BYTES: usize = 8 * 1024 * 1024;

/// The longest word after an `@` that is taken for the type of an entry.
pub(crate) const MAX_TYPE_BYTES: usize = 100;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Entry,
    String,
    Preamble,
}

/// The current item; offsets count from its `@`.
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

//! Defines an item of a BibTeX file, its maximum length, and the classes of its bytes with their names in messages.

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

pub(crate) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | 0x0B | 0x0C)
}

pub(crate) fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'+' | b':' | b'*')
}

/// The name of a byte in messages.
pub(crate) fn describe(byte: Option<u8>) -> String {
    match byte {
        None => "the end of the file".to_owned(),
        Some(b'\n' | b'\r') => "the end of the line".to_owned(),
        Some(byte) if byte.is_ascii_graphic() => format!("`{}`", char::from(byte)),
        Some(byte) => format!("the byte 0x{byte:02X}"),
    }
}

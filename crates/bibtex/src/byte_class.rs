//! Takes one byte; returns its class in BibTeX, and its name in messages.

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

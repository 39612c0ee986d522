//! Takes text; appends it with special bytes escaped by a backslash.

/// `letter` returns what follows the backslash for a byte that must be escaped. All such bytes are
/// ASCII, which is never part of a longer character in UTF-8.
pub(super) fn append(text: &[u8], out: &mut Vec<u8>, letter: impl Fn(u8) -> Option<u8>) {
    out.reserve(text.len() + 16);
    let mut copied = 0;
    for (at, &byte) in text.iter().enumerate() {
        if let Some(letter) = letter(byte) {
            out.extend_from_slice(&text[copied..at]);
            out.extend_from_slice(&[b'\\', letter]);
            copied = at + 1;
        }
    }
    out.extend_from_slice(&text[copied..]);
}

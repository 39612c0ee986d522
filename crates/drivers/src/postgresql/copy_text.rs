//! Takes rows; appends lines of COPY's text format.
//!
//! Cells are separated by a tab, rows by a line feed, NULL is `\N`, and the four special bytes are
//! escaped (PostgreSQL manual, COPY, "Text Format").

use assay_values::{Cell, Row};

/// Appends one line. `is_bytes`: for each column, whether it holds bytes, which are written in
/// hexadecimal; false for columns beyond its end.
pub(super) fn row(row: &Row, is_bytes: &[bool], out: &mut Vec<u8>) {
    for (index, cell) in row.cells().enumerate() {
        if index > 0 {
            out.push(b'\t');
        }
        match cell {
            Cell::Text(bytes) if is_bytes.get(index) == Some(&true) => hexadecimal(bytes, out),
            Cell::Text(text) => escape(text, out),
            Cell::Null => out.extend_from_slice(b"\\N"),
            number => number.write_text(out),
        }
    }
    out.push(b'\n');
}

/// Appends bytes as `\x…`; that backslash is escaped too.
fn hexadecimal(bytes: &[u8], out: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    out.extend_from_slice(br"\\x");
    for byte in bytes {
        out.push(DIGITS[usize::from(byte >> 4)]);
        out.push(DIGITS[usize::from(byte & 15)]);
    }
}

/// What follows the backslash for each byte; 0 for bytes that are not escaped.
const ESCAPES: [u8; 256] = {
    let mut table = [0; 256];
    table[b'\\' as usize] = b'\\';
    table[b'\t' as usize] = b't';
    table[b'\n' as usize] = b'n';
    table[b'\r' as usize] = b'r';
    table
};

fn escape(text: &[u8], out: &mut Vec<u8>) {
    let mut copied = 0;
    for (at, &byte) in text.iter().enumerate() {
        let escaped = ESCAPES[usize::from(byte)];
        if escaped != 0 {
            out.extend_from_slice(&text[copied..at]);
            out.extend_from_slice(&[b'\\', escaped]);
            copied = at + 1;
        }
    }
    out.extend_from_slice(&text[copied..]);
}

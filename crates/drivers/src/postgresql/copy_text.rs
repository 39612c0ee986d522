//! Takes rows; gives lines of COPY's text format.
//!
//! Cells are parted by a tab, rows by a line feed, NULL is `\N`, and the four bytes that would be
//! mistaken are escaped (PostgreSQL manual, COPY, "Text Format").

use assay_values::{Cell, Row};

/// Appends one line.
pub(super) fn row(row: &Row, out: &mut Vec<u8>) {
    for (index, cell) in row.cells().enumerate() {
        if index > 0 {
            out.push(b'\t');
        }
        match cell {
            Cell::Text(text) => escape(text, out),
            Cell::Null => out.extend_from_slice(b"\\N"),
            number => number.write_text(out),
        }
    }
    out.push(b'\n');
}

/// What stands behind the backslash for each byte; 0 for those that stand for themselves.
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

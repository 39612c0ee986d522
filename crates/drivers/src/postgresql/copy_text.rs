//! Takes rows; appends lines of COPY's text format.
//!
//! Cells are separated by a tab, rows by a line feed, NULL is `\N`, and the four special bytes are
//! escaped (PostgreSQL manual, COPY, "Text Format").

use assay_values::{Cell, ColumnType, Row, braced_of_json};

/// Appends one line. Of the columns' `types`, bytes are written in hexadecimal, and arrays in braces; an error names
/// the column whose type cannot hold its value.
pub(super) fn row(row: &Row, types: &[ColumnType], out: &mut Vec<u8>) -> Result<(), String> {
    for (index, cell) in row.cells().enumerate() {
        if index > 0 {
            out.push(b'\t');
        }
        match (cell, types.get(index)) {
            (Cell::Null, _) => out.extend_from_slice(b"\\N"),
            (Cell::Text(bytes), Some(ColumnType::Bytes)) => hexadecimal(bytes, out),
            (Cell::Text(text), Some(&ColumnType::Array(of))) => {
                let array = braced_of_json(text, of).ok_or_else(|| {
                    let (number, text) = (index + 1, String::from_utf8_lossy(text));
                    format!(
                        "column {number}: expected {}[], found {text}",
                        of.column_type()
                    )
                })?;
                escape(&array, out);
            }
            (Cell::Text(text), _) => escape(text, out),
            (number, _) => number.write_text(out),
        }
    }
    out.push(b'\n');
    Ok(())
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

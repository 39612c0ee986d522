//! Takes rows; appends CopyData messages to the send buffer.
//!
//! Rows share a message until the send buffer holds 64 KiB; the message's length is updated after
//! every row, so that the buffer can be sent at any time.

use assay_values::{Cell, ColumnType, Row, braced_of_json, write_hex};

use crate::postgresql::client::copy_binary;
use crate::postgresql::client::copy_binary::BinaryRow;
use crate::{ErrorClass, Result, SystemError};

/// Below this size the caller does not send, so an open message can still be extended.
const SEND_AT_BYTES: usize = 64 * 1024;

/// A bulk load in which the server accepts rows.
pub(crate) struct CopyData {
    form: Form,
    /// The open message at the end of the send buffer: where it begins, and where it ended after the
    /// last row; a buffer of another length has been sent.
    open: Option<(usize, usize)>,
    rows: u64,
}

enum Form {
    /// Of columns of these types; empty: none is of a type that COPY spells otherwise.
    Text(Box<[ColumnType]>),
    Binary(BinaryRow),
}

impl CopyData {
    pub fn text(types: &[ColumnType]) -> Self {
        Self::of(Form::Text(types.into()))
    }

    /// # Panics
    /// If a type has no binary form: [`copy_binary::statement`] must have accepted them.
    pub fn binary(types: &[ColumnType]) -> Self {
        Self::of(Form::Binary(BinaryRow::new(types)))
    }

    fn of(form: Form) -> Self {
        Self {
            form,
            open: None,
            rows: 0,
        }
    }

    /// # Errors
    /// Where a column's type cannot hold its value; then nothing of the row is in `out`.
    #[inline]
    pub fn row(&mut self, row: &Row, out: &mut Vec<u8>) -> Result<()> {
        let start = match self.open {
            Some((start, end)) if end == out.len() && end < SEND_AT_BYTES => start,
            _ => {
                let start = out.len();
                out.extend_from_slice(b"d\0\0\0\0");
                start
            }
        };
        let (before, mut header_bytes) = (out.len(), 0);
        let written = match &self.form {
            Form::Text(types) => text_row(row, types, out),
            Form::Binary(form) => {
                if self.rows == 0 {
                    out.extend_from_slice(copy_binary::HEADER);
                }
                header_bytes = out.len() - before;
                form.write(row, out)
            }
        };
        let written = written.map_err(|misfit| {
            // The header remains: it is sent once.
            out.truncate(before + header_bytes);
            let message = format!("row {}: {misfit}", self.rows + 1);
            SystemError::new(ErrorClass::Data, "", message)
        });
        self.rows += 1;
        let length = u32::try_from(out.len() - start - 1).expect("rows are far below 4 GiB");
        out[start + 1..start + 5].copy_from_slice(&length.to_be_bytes());
        self.open = Some((start, out.len()));
        written
    }

    pub fn end(self, out: &mut Vec<u8>) {
        if matches!(self.form, Form::Binary(_)) {
            let header: &[u8] = if self.rows == 0 {
                copy_binary::HEADER
            } else {
                b""
            };
            let length = 4 + header.len() + copy_binary::TRAILER.len();
            out.push(b'd');
            out.extend_from_slice(&u32::try_from(length).expect("25 at most").to_be_bytes());
            out.extend_from_slice(header);
            out.extend_from_slice(copy_binary::TRAILER);
        }
        out.extend_from_slice(b"c\0\0\0\x04");
    }
}

/// Appends one line. Of the columns' `types`, bytes are written in hexadecimal, and arrays in braces; an error names
/// the column whose type cannot hold its value.
fn text_row(row: &Row, types: &[ColumnType], out: &mut Vec<u8>) -> Result<(), String> {
    for (index, cell) in row.cells().enumerate() {
        if index > 0 {
            out.push(b'\t');
        }
        match (cell, types.get(index)) {
            (Cell::Null, _) => out.extend_from_slice(b"\\N"),
            (Cell::Text(bytes), Some(ColumnType::Bytes)) => {
                // The backslash is escaped too.
                out.extend_from_slice(br"\\x");
                write_hex(bytes, out);
            }
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

#[cfg(test)]
mod tests {
    use super::*;

    const WRITTEN: &str = "a row of cells that fit";

    fn row(cells: &[Option<&[u8]>]) -> Row {
        let mut row = Row::new();
        for cell in cells {
            match cell {
                Some(text) => row.push_bytes(text),
                None => row.push_null(),
            }
        }
        row
    }

    #[test]
    fn rows_share_a_message_and_special_bytes_are_escaped() {
        let (mut copy, mut out) = (CopyData::text(&[]), Vec::new());
        copy.row(&row(&[Some(b"a\tb\\"), None]), &mut out)
            .expect(WRITTEN);
        assert_eq!(out, b"d\0\0\0\x0ea\\tb\\\\\t\\N\n");
        copy.row(&row(&[Some(b""), Some(b"\r\n\xff")]), &mut out)
            .expect(WRITTEN);
        assert_eq!(out, b"d\0\0\0\x15a\\tb\\\\\t\\N\n\t\\r\\n\xff\n");
    }

    #[test]
    fn a_buffer_that_was_sent_or_is_full_begins_a_new_message() {
        let (mut copy, mut out) = (CopyData::text(&[]), Vec::new());
        copy.row(&row(&[Some(b"a")]), &mut out).expect(WRITTEN);
        out.clear();
        copy.row(&row(&[Some(b"b")]), &mut out).expect(WRITTEN);
        assert_eq!(out, b"d\0\0\0\x06b\n");
        copy.row(&row(&[Some(&[b'x'; SEND_AT_BYTES])]), &mut out)
            .expect(WRITTEN);
        let full = out.len();
        copy.row(&row(&[Some(b"c")]), &mut out).expect(WRITTEN);
        assert_eq!(out[full..], *b"d\0\0\0\x06c\n");
    }

    #[test]
    fn binary_rows_begin_with_a_header_and_end_with_a_trailer() {
        let types = [ColumnType::Int, ColumnType::Char(2)];
        let (mut copy, mut out) = (CopyData::binary(&types), Vec::new());
        let mut cells = Row::new();
        cells.push_int(258);
        cells.push_bytes(b"ab");
        copy.row(&cells, &mut out).expect(WRITTEN);
        cells.clear();
        cells.push_null();
        cells.push_null();
        copy.row(&cells, &mut out).expect(WRITTEN);
        copy.end(&mut out);
        let rows =
            b"\0\x02\0\0\0\x04\0\0\x01\x02\0\0\0\x02ab\0\x02\xff\xff\xff\xff\xff\xff\xff\xff";
        let length = 4 + 19 + u8::try_from(rows.len()).expect("short");
        let mut expected = vec![b'd', 0, 0, 0, length];
        expected.extend_from_slice(b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0");
        expected.extend_from_slice(rows);
        expected.extend_from_slice(b"d\0\0\0\x06\xff\xffc\0\0\0\x04");
        assert_eq!(out, expected);
        let mut out = Vec::new();
        CopyData::binary(&types).end(&mut out);
        assert_eq!(out[..5], *b"d\0\0\0\x19", "an empty load has both as well");
    }

    #[test]
    fn a_row_that_does_not_fit_is_reported_by_number_and_not_written() {
        let (mut copy, mut out) = (CopyData::binary(&[ColumnType::SmallInt]), Vec::new());
        let mut row_of = |number, out: &mut Vec<u8>| {
            let mut cells = Row::new();
            cells.push_int(number);
            copy.row(&cells, out)
        };
        row_of(1, &mut out).expect(WRITTEN);
        let sent = out.clone();
        let error = row_of(40_000, &mut out).expect_err("it has more than 16 bits");
        assert_eq!(
            error.message,
            "row 2: column 1: expected smallint, found 40000"
        );
        assert_eq!(out, sent);
    }
}

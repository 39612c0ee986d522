//! Takes rows; gives CopyData messages in COPY's text format, written straight into the send buffer.
//!
//! Cells are parted by a tab, rows by a line feed, NULL is `\N`, and the four bytes that would be
//! mistaken are escaped (PostgreSQL manual, COPY, "Text Format"). Rows share a message until the send
//! buffer holds 64 KiB; the message's length is kept right after every row, so that the buffer can be
//! sent at any time.

use assay_datagen::Row;

/// Below this the caller does not send, so that an open message is still ours to patch.
const SEND_AT_BYTES: usize = 64 * 1024;

/// The CopyData message that is open at the end of the send buffer.
#[derive(Default)]
pub(super) struct CopyText {
    /// Where it begins, and where it ended when we last looked: a buffer of another length was sent.
    open: Option<(usize, usize)>,
}

impl CopyText {
    pub fn row(&mut self, row: &Row, out: &mut Vec<u8>) {
        let start = match self.open {
            Some((start, end)) if end == out.len() && end < SEND_AT_BYTES => start,
            _ => {
                let start = out.len();
                out.extend_from_slice(b"d\0\0\0\0");
                start
            }
        };
        for (index, cell) in row.cells().enumerate() {
            if index > 0 {
                out.push(b'\t');
            }
            match cell {
                Some(text) => escape(text, out),
                None => out.extend_from_slice(b"\\N"),
            }
        }
        out.push(b'\n');
        let length =
            u32::try_from(out.len() - start - 1).expect("readers bound a row far below 4 GiB");
        out[start + 1..start + 5].copy_from_slice(&length.to_be_bytes());
        self.open = Some((start, out.len()));
    }
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

#[cfg(test)]
mod tests {
    use super::*;

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
    fn rows_share_a_message_and_mistakable_bytes_are_escaped() {
        let (mut copy, mut out) = (CopyText::default(), Vec::new());
        copy.row(&row(&[Some(b"a\tb\\"), None]), &mut out);
        assert_eq!(out, b"d\0\0\0\x0ea\\tb\\\\\t\\N\n");
        copy.row(&row(&[Some(b""), Some(b"\r\n\xff")]), &mut out);
        assert_eq!(out, b"d\0\0\0\x15a\\tb\\\\\t\\N\n\t\\r\\n\xff\n");
    }

    #[test]
    fn a_buffer_that_was_sent_or_is_full_begins_a_new_message() {
        let (mut copy, mut out) = (CopyText::default(), Vec::new());
        copy.row(&row(&[Some(b"a")]), &mut out);
        out.clear();
        copy.row(&row(&[Some(b"b")]), &mut out);
        assert_eq!(out, b"d\0\0\0\x06b\n");
        copy.row(&row(&[Some(&[b'x'; SEND_AT_BYTES])]), &mut out);
        let full = out.len();
        copy.row(&row(&[Some(b"c")]), &mut out);
        assert_eq!(out[full..], *b"d\0\0\0\x06c\n");
    }
}

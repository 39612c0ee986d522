//! Takes the bytes of a bulk load, in pieces of any length; returns the number of rows: lines of text, or tuples in the
//! binary form of `COPY`.

/// Counts rows that are lines: tab between values, a backslash before a newline that belongs to a value.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    rows: u64,
    /// Length and first bytes of the incomplete line.
    length: usize,
    beginning: [u8; 2],
    /// The incomplete line ends in an odd number of backslashes: the next byte is escaped.
    is_escaped: bool,
}

impl Lines {
    pub(crate) fn take(&mut self, mut bytes: &[u8]) {
        while let Some(end) = memchr::memchr(b'\n', bytes) {
            self.extend(&bytes[..end]);
            if self.is_escaped {
                self.extend(b"\n");
            } else {
                self.end_line();
            }
            bytes = &bytes[end + 1..];
        }
        self.extend(bytes);
    }

    /// The number of rows; the last line needs no newline.
    pub(crate) fn finish(mut self) -> u64 {
        if self.length > 0 {
            self.end_line();
        }
        self.rows
    }

    fn end_line(&mut self) {
        // `\.` marks the end of the rows.
        let is_mark = self.length == 2 && self.beginning == *br"\.";
        self.rows += u64::from(!is_mark);
        self.length = 0;
        self.is_escaped = false;
    }

    fn extend(&mut self, bytes: &[u8]) {
        for (at, &byte) in bytes.iter().enumerate().take(2) {
            if let Some(place) = self.beginning.get_mut(self.length + at) {
                *place = byte;
            }
        }
        self.length += bytes.len();
        let backslashes = bytes.iter().rev().take_while(|&&byte| byte == b'\\').count();
        let goes_on = backslashes == bytes.len() && self.is_escaped;
        self.is_escaped = (backslashes + usize::from(goes_on)) % 2 == 1;
    }
}

/// Counts rows in the binary form of `COPY`: a header, then for each row the number of its values and
/// before each value its length; −1 ends the rows (PostgreSQL manual, COPY, "Binary Format").
#[derive(Debug)]
pub(crate) struct Tuples {
    rows: u64,
    /// Bytes still missing of the header, of a value or of its length.
    left: usize,
    reading: Reading,
    /// The bytes read so far of an incomplete number.
    number: Vec<u8>,
    /// Values still missing of the current row.
    values: u16,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reading {
    Header,
    HeaderExtension,
    Count,
    Length,
    Skipped(After),
    End,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum After {
    HeaderExtension,
    Value,
}

impl Default for Tuples {
    fn default() -> Self {
        /// The signature and the flags.
        const HEADER_BYTES: usize = 11 + 4;
        Self {
            rows: 0,
            left: HEADER_BYTES,
            reading: Reading::Header,
            number: Vec::new(),
            values: 0,
        }
    }
}

impl Tuples {
    pub(crate) fn take(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() && self.reading != Reading::End {
            let (part, rest) = bytes.split_at(self.left.min(bytes.len()));
            bytes = rest;
            self.left -= part.len();
            if matches!(self.reading, Reading::Count | Reading::Length | Reading::HeaderExtension) {
                self.number.extend_from_slice(part);
            }
            // A value of length 0 ends at once.
            while self.left == 0 && self.reading != Reading::End {
                self.step();
            }
        }
    }

    pub(crate) fn finish(self) -> u64 {
        self.rows
    }

    fn step(&mut self) {
        let number = self.number.iter().fold(0_u32, |number, &byte| number << 8 | u32::from(byte));
        self.number.clear();
        let next = match self.reading {
            Reading::Header => (Reading::HeaderExtension, 4),
            Reading::HeaderExtension => (Reading::Skipped(After::HeaderExtension), number as usize),
            Reading::Count => {
                let Some(count) = u16::try_from(number).ok().filter(|&count| count != u16::MAX)
                else {
                    self.reading = Reading::End;
                    return;
                };
                self.values = count;
                self.rows += 1;
                self.next_value()
            }
            Reading::Length => {
                // −1 is NULL, which has no bytes.
                let length = if number == u32::MAX { 0 } else { number };
                (Reading::Skipped(After::Value), length as usize)
            }
            Reading::Skipped(After::HeaderExtension) => (Reading::Count, 2),
            Reading::Skipped(After::Value) => {
                self.values -= 1;
                self.next_value()
            }
            Reading::End => return,
        };
        (self.reading, self.left) = next;
    }

    fn next_value(&self) -> (Reading, usize) {
        if self.values > 0 { (Reading::Length, 4) } else { (Reading::Count, 2) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_counted_however_they_are_cut() {
        let bytes = b"1\ta\n2\tb\\\nc\n\n3\t\\\\\n\\.\n4";
        for cut in 1..=bytes.len() {
            let mut lines = Lines::default();
            bytes.chunks(cut).for_each(|part| lines.take(part));
            assert_eq!(lines.finish(), 5, "cut every {cut} bytes");
        }
        assert_eq!(Lines::default().finish(), 0);
    }

    #[test]
    fn tuples_are_counted_however_they_are_cut() {
        let mut bytes = b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\x02xx".to_vec();
        bytes.extend_from_slice(b"\0\x02\0\0\0\x04abcd\xff\xff\xff\xff");
        bytes.extend_from_slice(b"\0\0");
        bytes.extend_from_slice(b"\0\x01\0\0\0\0");
        bytes.extend_from_slice(b"\xff\xff");
        for cut in 1..=bytes.len() {
            let mut tuples = Tuples::default();
            bytes.chunks(cut).for_each(|part| tuples.take(part));
            assert_eq!(tuples.finish(), 3, "cut every {cut} bytes");
        }
    }
}

//! Takes the bytes of a bulk load in text form, in pieces of any length; returns the number of rows.

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
        let backslashes = bytes
            .iter()
            .rev()
            .take_while(|&&byte| byte == b'\\')
            .count();
        let goes_on = backslashes == bytes.len() && self.is_escaped;
        self.is_escaped = (backslashes + usize::from(goes_on)) % 2 == 1;
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
}

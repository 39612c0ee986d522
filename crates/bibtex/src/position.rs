//! Takes the bytes of a file in order; returns line and column of the next byte.

use memchr::{memchr_iter, memrchr};

use crate::byte_class::is_space;
use crate::problems::Place;

/// A position between two bytes, and what precedes it in its line.
pub(crate) struct Position {
    lines: u64,
    /// The width of the text since the last line feed.
    columns: u64,
    is_blank_so_far: bool,
    previous: u8,
    /// Whether columns count characters instead of bytes: for a single-byte encoding that was
    /// decoded.
    counts_characters: bool,
}

impl Position {
    /// The beginning of a file.
    pub(crate) fn new(counts_characters: bool) -> Self {
        Self {
            lines: 0,
            columns: 0,
            is_blank_so_far: true,
            previous: b'\n',
            counts_characters,
        }
    }

    /// Whether this is the beginning of the file.
    pub(crate) fn is_start(&self) -> bool {
        self.lines == 0 && self.columns == 0
    }

    /// Whether only white space is between the last line feed and this position.
    pub(crate) fn is_blank_so_far(&self) -> bool {
        self.is_blank_so_far
    }

    /// The previous byte; a line feed at the beginning.
    pub(crate) fn previous(&self) -> u8 {
        self.previous
    }

    /// The place after `bytes`, which come next.
    pub(crate) fn place_behind(&self, bytes: &[u8]) -> Place {
        let lines = self.lines + memchr_iter(b'\n', bytes).count() as u64;
        let columns = match memrchr(b'\n', bytes) {
            Some(end) => self.width(&bytes[end + 1..]),
            None => self.columns + self.width(bytes),
        };
        Place {
            line: lines + 1,
            column: columns + 1,
        }
    }

    /// Advances over `bytes`, which come next.
    pub(crate) fn pass(&mut self, bytes: &[u8]) {
        let Some(&last) = bytes.last() else { return };
        let Place { line, column } = self.place_behind(bytes);
        self.lines = line - 1;
        self.columns = column - 1;
        let line_start = memrchr(b'\n', bytes).map_or(0, |end| end + 1);
        let was_blank = self.is_blank_so_far || line_start > 0;
        self.is_blank_so_far = was_blank && bytes[line_start..].iter().all(|&byte| is_space(byte));
        self.previous = last;
    }

    fn width(&self, text: &[u8]) -> u64 {
        if self.counts_characters {
            text.iter().filter(|&&byte| byte & 0xC0 != 0x80).count() as u64
        } else {
            text.len() as u64
        }
    }
}

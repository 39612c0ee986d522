//! Takes the bytes of a file as they pass; gives line and column of what comes next.

use memchr::{memchr_iter, memrchr};

use crate::byte_class::is_space;
use crate::problems::Place;

/// A place between two bytes, and what the line before it looks like.
pub(crate) struct Position {
    lines: u64,
    /// Since the last line feed.
    columns: u64,
    is_blank_so_far: bool,
    previous: u8,
    /// Columns are characters instead of bytes: for a file that has one byte a character and was
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

    /// Whether no byte has passed yet.
    pub(crate) fn is_start(&self) -> bool {
        self.lines == 0 && self.columns == 0
    }

    /// Whether nothing but white space stands between the last line feed and here.
    pub(crate) fn is_blank_so_far(&self) -> bool {
        self.is_blank_so_far
    }

    /// The byte before; a line feed at the beginning.
    pub(crate) fn previous(&self) -> u8 {
        self.previous
    }

    /// The place behind `bytes`, which come next.
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

    /// Moves behind `bytes`, which come next.
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

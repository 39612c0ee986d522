//! Takes a window over a BibTeX file; advances over its bytes, and tracks the place of each and how much was
//! left out.

use std::io;

use memchr::{memchr, memchr_iter, memchr2, memrchr};

use crate::heads::{HEAD_BYTES, count_entries, next_head};
use crate::input::Chunks;
use crate::item::{MAX_TYPE_BYTES, is_space};
use crate::problems::{Flaw, Place, Skipped};

/// Why reading cannot continue here.
pub(crate) enum Failure {
    /// One item is bad; reading can continue after it.
    Item(Flaw),
    /// The rest of the file cannot be read.
    File(Flaw),
}

pub(crate) struct Cursor {
    chunks: Chunks,
    /// Where the window begins.
    position: Position,
    /// A NUL byte in the text between two items, reported when the end of the text is found.
    nul: Option<Flaw>,
    /// How much has been left out so far.
    pub(crate) skipped: Skipped,
}

impl Cursor {
    pub(crate) fn new(chunks: Chunks, counts_characters: bool) -> Self {
        Self {
            chunks,
            position: Position::new(counts_characters),
            nul: None,
            skipped: Skipped::default(),
        }
    }

    pub(crate) fn chunks(&self) -> &Chunks {
        &self.chunks
    }

    /// The bytes read and not yet consumed.
    pub(crate) fn window(&self) -> &[u8] {
        self.chunks.window()
    }

    pub(crate) fn position(&self) -> &Position {
        &self.position
    }

    /// The first NUL byte of the text consumed since the last call.
    pub(crate) fn take_nul(&mut self) -> Option<Flaw> {
        self.nul.take()
    }

    pub(crate) fn skipped_mut(&mut self) -> &mut Skipped {
        &mut self.skipped
    }

    /// The place of a byte of the current item.
    pub(crate) fn place(&self, at: usize) -> Place {
        self.position.place_behind(&self.chunks.window()[..at])
    }

    /// Rejects UTF-16 by the first bytes: it has a NUL next to every ASCII letter.
    pub(crate) fn reject_utf16(&mut self) -> Result<(), Failure> {
        self.byte(3)?;
        let window = self.chunks.window();
        let is_nul = |at| window.get(at) == Some(&0);
        let is_utf_16 = window.starts_with(b"\xFF\xFE")
            || window.starts_with(b"\xFE\xFF")
            // The same bytes decoded as Latin-1.
            || window.starts_with(b"\xC3\xBF\xC3\xBE")
            || window.starts_with(b"\xC3\xBE\xC3\xBF")
            || (is_nul(0) && is_nul(2))
            || (is_nul(1) && is_nul(3));
        if !is_utf_16 {
            return Ok(());
        }
        let flaw = Flaw {
            place: self.place(0),
            message: "expected UTF-8 text, found UTF-16 or binary data".to_owned(),
            hint: Some("convert it, for example: iconv -f UTF-16 -t UTF-8".to_owned()),
        };
        self.skip_all()?;
        Err(Failure::File(flaw))
    }

    /// Consumes text up to an `@` outside comments; returns false if the file ends first.
    pub(crate) fn find_at_sign(&mut self) -> Result<bool, Failure> {
        loop {
            let window = self.chunks.window();
            match memchr2(b'@', b'%', window) {
                None => {
                    self.eat(window.len());
                    if !self.grow()? {
                        return Ok(false);
                    }
                }
                Some(at) if window[at] == b'@' => {
                    self.eat(at);
                    return Ok(true);
                }
                Some(at) => {
                    self.eat(at);
                    if !self.eat_line()? {
                        return Ok(false);
                    }
                }
            }
        }
    }

    fn eat_line(&mut self) -> Result<bool, Failure> {
        loop {
            let window = self.chunks.window();
            if let Some(at) = memchr(b'\n', window) {
                self.eat(at + 1);
                return Ok(true);
            }
            self.eat(window.len());
            if !self.grow()? {
                return Ok(false);
            }
        }
    }

    /// The first byte from `at` on for which `test` is false; reads ahead up to the maximum length of a type.
    pub(crate) fn behind_while(
        &mut self,
        mut at: usize,
        test: fn(u8) -> bool,
    ) -> Result<usize, Failure> {
        let limit = at + 2 * MAX_TYPE_BYTES;
        while at < limit && self.byte(at)?.is_some_and(test) {
            at += 1;
        }
        Ok(at)
    }

    /// The byte at `at` of the window; `None` after the end of the file.
    pub(crate) fn byte(&mut self, at: usize) -> Result<Option<u8>, Failure> {
        while at >= self.chunks.window().len() {
            if !self.grow()? {
                return Ok(None);
            }
        }
        Ok(Some(self.chunks.window()[at]))
    }

    /// Reads more bytes; returns false at the end of the file.
    pub(crate) fn grow(&mut self) -> Result<bool, Failure> {
        self.chunks.grow().map_err(|error| self.unreadable(&error))
    }

    fn unreadable(&self, error: &io::Error) -> Failure {
        Failure::File(Flaw {
            place: self.place(self.chunks.window().len()),
            message: format!("the file cannot be read further ({error})"),
            hint: None,
        })
    }

    /// Consumes `count` bytes of text outside items.
    pub(crate) fn eat(&mut self, count: usize) {
        if self.chunks.has_nul
            && self.nul.is_none()
            && let Some(at) = memchr(0, &self.chunks.window()[..count])
        {
            self.nul = Some(Flaw::nul_byte(self.place(at)));
        }
        self.consume(count);
    }

    /// Skips `count` bad bytes.
    pub(crate) fn skip(&mut self, count: usize) {
        self.skipped.entries += count_entries(&self.chunks.window()[..count]);
        self.skipped.bytes += count as u64;
        self.consume(count);
    }

    /// Skips everything from the `@` at the window to the next line that begins an entry, or
    /// to the end of the file.
    pub(crate) fn skip_to_head(&mut self) -> Result<(), Failure> {
        let mut from = 1;
        loop {
            let window = self.chunks.window();
            let next = next_head(window, from, self.position.is_blank_so_far);
            // An `@` near the end of the window may begin an entry once more bytes are read; it is kept.
            let held = window.len().saturating_sub(HEAD_BYTES).max(from);
            let held = memrchr(b'@', window.get(held..).unwrap_or_default()).map(|at| held + at);
            if let Some(next) = next
                && (self.chunks.is_at_end || held != Some(next))
            {
                self.skip(next);
                return Ok(());
            }
            let kept = next.or(held);
            self.skip(kept.unwrap_or(window.len()));
            from = 0;
            if !self.grow()? {
                if kept.is_none() || !self.is_at_head() {
                    self.skip(self.chunks.window().len());
                }
                return Ok(());
            }
        }
    }

    fn is_at_head(&self) -> bool {
        let is_blank = self.position.is_blank_so_far;
        next_head(self.chunks.window(), 0, is_blank) == Some(0)
    }

    /// Skips the rest of the file.
    fn skip_all(&mut self) -> Result<(), Failure> {
        loop {
            self.skip(self.chunks.window().len());
            if !self.grow()? {
                return Ok(());
            }
        }
    }

    /// Consumes `count` bytes.
    pub(crate) fn consume(&mut self, count: usize) {
        self.position.pass(&self.chunks.window()[..count]);
        self.chunks.consume(count);
    }
}

/// A position between two bytes, and what precedes it in its line.
pub(crate) struct Position {
    lines: u64,
    /// The width of the text since the last line feed.
    columns: u64,
    /// Whether only white space is between the last line feed and this position.
    pub(crate) is_blank_so_far: bool,
    /// The previous byte; a line feed at the beginning.
    pub(crate) previous: u8,
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

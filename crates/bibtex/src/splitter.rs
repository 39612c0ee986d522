//! Takes a window over a BibTeX file; gives its items one by one, each as the bytes it is written in.
//!
//! An item is `@word{…}` or `@word(…)`, found by counting braces as BibTeX does: a backslash protects
//! no brace, and braces inside quotes count. Everything else is text that BibTeX ignores, with two
//! differences. A `%` begins a comment up to the end of its line, so that entries which someone has
//! commented out stay out, as in biber and in bibtosql. And an `@` inside a word (an address of mail)
//! or followed by no `word{` is text, unless it begins its line. `@Comment` is dropped as BibTeX drops
//! it: the word alone, so an entry within its braces is an entry.

use std::io;

use memchr::{memchr, memchr2, memrchr};

use crate::balance::Balance;
use crate::chunks::Chunks;
use crate::heads::{HEAD_BYTES, count_entries, has_more_heads_than, is_definition, next_head};
use crate::position::Position;
use crate::problems::{Flaw, Place, Skipped};
use crate::unclosed::never_ends;

/// The longest entry that is read: whatever is longer is rather a brace that was never closed.
pub const MAX_ENTRY_BYTES: usize = 8 * 1024 * 1024;

/// The longest word after an `@` that is taken for the type of an entry.
pub(crate) const MAX_TYPE_BYTES: usize = 100;

/// An entry that has not ended after so many bytes, and after every doubling of them, must not hold
/// more lines that look like the beginning of an entry than this: a brace is missing. Without that,
/// each of many entries with a missing brace would be read up to the greatest length.
const DOUBTFUL_BYTES: usize = 4 * 1024;
const MAX_HEADS_INSIDE: usize = 100;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Entry,
    String,
    Preamble,
}

/// What is known of the item under way; offsets count from its `@`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Item {
    pub(crate) kind: Kind,
    /// The type of the entry: `article` in `@article{`.
    pub(crate) word: (usize, usize),
    /// The opening brace or parenthesis.
    pub(crate) open: usize,
    /// The whole item, closing delimiter included.
    pub(crate) length: usize,
}

pub(crate) struct Splitter {
    chunks: Chunks,
    /// The item that begins at the window and was given last.
    item: Option<Item>,
    /// The item at the window is bad: it is to be passed over.
    bad: Option<Bad>,
    /// A NUL byte in the text between two items, reported when the end of the text is found.
    nul: Option<Flaw>,
    skipped: Skipped,
    /// Where the window begins.
    position: Position,
}

/// What is known of a bad item at the window.
struct Bad {
    is_entry: bool,
    /// Where its braces say that it ends.
    length: Option<usize>,
}

/// Why a text cannot be split.
pub(crate) enum Failure {
    /// One item is bad; reading can go on behind it.
    Item(Flaw),
    /// The file as a whole is bad from here on.
    File(Flaw),
}

impl Splitter {
    pub(crate) fn new(chunks: Chunks, counts_characters: bool) -> Self {
        Self {
            chunks,
            item: None,
            bad: None,
            nul: None,
            skipped: Skipped::default(),
            position: Position::new(counts_characters),
        }
    }

    pub(crate) fn chunks(&self) -> &Chunks {
        &self.chunks
    }

    /// The bytes of the item that [`Splitter::advance`] found last, and its parts.
    pub(crate) fn item(&self) -> (&[u8], Item) {
        let item = self.item.expect("asked for only after an item was found");
        (&self.chunks.window()[..item.length], item)
    }

    /// What has been passed over so far because it is bad.
    pub(crate) fn skipped(&self) -> Skipped {
        self.skipped
    }

    /// Says that the item given last is bad inside, whatever its braces seemed to say.
    pub(crate) fn reject(&mut self) {
        if let Some(item) = self.item.take() {
            self.bad = Some(Bad {
                is_entry: item.kind == Kind::Entry,
                length: Some(item.length),
            });
        }
    }

    /// Says that the item given last is whole, and left out all the same.
    pub(crate) fn leave_out(&mut self) {
        if let Some(item) = &self.item {
            self.skipped.entries += u64::from(item.kind == Kind::Entry);
            self.skipped.bytes += item.length as u64;
        }
    }

    /// Where the first NUL byte of the item given last is.
    pub(crate) fn nul_in_item(&self) -> Option<usize> {
        // Nearly all files have none, and are not searched again.
        if !self.chunks.has_nul() {
            return None;
        }
        memchr(0, self.item().0)
    }

    /// The place of a byte of the item under way.
    pub(crate) fn place(&self, at: usize) -> Place {
        self.position.place_behind(&self.chunks.window()[..at])
    }

    /// Finds the next item, or nothing at the end of the file.
    pub(crate) fn advance(&mut self) -> Result<Option<Item>, Failure> {
        if self.position.is_start() {
            self.insist_on_bytes()?;
        }
        if let Some(item) = self.item.take() {
            self.consume(item.length);
        }
        if let Some(bad) = self.bad.take() {
            self.pass_over(&bad)?;
        }
        loop {
            let is_found = self.find_at_sign()?;
            if let Some(flaw) = self.nul.take() {
                return Err(Failure::Item(flaw));
            }
            if !is_found {
                return Ok(None);
            }
            match self.head()? {
                Head::Text => self.eat(1),
                Head::Comment { end } => self.eat(end),
                Head::Item { kind, word, open } => {
                    let length = self.close(open, kind == Kind::Entry)?;
                    let item = Item {
                        kind,
                        word,
                        open,
                        length,
                    };
                    self.item = Some(item);
                    return Ok(Some(item));
                }
            }
        }
    }

    /// Looks at the first bytes: text in UTF-16 has a NUL beside every letter.
    fn insist_on_bytes(&mut self) -> Result<(), Failure> {
        self.byte(3)?;
        let window = self.chunks.window();
        let is_nul = |at| window.get(at) == Some(&0);
        let is_utf_16 = window.starts_with(b"\xFF\xFE")
            || window.starts_with(b"\xFE\xFF")
            // The same where they were read as Latin-1.
            || window.starts_with(b"\xC3\xBF\xC3\xBE")
            || window.starts_with(b"\xC3\xBE\xC3\xBF")
            || (is_nul(0) && is_nul(2))
            || (is_nul(1) && is_nul(3));
        if !is_utf_16 {
            return Ok(());
        }
        let flaw = Flaw {
            place: self.place(0),
            message: "expected text in UTF-8, found UTF-16 or no text at all".to_owned(),
            hint: Some("convert it, for example: iconv -f UTF-16 -t UTF-8".to_owned()),
        };
        self.skip_all()?;
        Err(Failure::File(flaw))
    }

    /// Passes over the rest of the file.
    fn skip_all(&mut self) -> Result<(), Failure> {
        loop {
            self.skip(self.chunks.window().len());
            if !self.grow()? {
                return Ok(());
            }
        }
    }

    /// Eats text up to an `@` that no comment holds.
    fn find_at_sign(&mut self) -> Result<bool, Failure> {
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

    /// Reads `@ word {` at the window.
    fn head(&mut self) -> Result<Head, Failure> {
        if is_word_byte(self.position.previous()) {
            return Ok(Head::Text);
        }
        let mut at = self.eat_while(1, is_space)?;
        let start = at;
        at = self.eat_while(at, is_word_byte)?;
        let word = (start, at);
        at = self.eat_while(at, is_space)?;
        let opening = self.byte(at)?;
        let name = &self.chunks.window()[word.0..word.1];
        if name.eq_ignore_ascii_case(b"comment") {
            return Ok(Head::Comment { end: word.1 });
        }
        if !name.is_empty() && name.len() <= MAX_TYPE_BYTES && matches!(opening, Some(b'{' | b'('))
        {
            let kind = if name.eq_ignore_ascii_case(b"string") {
                Kind::String
            } else if name.eq_ignore_ascii_case(b"preamble") {
                Kind::Preamble
            } else {
                Kind::Entry
            };
            return Ok(Head::Item {
                kind,
                word,
                open: at,
            });
        }
        if !self.position.is_blank_so_far() {
            return Ok(Head::Text);
        }
        let found = describe(opening);
        let message = if name.is_empty() {
            format!("expected the type of an entry after `@`, found {found}")
        } else {
            let name = String::from_utf8_lossy(&name[..name.len().min(MAX_TYPE_BYTES)]);
            format!("expected `{{` or `(` after `@{name}`, found {found}")
        };
        self.bad = Some(Bad {
            is_entry: !name.is_empty() && !is_definition(name),
            length: None,
        });
        Err(Failure::Item(Flaw {
            place: self.place(at.min(self.chunks.window().len())),
            message,
            hint: Some("an entry begins with `@type{key,`".to_owned()),
        }))
    }

    /// The length of the item at the window, whose delimiter opens at `open`.
    fn close(&mut self, open: usize, is_entry: bool) -> Result<usize, Failure> {
        let mut balance = Balance::new(self.chunks.window()[open]);
        let mut at = open + 1;
        let mut doubtful = DOUBTFUL_BYTES;
        loop {
            let window = self.chunks.window();
            let until = window.len().min(doubtful).max(at);
            if let Some(end) = balance.find_end(&window[at..until]) {
                let length = at + end + 1;
                return if length <= MAX_ENTRY_BYTES {
                    Ok(length)
                } else {
                    Err(self.unclosed(open, is_entry))
                };
            }
            at = until;
            if at >= doubtful {
                if has_more_heads_than(MAX_HEADS_INSIDE, &window[..at]) {
                    return Err(self.unclosed(open, is_entry));
                }
                doubtful *= 2;
            } else if at > MAX_ENTRY_BYTES || !self.grow()? {
                return Err(self.unclosed(open, is_entry));
            }
        }
    }

    /// Tells why the item at the window has no end, once it is known that it has none.
    fn unclosed(&mut self, open: usize, is_entry: bool) -> Failure {
        self.bad = Some(Bad {
            is_entry,
            length: None,
        });
        let window = self.chunks.window();
        let text = &window[..window.len().min(MAX_ENTRY_BYTES)];
        let is_too_long = window.len() > MAX_ENTRY_BYTES;
        Failure::Item(never_ends(text, open, is_too_long, |at| self.place(at)))
    }

    /// Passes over the bad item at the window: up to the next line that begins an entry, but where
    /// its braces end it before that, only to its end.
    fn pass_over(&mut self, bad: &Bad) -> Result<(), Failure> {
        let before = self.skipped.entries;
        match bad.length {
            Some(length) => {
                let item = &self.chunks.window()[..length];
                match next_head(item, 1, false) {
                    Some(next) => self.skip(next),
                    None => {
                        // What looks like entries inside a value is part of this one.
                        self.skip(length);
                        self.skipped.entries = before;
                    }
                }
            }
            None => self.skip_to_head()?,
        }
        if bad.is_entry && self.skipped.entries == before {
            self.skipped.entries += 1;
        }
        Ok(())
    }

    /// Passes over everything from the `@` at the window to the next line that begins an entry, or
    /// to the end of the file.
    fn skip_to_head(&mut self) -> Result<(), Failure> {
        let mut from = 1;
        loop {
            let window = self.chunks.window();
            let next = next_head(window, from, self.position.is_blank_so_far());
            // An `@` near the end of the window may begin an entry when more is known; it stays.
            let held = window.len().saturating_sub(HEAD_BYTES).max(from);
            let held = memrchr(b'@', window.get(held..).unwrap_or_default()).map(|at| held + at);
            if let Some(next) = next
                && (self.chunks.is_at_end() || held != Some(next))
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
        let is_blank = self.position.is_blank_so_far();
        next_head(self.chunks.window(), 0, is_blank) == Some(0)
    }

    fn eat_while(&mut self, mut at: usize, test: fn(u8) -> bool) -> Result<usize, Failure> {
        let limit = at + 2 * MAX_TYPE_BYTES;
        while at < limit && self.byte(at)?.is_some_and(test) {
            at += 1;
        }
        Ok(at)
    }

    fn byte(&mut self, at: usize) -> Result<Option<u8>, Failure> {
        while at >= self.chunks.window().len() {
            if !self.grow()? {
                return Ok(None);
            }
        }
        Ok(Some(self.chunks.window()[at]))
    }

    fn grow(&mut self) -> Result<bool, Failure> {
        self.chunks.grow().map_err(|error| self.unreadable(&error))
    }

    fn unreadable(&self, error: &io::Error) -> Failure {
        Failure::File(Flaw {
            place: self.place(self.chunks.window().len()),
            message: format!("the file cannot be read further ({error})"),
            hint: None,
        })
    }

    /// Leaves `count` bytes of text that is no item behind.
    fn eat(&mut self, count: usize) {
        if self.chunks.has_nul()
            && self.nul.is_none()
            && let Some(at) = memchr(0, &self.chunks.window()[..count])
        {
            self.nul = Some(nul(self.place(at)));
        }
        self.consume(count);
    }

    /// Leaves `count` bytes behind because they are bad.
    fn skip(&mut self, count: usize) {
        self.skipped.entries += count_entries(&self.chunks.window()[..count]);
        self.skipped.bytes += count as u64;
        self.consume(count);
    }

    fn consume(&mut self, count: usize) {
        self.position.pass(&self.chunks.window()[..count]);
        self.chunks.consume(count);
    }
}

enum Head {
    /// An `@` that begins nothing.
    Text,
    /// `@comment`, which ends at `end`.
    Comment { end: usize },
    Item {
        kind: Kind,
        word: (usize, usize),
        open: usize,
    },
}

pub(crate) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | 0x0B | 0x0C)
}

pub(crate) fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'+' | b':' | b'*')
}

/// The error for a NUL byte at `place`.
pub(crate) fn nul(place: Place) -> Flaw {
    Flaw {
        place,
        message: "expected text, found a NUL byte".to_owned(),
        hint: Some("remove it, for example: tr -d '\\0'".to_owned()),
    }
}

/// A byte as a message names it.
pub(crate) fn describe(byte: Option<u8>) -> String {
    match byte {
        None => "the end of the file".to_owned(),
        Some(b'\n' | b'\r') => "the end of the line".to_owned(),
        Some(byte) if byte.is_ascii_graphic() => format!("`{}`", char::from(byte)),
        Some(byte) => format!("the byte 0x{byte:02X}"),
    }
}

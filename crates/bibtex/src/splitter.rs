//! Takes a window over a BibTeX file; gives its items one by one, each as the bytes it is written in.
//!
//! An item is `@word{…}` or `@word(…)`, found by counting braces as BibTeX does: a backslash protects
//! no brace, and braces inside quotes count. Everything else is text that BibTeX ignores, with two
//! differences. A `%` begins a comment up to the end of its line, so that entries which someone has
//! commented out stay out, as in biber and in bibtosql. And an `@` inside a word (an address of mail)
//! or followed by no `word{` is text, unless it begins its line. `@Comment` is dropped as BibTeX drops
//! it: the word alone, so an entry within its braces is an entry.

use std::io;

use memchr::{memchr, memchr2, memmem};

use crate::balance::Balance;
use crate::chunks::{Chunks, Ending};
use crate::position::Position;
use crate::problems::{Flaw, Place};
use crate::unclosed::{first_line, never_closed, next_entry};

/// The longest entry that is read: whatever is longer is rather a brace that was never closed.
pub const MAX_ENTRY_BYTES: usize = 8 * 1024 * 1024;

/// The longest word after an `@` that is taken for the type of an entry.
const MAX_TYPE_BYTES: usize = 100;

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
    /// The item at the window is bad: go on at the next line that begins with `@`.
    must_resynchronise: bool,
    /// Where the window begins.
    position: Position,
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
            must_resynchronise: false,
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

    /// Says that the item given last is bad inside, whatever its braces seemed to say.
    pub(crate) fn reject(&mut self) {
        self.item = None;
        self.must_resynchronise = true;
    }

    /// The place of a byte of the item under way.
    pub(crate) fn place(&self, at: usize) -> Place {
        self.position.place_behind(&self.chunks.window()[..at])
    }

    /// Finds the next item, or nothing at the end of the file.
    pub(crate) fn advance(&mut self) -> Result<Option<Item>, Failure> {
        if let Some(item) = self.item.take() {
            self.consume(item.length);
        }
        if self.must_resynchronise && !self.resynchronise()? {
            return Ok(None);
        }
        while self.find_at_sign()? {
            match self.head()? {
                Head::Text => self.consume(1),
                Head::Comment { end } => self.consume(end),
                Head::Item { kind, word, open } => {
                    let length = self.close(open)?;
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
        Ok(None)
    }

    /// Eats text up to an `@` that no comment holds.
    fn find_at_sign(&mut self) -> Result<bool, Failure> {
        loop {
            let window = self.chunks.window();
            match memchr2(b'@', b'%', window) {
                None => {
                    self.consume(window.len());
                    if !self.grow()? {
                        return Ok(false);
                    }
                }
                Some(at) if window[at] == b'@' => {
                    self.consume(at);
                    return Ok(true);
                }
                Some(at) => {
                    self.consume(at);
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
                self.consume(at + 1);
                return Ok(true);
            }
            self.consume(window.len());
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
        self.must_resynchronise = true;
        Err(Failure::Item(Flaw {
            place: self.place(at.min(self.chunks.window().len())),
            message,
            hint: Some("an entry begins with `@type{key,`".to_owned()),
        }))
    }

    /// The length of the item at the window, whose delimiter opens at `open`.
    fn close(&mut self, open: usize) -> Result<usize, Failure> {
        let mut balance = Balance::new(self.chunks.window()[open]);
        let mut at = open + 1;
        loop {
            let window = self.chunks.window();
            if let Some(end) = balance.find_end(&window[at..]) {
                let length = at + end + 1;
                return if length <= MAX_ENTRY_BYTES {
                    Ok(length)
                } else {
                    Err(self.unclosed(open))
                };
            }
            at = window.len();
            if at > MAX_ENTRY_BYTES || !self.grow()? {
                return Err(self.unclosed(open));
            }
        }
    }

    /// Tells why the item at the window has no end, once it is known that it has none.
    fn unclosed(&mut self, open: usize) -> Failure {
        self.must_resynchronise = true;
        let window = self.chunks.window();
        let text = &window[..window.len().min(MAX_ENTRY_BYTES)];
        let next = next_entry(text, open);
        let place = self.place(0);
        let begins = String::from_utf8_lossy(first_line(text));
        if window.len() > MAX_ENTRY_BYTES && next.is_none() {
            return Failure::Item(Flaw {
                place,
                message: format!(
                    "expected an entry of at most {MAX_ENTRY_BYTES} bytes, found more after \
                     `{begins}`"
                ),
                hint: Some("a closing brace may be missing; or split the entry".to_owned()),
            });
        }
        let culprit = never_closed(&text[..next.unwrap_or(text.len())], open);
        let brace = self.place(culprit);
        let opening = char::from(text[culprit]);
        Failure::Item(Flaw {
            place,
            message: format!(
                "the entry `{begins}` never ends: the `{opening}` at line {}, column {} is never \
                 closed",
                brace.line, brace.column
            ),
            hint: Some(match next {
                Some(next) => format!(
                    "add what closes it before line {}, where the next entry begins",
                    self.place(next).line
                ),
                None => "add what closes it before the end of the file".to_owned(),
            }),
        })
    }

    /// Eats the bad item up to the next line that begins with `@`; false where there is none.
    fn resynchronise(&mut self) -> Result<bool, Failure> {
        self.must_resynchronise = false;
        loop {
            let window = self.chunks.window();
            if let Some(at) = memmem::find(window, b"\n@") {
                self.consume(at + 1);
                return Ok(true);
            }
            // The last byte stays: it may be the line feed before an `@` that is yet to come.
            self.consume(window.len().saturating_sub(1));
            if !self.grow()? {
                self.consume(self.chunks.window().len());
                return Ok(false);
            }
        }
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
        let grew = self
            .chunks
            .grow()
            .map_err(|error| self.unreadable(&error))?;
        if !grew && self.chunks.ending() == Ending::NulByte {
            return Err(Failure::File(Flaw {
                place: self.place(self.chunks.window().len()),
                message: "expected text, found a NUL byte".to_owned(),
                hint: Some("the file is UTF-16 or no text at all; convert it to UTF-8".to_owned()),
            }));
        }
        Ok(grew)
    }

    fn unreadable(&self, error: &io::Error) -> Failure {
        Failure::File(Flaw {
            place: self.place(self.chunks.window().len()),
            message: format!("the file cannot be read further ({error})"),
            hint: None,
        })
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

/// A byte as a message names it.
pub(crate) fn describe(byte: Option<u8>) -> String {
    match byte {
        None => "the end of the file".to_owned(),
        Some(b'\n' | b'\r') => "the end of the line".to_owned(),
        Some(byte) if byte.is_ascii_graphic() => format!("`{}`", char::from(byte)),
        Some(byte) => format!("the byte 0x{byte:02X}"),
    }
}

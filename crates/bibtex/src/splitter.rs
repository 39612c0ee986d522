//! Takes a window over a BibTeX file; returns its items in order, each as its bytes in the file.
//!
//! An item is `@word{…}` or `@word(…)`, found by counting braces as BibTeX does: a backslash does not
//! escape a brace, and braces inside quotes count. Everything else is text that BibTeX ignores, with two
//! differences. A `%` begins a comment up to the end of its line, so that commented-out entries
//! stay out, as in biber and in bibtosql. And an `@` inside a word (an e-mail address)
//! or not followed by `word{` is text, unless it begins its line. `@Comment` is dropped as in BibTeX:
//! only the word, so an entry within its braces is an entry.

use memchr::{memchr, memchr2_iter};

use crate::cursor::{Cursor, Failure};
use crate::heads::never_ends;
use crate::heads::{has_more_heads_than, is_definition, next_head};
use crate::input::Chunks;
use crate::item::{Item, Kind, MAX_ENTRY_BYTES, MAX_TYPE_BYTES};
use crate::item::{describe, is_space, is_word_byte};
use crate::problems::{Flaw, Place, Skipped};

/// An entry that has not ended after this many bytes (and after each doubling of them) is taken to lack a
/// brace if more than this many of its lines look like the beginning of an entry. Without this check,
/// each of many entries with a missing brace would be read up to the maximum length.
const DOUBTFUL_BYTES: usize = 4 * 1024;
const MAX_HEADS_INSIDE: usize = 100;

pub(crate) struct Splitter {
    cursor: Cursor,
    /// The item at the beginning of the window, which was returned last.
    item: Option<Item>,
    /// Set if the item at the window is bad and must be skipped.
    bad: Option<Bad>,
}

/// A bad item at the window.
struct Bad {
    is_entry: bool,
    /// Its end according to its braces.
    length: Option<usize>,
}

impl Splitter {
    pub(crate) fn new(chunks: Chunks, counts_characters: bool) -> Self {
        Self {
            cursor: Cursor::new(chunks, counts_characters),
            item: None,
            bad: None,
        }
    }

    pub(crate) fn chunks(&self) -> &Chunks {
        self.cursor.chunks()
    }

    /// The bytes of the item that [`Splitter::advance`] found last, and its parts.
    pub(crate) fn item(&self) -> (&[u8], Item) {
        let item = self.item.expect("called only after an item was found");
        (&self.cursor.window()[..item.length], item)
    }

    /// The bad text skipped so far.
    pub(crate) fn skipped(&self) -> Skipped {
        self.cursor.skipped
    }

    /// The place of a byte of the current item.
    pub(crate) fn place(&self, at: usize) -> Place {
        self.cursor.place(at)
    }

    /// Marks the last item as bad inside, so that its braces cannot be trusted.
    pub(crate) fn reject(&mut self) {
        if let Some(item) = self.item.take() {
            self.bad = Some(Bad {
                is_entry: item.kind == Kind::Entry,
                length: Some(item.length),
            });
        }
    }

    /// Marks the last item as complete but left out.
    pub(crate) fn leave_out(&mut self) {
        if let Some(item) = &self.item {
            let skipped = self.cursor.skipped_mut();
            skipped.entries += u64::from(item.kind == Kind::Entry);
            skipped.bytes += item.length as u64;
        }
    }

    /// The offset of the first NUL byte of the last item.
    pub(crate) fn nul_in_item(&self) -> Option<usize> {
        // Nearly all files have none, and are not searched.
        if !self.cursor.chunks().has_nul {
            return None;
        }
        memchr(0, self.item().0)
    }

    /// Finds the next item; `None` at the end of the file.
    pub(crate) fn advance(&mut self) -> Result<Option<Item>, Failure> {
        if self.cursor.position().is_start() {
            self.cursor.reject_utf16()?;
        }
        if let Some(item) = self.item.take() {
            self.cursor.consume(item.length);
        }
        if let Some(bad) = self.bad.take() {
            self.pass_over(&bad)?;
        }
        loop {
            let is_found = self.cursor.find_at_sign()?;
            if let Some(flaw) = self.cursor.take_nul() {
                return Err(Failure::Item(flaw));
            }
            if !is_found {
                return Ok(None);
            }
            match self.head()? {
                Head::Text => self.cursor.eat(1),
                Head::Comment { end } => self.cursor.eat(end),
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

    /// Reads `@ word {` at the window.
    fn head(&mut self) -> Result<Head, Failure> {
        if is_word_byte(self.cursor.position().previous) {
            return Ok(Head::Text);
        }
        let mut at = self.cursor.behind_while(1, is_space)?;
        let start = at;
        at = self.cursor.behind_while(at, is_word_byte)?;
        let word = (start, at);
        at = self.cursor.behind_while(at, is_space)?;
        let opening = self.cursor.byte(at)?;
        let name = &self.cursor.window()[word.0..word.1];
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
        if !self.cursor.position().is_blank_so_far {
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
            place: self.cursor.place(at.min(self.cursor.window().len())),
            message,
            hint: Some("an entry begins with `@type{key,`".to_owned()),
        }))
    }

    /// The length of the item at the window, whose opening delimiter is at `open`.
    fn close(&mut self, open: usize, is_entry: bool) -> Result<usize, Failure> {
        let mut balance = Balance::new(self.cursor.window()[open]);
        let mut at = open + 1;
        let mut doubtful = DOUBTFUL_BYTES;
        loop {
            let window = self.cursor.window();
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
            } else if at > MAX_ENTRY_BYTES || !self.cursor.grow()? {
                return Err(self.unclosed(open, is_entry));
            }
        }
    }

    /// The error for the item at the window, which has no end.
    fn unclosed(&mut self, open: usize, is_entry: bool) -> Failure {
        self.bad = Some(Bad {
            is_entry,
            length: None,
        });
        let window = self.cursor.window();
        let text = &window[..window.len().min(MAX_ENTRY_BYTES)];
        let is_too_long = window.len() > MAX_ENTRY_BYTES;
        Failure::Item(never_ends(text, open, is_too_long, |at| {
            self.cursor.place(at)
        }))
    }

    /// Skips the bad item at the window: up to the next line that begins an entry, or only to its
    /// end if its braces close before that line.
    fn pass_over(&mut self, bad: &Bad) -> Result<(), Failure> {
        let before = self.cursor.skipped.entries;
        match bad.length {
            Some(length) => {
                let item = &self.cursor.window()[..length];
                match next_head(item, 1, false) {
                    Some(next) => self.cursor.skip(next),
                    None => {
                        // Text inside a value that looks like an entry is part of this item.
                        self.cursor.skip(length);
                        self.cursor.skipped_mut().entries = before;
                    }
                }
            }
            None => self.cursor.skip_to_head()?,
        }
        if bad.is_entry && self.cursor.skipped.entries == before {
            self.cursor.skipped_mut().entries += 1;
        }
        Ok(())
    }
}

enum Head {
    /// An `@` that begins no item.
    Text,
    /// `@comment`, which ends at `end`.
    Comment { end: usize },
    Item {
        kind: Kind,
        word: (usize, usize),
        open: usize,
    },
}

/// Counts delimiters up to the one that closes an item; continues where the last window ended.
pub(crate) struct Balance {
    opening: u8,
    depth: usize,
    is_quoted: bool,
}

impl Balance {
    pub(crate) fn new(opening: u8) -> Self {
        Self {
            opening,
            depth: usize::from(opening == b'{'),
            is_quoted: false,
        }
    }

    pub(crate) fn find_end(&mut self, text: &[u8]) -> Option<usize> {
        if self.opening == b'{' {
            for at in memchr2_iter(b'{', b'}', text) {
                if text[at] == b'{' {
                    self.depth += 1;
                } else {
                    self.depth -= 1;
                    if self.depth == 0 {
                        return Some(at);
                    }
                }
            }
            return None;
        }
        // A parenthesis closes the item only outside all braces and quotes, so these count too.
        text.iter().position(|byte| {
            match byte {
                b'{' => self.depth += 1,
                b'}' => self.depth = self.depth.saturating_sub(1),
                b'"' if self.depth == 0 => self.is_quoted = !self.is_quoted,
                b')' if self.depth == 0 && !self.is_quoted => return true,
                _ => {}
            }
            false
        })
    }
}

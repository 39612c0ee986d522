//! Takes the bytes of one item; returns its key and its fields as ranges of these bytes.
//!
//! This file defines the grammar: the order of the tokens. Everything is a range, so that one [`Entry`]
//! is reused for all entries of a file without allocating.
//!
//! The tokens are read by `serde_bibtex`, which returns slices of the text without offsets. The offset is
//! computed from the address of the slice; that of an error, from the last token before it.

use std::ops::Range;

use serde_bibtex::token::{Identifier, Text};
use serde_bibtex::{Read as _, SliceReader};

use crate::item::{Item, describe, is_space};

/// The parts of an entry; ranges count from the `@`.
#[derive(Debug, Default)]
pub(crate) struct Entry {
    pub(crate) kind: Range<usize>,
    /// The opening brace or parenthesis.
    pub(crate) open: usize,
    pub(crate) key: Range<usize>,
    pub(crate) fields: Vec<Field>,
    pub(crate) pieces: Vec<Piece>,
}

#[derive(Clone, Debug)]
pub(crate) struct Field {
    pub(crate) name: Range<usize>,
    /// The value with its delimiters, from the first piece to the last.
    pub(crate) value: Range<usize>,
    /// Indexes into [`Entry::pieces`]: what `#` joins.
    pub(crate) pieces: Range<usize>,
}

impl Entry {
    /// Reads `@type{key, name = value, …}`; `text` is the item.
    pub(crate) fn read(&mut self, text: &[u8], item: &Item) -> Result<(), SyntaxError> {
        self.fields.clear();
        self.pieces.clear();
        self.kind = item.word.0..item.word.1;
        self.open = item.open;
        let end = item.length - 1;
        self.key = key(text, item.open, end)?;
        let mut tokens = Tokens::new(text, self.key.end, end);
        if !tokens.take(b',') {
            return match tokens.peek() {
                None => Ok(()),
                // The first word is not the key but the name of a field.
                Some(b'=') => Err(no_key(self.key.start)),
                found => Err(tokens.unexpected(KEY_END, found, KEY_HINT)),
            };
        }
        while let Some(first) = tokens.peek() {
            let name = tokens.name().ok_or_else(|| {
                let hint = (first == b',').then_some("remove the second comma");
                tokens.unexpected("expected the name of a field", Some(first), hint)
            })?;
            let field = self.field(&mut tokens, name)?;
            self.fields.push(field);
            if !tokens.take(b',') {
                return match tokens.peek() {
                    None => Ok(()),
                    found => Err(tokens.unexpected(VALUE_END, found, VALUE_HINT)),
                };
            }
        }
        Ok(())
    }

    /// Reads `@String{name = value}`; its only field is the definition.
    pub(crate) fn read_string(&mut self, text: &[u8], item: &Item) -> Result<(), SyntaxError> {
        self.fields.clear();
        self.pieces.clear();
        self.kind = item.word.0..item.word.1;
        self.open = item.open;
        self.key = item.open..item.open;
        let mut tokens = Tokens::new(text, item.open + 1, item.length - 1);
        let first = tokens.peek();
        let name = tokens
            .name()
            .ok_or_else(|| tokens.unexpected("expected the name of a macro", first, None))?;
        let field = self.field(&mut tokens, name)?;
        self.fields.push(field);
        tokens.take(b',');
        match tokens.peek() {
            None => Ok(()),
            found => {
                Err(tokens.unexpected("expected the end of the definition", found, VALUE_HINT))
            }
        }
    }

    /// The bytes of the value of `field` if it is one piece.
    pub(crate) fn single<'t>(&self, text: &'t [u8], field: &Field) -> Option<&'t [u8]> {
        match &self.pieces[field.pieces.clone()] {
            [piece] => Some(&text[piece.text.clone()]),
            _ => None,
        }
    }

    fn field(&mut self, tokens: &mut Tokens, name: Range<usize>) -> Result<Field, SyntaxError> {
        if !tokens.take(b'=') {
            let found = tokens.peek();
            return Err(tokens.unexpected("expected `=` after the name of a field", found, None));
        }
        let first = self.pieces.len();
        let mut value: Option<Range<usize>> = None;
        loop {
            let (piece, whole) = tokens.piece()?;
            self.pieces.push(piece);
            value = Some(value.map_or(whole.start, |value| value.start)..whole.end);
            if !tokens.take(b'#') {
                break;
            }
        }
        let value = value.expect("the loop ran at least once");
        Ok(Field { name, value, pieces: first..self.pieces.len() })
    }
}

const KEY_END: &str = "expected `,` after the citation key";
const KEY_HINT: Option<&str> = Some("an entry begins with `@type{key,`");
const VALUE_END: &str = "expected `,` or the end of the entry after a value";
const VALUE_HINT: Option<&str> = Some("a comma or a quote may be missing before it");

/// The citation key: as in BibTeX, any bytes except white space, a comma and the end of the entry.
fn key(text: &[u8], open: usize, end: usize) -> Result<Range<usize>, SyntaxError> {
    let start = open + 1 + leading_space(&text[open + 1..end]);
    let length = text[start..end]
        .iter()
        .position(|&byte| byte == b',' || is_space(byte))
        .unwrap_or(end - start);
    if length == 0 || text[start..start + length].contains(&b'=') {
        return Err(no_key(start));
    }
    Ok(start..start + length)
}

fn no_key(at: usize) -> SyntaxError {
    SyntaxError { at, message: "expected a citation key, found none".to_owned(), hint: KEY_HINT }
}

fn leading_space(text: &[u8]) -> usize {
    text.iter().take_while(|&&byte| is_space(byte)).count()
}

#[derive(Clone, Debug)]
pub(crate) struct Piece {
    pub(crate) kind: PieceKind,
    /// Without delimiters.
    pub(crate) text: Range<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PieceKind {
    Braced,
    Quoted,
    Number,
    /// The name of an `@String` or a month.
    Macro,
}

/// An unexpected token or a missing delimiter.
#[derive(Debug)]
pub(crate) struct SyntaxError {
    /// Offset from the `@`.
    pub(crate) at: usize,
    pub(crate) message: String,
    pub(crate) hint: Option<&'static str>,
}

pub(crate) struct Tokens<'t> {
    text: &'t [u8],
    reader: SliceReader<'t>,
    /// The offset after the last name, number or value.
    at: usize,
    /// Single bytes (`,` `=` `#`) taken since then.
    taken: usize,
    end: usize,
}

impl<'t> Tokens<'t> {
    pub(crate) fn new(text: &'t [u8], from: usize, end: usize) -> Self {
        Self { text, reader: SliceReader::new(&text[from..end]), at: from, taken: 0, end }
    }

    pub(crate) fn peek(&mut self) -> Option<u8> {
        self.reader.comment();
        self.reader.peek()
    }

    pub(crate) fn take(&mut self, byte: u8) -> bool {
        let is_there = self.peek() == Some(byte);
        if is_there {
            self.taken += 1;
            self.reader.discard();
        }
        is_there
    }

    pub(crate) fn name(&mut self) -> Option<Range<usize>> {
        self.reader.comment();
        let name = self.reader.identifier().ok()?.into_inner();
        Some(self.range(name.as_bytes()))
    }

    pub(crate) fn piece(&mut self) -> Result<(Piece, Range<usize>), SyntaxError> {
        match self.peek() {
            Some(b'{') => {
                self.reader.discard();
                let Ok(Text::Bytes(inside)) = self.reader.balanced() else {
                    return Err(self.unclosed("expected `}` at the end of the value"));
                };
                Ok(self.delimited(inside, PieceKind::Braced))
            }
            Some(b'"') => {
                self.reader.discard();
                let Ok(Text::Bytes(inside)) = self.reader.protected(b'"') else {
                    return Err(self.unclosed("expected a second `\"` at the end of the value"));
                };
                if self.reader.peek() != Some(b'"') {
                    return Err(self.unclosed("expected a second `\"` at the end of the value"));
                }
                Ok(self.delimited(inside, PieceKind::Quoted))
            }
            Some(byte) => {
                let (kind, token) = if byte.is_ascii_digit() {
                    (PieceKind::Number, self.reader.number().ok())
                } else {
                    (PieceKind::Macro, self.reader.identifier().ok().map(Identifier::into_inner))
                };
                let Some(token) = token else {
                    return Err(self.unexpected("expected a value", Some(byte), None));
                };
                let text = self.range(token.as_bytes());
                Ok((Piece { kind, text: text.clone() }, text))
            }
            None => Err(self.unexpected("expected a value", None, None)),
        }
    }

    fn delimited(&mut self, inside: &[u8], kind: PieceKind) -> (Piece, Range<usize>) {
        self.reader.discard();
        let text = self.range(inside);
        let whole = text.start - 1..text.end + 1;
        self.at = whole.end;
        (Piece { kind, text }, whole)
    }

    fn range(&mut self, token: &[u8]) -> Range<usize> {
        let start = token.as_ptr() as usize - self.text.as_ptr() as usize;
        self.at = start + token.len();
        self.taken = 0;
        start..self.at
    }

    /// Where the next token begins, which `serde_bibtex` does not expose.
    fn position_of_next(&self) -> usize {
        let mut at = self.behind_space(self.at);
        for _ in 0..self.taken {
            at = self.behind_space(at + 1);
        }
        at
    }

    fn behind_space(&self, mut at: usize) -> usize {
        while at < self.end {
            match self.text[at] {
                b'%' => {
                    let rest = &self.text[at..self.end];
                    at += memchr::memchr(b'\n', rest).unwrap_or(rest.len());
                }
                byte if is_space(byte) => at += 1,
                _ => break,
            }
        }
        at.min(self.end)
    }

    pub(crate) fn unexpected(
        &self,
        expected: &str,
        found: Option<u8>,
        hint: Option<&'static str>,
    ) -> SyntaxError {
        let found = match found {
            Some(byte) => describe(Some(byte)),
            None => "the end of the entry".to_owned(),
        };
        let message = format!("{expected}, found {found}");
        SyntaxError { at: self.position_of_next(), message, hint }
    }

    /// The error at the delimiter that opens the current value and is not closed.
    fn unclosed(&self, message: &str) -> SyntaxError {
        SyntaxError {
            at: self.position_of_next(),
            message: format!("{message}, found none in this entry"),
            hint: Some("braces inside quotes must be balanced too"),
        }
    }
}

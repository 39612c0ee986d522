//! Takes the bytes of an item; returns its tokens in order, each with its offset.
//!
//! The tokens are read by `serde_bibtex`, which returns slices of the text without offsets. The offset is
//! computed from the address of the slice; that of an error, from the last token before it.

use std::ops::Range;

use serde_bibtex::token::{Identifier, Text};
use serde_bibtex::{Read as _, SliceReader};

use crate::byte_class::{describe, is_space};

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
        Self {
            text,
            reader: SliceReader::new(&text[from..end]),
            at: from,
            taken: 0,
            end,
        }
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
                    (
                        PieceKind::Macro,
                        self.reader.identifier().ok().map(Identifier::into_inner),
                    )
                };
                let Some(token) = token else {
                    return Err(self.unexpected("expected a value", Some(byte), None));
                };
                let text = self.range(token.as_bytes());
                Ok((
                    Piece {
                        kind,
                        text: text.clone(),
                    },
                    text,
                ))
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
        SyntaxError {
            at: self.position_of_next(),
            message,
            hint,
        }
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

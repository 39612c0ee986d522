//! Takes the bytes of one item; returns its key and its fields as ranges of these bytes.
//!
//! This file defines the grammar: the order of the tokens. Everything is a range, so that one [`Entry`]
//! is reused for all entries of a file without allocating.

use std::ops::Range;

use crate::byte_class::is_space;
use crate::item::Item;
use crate::tokens::{Piece, SyntaxError, Tokens};

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
        Ok(Field {
            name,
            value,
            pieces: first..self.pieces.len(),
        })
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
    SyntaxError {
        at,
        message: "expected a citation key, found none".to_owned(),
        hint: KEY_HINT,
    }
}

fn leading_space(text: &[u8]) -> usize {
    text.iter().take_while(|&&byte| is_space(byte)).count()
}

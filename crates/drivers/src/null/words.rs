//! Takes the text of a statement; returns its words in order: names with their quotes and dots, whole
//! literals, and every other character as a word. Blanks and comments are skipped.

use crate::lexer;
use crate::lexer::{Literals, is_identifier};

#[derive(Clone, Debug)]
pub(super) struct Words<'a> {
    text: &'a str,
    at: usize,
    literals: Literals,
}

impl<'a> Words<'a> {
    pub(super) fn new(text: &'a str, literals: Literals) -> Self {
        Self {
            text,
            at: 0,
            literals,
        }
    }

    /// The words outside parentheses.
    pub(super) fn at_top(&mut self) -> impl Iterator<Item = &'a str> {
        let mut depth = 0_u32;
        self.by_ref().filter(move |&word| {
            match word {
                "(" => depth += 1,
                ")" => depth = depth.saturating_sub(1),
                _ => return depth == 0,
            }
            false
        })
    }
}

impl<'a> Iterator for Words<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        let bytes = self.text.as_bytes();
        let is_name = |byte: u8| is_identifier(byte) || b".\"`".contains(&byte);
        loop {
            let start = self.at;
            let first = *bytes.get(start)?;
            if is_name(first) {
                let rest = &bytes[start..];
                let length = rest.iter().position(|&byte| !is_name(byte));
                self.at = start + length.unwrap_or(rest.len());
                return Some(&self.text[start..self.at]);
            }
            self.at = lexer::end_of_token(bytes, start, self.literals);
            let is_comment = self.at > start + 1 && first != b'\'' && first != b'$';
            if !first.is_ascii_whitespace() && !is_comment {
                // Everything but a name begins and ends with an ASCII byte.
                return Some(&self.text[start..self.at]);
            }
        }
    }
}

pub(super) fn is_word(word: &str, expected: &str) -> bool {
    word.eq_ignore_ascii_case(expected)
}

/// A word in lower case and without quotes.
pub(super) fn plain(word: &str) -> String {
    word.replace(['"', '`'], "").to_lowercase()
}

/// The first words of a statement, up to a semicolon.
pub(super) fn first_words(words: Words<'_>) -> Vec<String> {
    const MOST: usize = 64;
    words
        .take_while(|&word| word != ";")
        .take(MOST)
        .map(plain)
        .collect()
}

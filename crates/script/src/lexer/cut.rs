//! Takes one statement of a script in a query language; returns its text, the values `:name`, and the
//! identifiers `:{name}` that are chosen at run time.
//!
//! A `:name` is recognised by pgbench's rules: one colon before a name, anywhere; `::` (a cast), `:=`
//! and `12:30` are text. Whether a `:name` within quotes is a value depends on how values are sent, and is
//! decided when names are resolved ([`crate::compile::send`]).

use crate::lexer::language::{Lexer, Passage, Values};
use crate::lexer::statement::{Name, Part, Written};
use crate::place::{Defect, name_end};
use std::ops::Range;

/// Cuts the statement at `range` of `text` into its parts; comments become a space, except hints
/// (`/*+ … */`, `/*! … */`).
pub(super) fn cut<'a>(
    text: &'a str,
    range: Range<usize>,
    lexer: Lexer,
    values: Values,
) -> Result<Written<'a>, Defect> {
    let bytes = text.as_bytes();
    let mut written = Written { at: range.start, parts: Vec::new() };
    let mut surroundings = Surroundings::default();
    let (mut at, mut copied) = (range.start, range.start);
    while at < range.end {
        if let Some(passage) = lexer.passage(text, at)? {
            written.text(&text[copied..at]);
            match passage {
                Passage::Comment { .. } => written.text(" "),
                _ => quoted(text, at..passage.end(), &mut written),
            }
            (at, copied) = (passage.end(), passage.end());
            continue;
        }
        match &bytes[at..range.end] {
            [b':', b'{', ..] => {
                written.text(&text[copied..at]);
                let (name, end) = identifier(text, at)?;
                written.parts.push(Part::Identifier(name));
                (at, copied) = (end, end);
            }
            [b':', ..] => match variable(text, at) {
                (Some(name), end) => {
                    written.text(&text[copied..at]);
                    let is_slice = surroundings.is_slice();
                    if values != Values::Pasted {
                        let before = &text[range.start..at];
                        surroundings.take_parameter(at, before, at - copied, name.name)?;
                    }
                    written.parts.push(match is_slice {
                        true => Part::Perhaps { name, is_quoted: false },
                        false => Part::Value(name),
                    });
                    (at, copied) = (end, end);
                }
                (None, end) => at = end,
            },
            [byte, ..] => {
                if byte.is_ascii() {
                    surroundings.pass(*byte, &text[at + 1..range.end]);
                }
                at += 1;
            }
            [] => break,
        }
    }
    written.text(&text[copied..range.end]);
    written.trim_end();
    Ok(written)
}

/// Appends a literal, a quoted identifier or a hint, with each `:name` in it as a possible value.
fn quoted<'a>(text: &'a str, range: Range<usize>, written: &mut Written<'a>) {
    let (mut at, mut copied) = (range.start, range.start);
    while let Some(colon) = text[at..range.end].find(':') {
        let (name, end) = variable(&text[..range.end], at + colon);
        if let Some(name) = name {
            written.text(&text[copied..at + colon]);
            written.parts.push(Part::Perhaps { name, is_quoted: true });
            copied = end;
        }
        at = end;
    }
    written.text(&text[copied..range.end]);
}

/// The variable at the colon at `at`, if there is one, and the offset after the text examined.
fn variable(text: &str, at: usize) -> (Option<Name<'_>>, usize) {
    if let Some(end) = name_end(text, at + 1) {
        let name = &text[at + 1..end];
        return (Some(Name { at, name }), end);
    }
    let colons = text[at..].bytes().take_while(|&byte| byte == b':').count();
    (None, at + colons)
}

/// The name within `:{name}`, and the offset after it.
pub(super) fn identifier(text: &str, at: usize) -> Result<(Name<'_>, usize), Defect> {
    let begin = at + 2;
    match name_end(text, begin) {
        Some(end) if text[end..].starts_with('}') => {
            let name = &text[begin..end];
            Ok((Name { at, name }, end + 1))
        }
        _ => Err(Defect::new(at, "expected a name and } after :{")
            .hint("an identifier chosen at run time is written :{name}")),
    }
}

// Takes a statement, byte by byte; reports a parameter in the place of a table or of a part of
// a name, where no system accepts bound parameters: there an identifier is meant.

/// The parentheses and words around a position in a statement.
#[derive(Default)]
pub(crate) struct Surroundings {
    /// For each parenthesis, whether it contains a query; otherwise it contains arguments, where FROM has
    /// another meaning: `extract(year from :x)`.
    parentheses: Vec<bool>,
    brackets: usize,
}

impl Surroundings {
    /// Takes a byte outside literals and comments; `behind` is the text after it.
    pub fn pass(&mut self, byte: u8, behind: &str) {
        match byte {
            b'(' => {
                let word = first_word(behind.trim_start());
                let begins_query = ["select", "with", "delete", "update", "insert"];
                self.parentheses.push(is_one_of(word, &begins_query));
            }
            b')' => _ = self.parentheses.pop(),
            b'[' => self.brackets += 1,
            b']' => self.brackets = self.brackets.saturating_sub(1),
            _ => {}
        }
    }

    /// Whether a `:` may separate the bounds of a slice here.
    pub fn is_slice(&self) -> bool {
        self.brackets > 0
    }

    /// Rejects the parameter `name` at `at` if the text `before` it requires an identifier. The last
    /// `own` bytes of `before` are the text since the previous parameter.
    pub fn take_parameter(
        &self,
        at: usize,
        before: &str,
        own: usize,
        name: &str,
    ) -> Result<(), Defect> {
        let hint = format!(
            "an identifier chosen at run time is written :{{{name}}}, with its choices in the workload's [identifiers]"
        );
        if own > 0 && before.ends_with(is_name_letter) && !self.is_slice() {
            let message = "a bound parameter cannot be part of a name";
            return Err(Defect::new(at, message).hint(hint));
        }
        let (rest, word) = split_last_word(before);
        let stands_for_table = match word.to_ascii_lowercase().as_str() {
            "into" | "update" | "join" | "table" => true,
            "from" => {
                let is_in_query = self.parentheses.last().copied().unwrap_or(true);
                let is_distinct = is_one_of(split_last_word(rest).1, &["distinct"]);
                is_in_query && !is_distinct
            }
            _ => false,
        };
        if stands_for_table {
            let message = "a bound parameter cannot name a table";
            return Err(Defect::new(at, message).hint(hint));
        }
        Ok(())
    }
}

fn is_name_letter(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

fn first_word(text: &str) -> &str {
    let end = text.find(|letter| !is_name_letter(letter));
    &text[..end.unwrap_or(text.len())]
}

/// The last word, and the text before it.
fn split_last_word(text: &str) -> (&str, &str) {
    let text = text.trim_end();
    let start = text.rfind(|letter| !is_name_letter(letter));
    let start = start.map_or(0, |at| at + text[at..].chars().next().map_or(0, char::len_utf8));
    text.split_at(start)
}

fn is_one_of(word: &str, words: &[&str]) -> bool {
    words.iter().any(|known| word.eq_ignore_ascii_case(known))
}

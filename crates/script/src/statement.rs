//! Takes one statement of a script; gives the text that is sent, in which every `:name` has become
//! a bound parameter `?`, and the names in order.
//!
//! Every lone `?` of the result is a parameter. The operators `?|`, `?&` and `@?` that some systems
//! have are passed on; a lone `?` in a script is refused, because drivers could not tell it from a
//! parameter (systems that have it as an operator have a function that does the same).

use crate::literal::{LiteralStyle, Passage};
use crate::names::name_end;
use crate::place::Defect;
use crate::surroundings::Surroundings;
use std::ops::Range;

/// A statement and where its parameters and identifiers come from.
#[derive(Debug)]
pub(crate) struct Bound<'a> {
    pub at: usize,
    pub text: String,
    pub names: Vec<Name<'a>>,
    /// Where in `text` an identifier chosen at run time is to stand, in order.
    pub identifiers: Vec<(usize, Name<'a>)>,
}

/// The name of a variable, and where it stands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Name<'a> {
    pub at: usize,
    pub name: &'a str,
}

/// Binds what stands in `range` of `text`. `::` (a cast) and `:=` are left alone, as is everything
/// within literals; comments become a space, except hints (`/*+ … */`, `/*! … */`).
pub(crate) fn bind<'a>(
    text: &'a str,
    range: Range<usize>,
    style: LiteralStyle,
) -> Result<Bound<'a>, Defect> {
    let bytes = text.as_bytes();
    let mut bound = Bound {
        at: range.start,
        text: String::with_capacity(range.len()),
        names: Vec::new(),
        identifiers: Vec::new(),
    };
    let mut surroundings = Surroundings::default();
    let (mut at, mut copied) = (range.start, range.start);
    while at < range.end {
        if let Some(passage) = style.passage(text, at)? {
            if matches!(passage, Passage::Comment { .. }) {
                bound.text.push_str(&text[copied..at]);
                bound.text.push(' ');
                copied = passage.end();
            }
            at = passage.end();
            continue;
        }
        match &bytes[at..range.end] {
            [b':', b':' | b'=', ..] => at += 2,
            [b':', b'{', ..] => {
                bound.text.push_str(&text[copied..at]);
                let (name, end) = identifier(text, at)?;
                bound.identifiers.push((bound.text.len(), name));
                (at, copied) = (end, end);
            }
            [b':', ..] => match name_end(text, at + 1) {
                Some(end) => {
                    bound.text.push_str(&text[copied..at]);
                    let name = &text[at + 1..end];
                    surroundings.take_parameter(at, &text[range.start..at], at - copied, name)?;
                    bound.push(Name { at, name }, &bytes[end..range.end]);
                    (at, copied) = (end, end);
                }
                None => at += 1,
            },
            [b'?', ..] => {
                at += operator_length(&bytes[range.start..range.end], at - range.start)
                    .ok_or_else(|| lone_question_mark(at))?
            }
            [byte, ..] => {
                if byte.is_ascii() {
                    surroundings.pass(*byte, &text[at + 1..range.end]);
                }
                at += 1;
            }
            [] => break,
        }
    }
    bound.text.push_str(&text[copied..range.end]);
    let least = bound.identifiers.last().map_or(0, |&(at, _)| at);
    bound.text.truncate(bound.text.trim_end().len().max(least));
    Ok(bound)
}

impl<'a> Bound<'a> {
    /// A statement that is sent as it stands.
    pub fn plain(text: &str) -> Self {
        Self {
            at: 0,
            text: text.to_owned(),
            names: Vec::new(),
            identifiers: Vec::new(),
        }
    }

    /// The text with these identifiers in their places.
    pub fn with_identifiers(&self, chosen: &[&str]) -> String {
        let mut text = String::with_capacity(self.text.len() + 16 * chosen.len());
        let mut copied = 0;
        for (&(at, _), identifier) in self.identifiers.iter().zip(chosen) {
            text.push_str(&self.text[copied..at]);
            text.push_str(identifier);
            copied = at;
        }
        text.push_str(&self.text[copied..]);
        text
    }

    /// Spaces keep the `?` from becoming an operator together with its neighbours.
    fn push(&mut self, name: Name<'a>, behind: &[u8]) {
        if self.text.ends_with(['@', '?']) {
            self.text.push(' ');
        }
        self.text.push('?');
        if matches!(behind, [b'|' | b'&' | b'?', ..]) {
            self.text.push(' ');
        }
        self.names.push(name);
    }
}

/// The length of `?|`, `?&` or the `?` of `@?`; `None` where the `?` stands alone.
fn operator_length(statement: &[u8], at: usize) -> Option<usize> {
    match &statement[at + 1..] {
        [b'|', b'|', ..] => None,
        [b'|' | b'&', ..] => Some(2),
        _ if at > 0 && statement[at - 1] == b'@' => Some(1),
        _ => None,
    }
}

fn lone_question_mark(at: usize) -> Defect {
    Defect::new(
        at,
        "found ? outside a literal, expected a parameter as :name",
    )
    .hint("where ? is meant as an operator, use the function that does the same")
}

/// The name within `:{name}`, and the offset behind it.
fn identifier(text: &str, at: usize) -> Result<(Name<'_>, usize), Defect> {
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

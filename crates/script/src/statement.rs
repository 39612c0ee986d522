//! Takes one statement of a script; gives the text that is sent, in which every `:name` has become
//! a bound parameter `?`, and the names in order.
//!
//! Every lone `?` of the result is a parameter. The operators `?|`, `?&` and `@?` that some systems
//! have are passed on; a lone `?` in a script is refused, because drivers could not tell it from a
//! parameter (systems that have it as an operator have a function that does the same).

use crate::literal::{LiteralStyle, Passage};
use crate::names::name_end;
use crate::place::Defect;
use std::ops::Range;

/// A statement and where its parameters come from.
#[derive(Debug)]
pub(crate) struct Bound<'a> {
    pub text: String,
    pub names: Vec<Name<'a>>,
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
        text: String::with_capacity(range.len()),
        names: Vec::new(),
    };
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
            [b':', b'{', ..] => return Err(identifier_not_yet(at)),
            [b':', ..] => match name_end(text, at + 1) {
                Some(end) => {
                    bound.text.push_str(&text[copied..at]);
                    bound.push(
                        Name {
                            at,
                            name: &text[at + 1..end],
                        },
                        &bytes[end..range.end],
                    );
                    (at, copied) = (end, end);
                }
                None => at += 1,
            },
            [b'?', ..] => {
                at += operator_length(&bytes[range.start..range.end], at - range.start)
                    .ok_or_else(|| lone_question_mark(at))?
            }
            _ => at += 1,
        }
    }
    bound.text.push_str(&text[copied..range.end]);
    bound.text.truncate(bound.text.trim_end().len());
    Ok(bound)
}

impl<'a> Bound<'a> {
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

pub(crate) fn identifier_not_yet(at: usize) -> Defect {
    Defect::new(
        at,
        "identifiers chosen at run time, :{name}, are not known yet",
    )
    .hint("write one script for each table, or :name for a value")
}

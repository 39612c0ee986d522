//! Takes a path into a document (`$.items[0].price`) and an answer; returns the value at that path.

use crate::place::{Defect, name_end};
use crate::program::opcode::Slot;
use crate::reply::Reply;
use assay_values::Value;
use assay_values::json::of_json;
use serde_json::Value as Json;
use std::ops::Range;

/// A path, and the variable that receives its value.
#[derive(Clone, Debug)]
pub(crate) struct DocumentPath {
    pub spelled: String,
    pub steps: Vec<Step>,
    pub slot: Slot,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Key(String),
    Index(usize),
}

/// The keys and indexes of the path that begins at `range.start`, and the offset after it.
pub(crate) fn steps(text: &str, range: Range<usize>) -> Result<(Vec<Step>, usize), Defect> {
    let text = &text[..range.end];
    let expected = |at: usize, what: &str| {
        let found = text[at..].chars().next();
        let found = found.map_or_else(|| "the end of the line".to_owned(), String::from);
        Defect::new(at, format!("expected {what}, found {found}"))
            .hint("a path is written $.key.\"any key\"[0]")
    };
    if !text[range.start..].starts_with('$') {
        return Err(expected(range.start, "$"));
    }
    let (mut at, mut steps) = (range.start + 1, Vec::new());
    loop {
        match text.as_bytes().get(at) {
            Some(b'.') if text[at + 1..].starts_with('"') => {
                let mut keys = serde_json::Deserializer::from_str(&text[at + 1..]).into_iter();
                let Some(Ok(key)) = keys.next() else {
                    return Err(expected(at + 1, "a key in double quotes"));
                };
                at += 1 + keys.byte_offset();
                steps.push(Step::Key(key));
            }
            Some(b'.') => {
                let end = name_end(text, at + 1).ok_or_else(|| expected(at + 1, "a key"))?;
                steps.push(Step::Key(text[at + 1..end].to_owned()));
                at = end;
            }
            Some(b'[') => {
                let length = text[at..].find(']').ok_or_else(|| expected(at, "[ with its ]"))?;
                let index = text[at + 1..at + length].trim().parse();
                let index = index.map_err(|_| expected(at + 1, "an index from 0"))?;
                steps.push(Step::Index(index));
                at += length + 1;
            }
            None | Some(b' ' | b'\t' | b'\r' | b'\n') => return Ok((steps, at)),
            Some(_) => return Err(expected(at, ". or [ or the end of the path")),
        }
    }
}

impl DocumentPath {
    /// The value at this path in the first column of the only row; NULL if the path does not exist. `Err` if
    /// the answer is not exactly one JSON document.
    pub fn value(&self, reply: &Reply<'_>) -> Result<Value, String> {
        let row = reply.first_row.filter(|_| reply.rows == 1);
        let cells = row.ok_or_else(|| format!("\\gset expects one row, found {}", reply.rows))?;
        let Some(Some(cell)) = cells.first() else {
            return Ok(Value::Null);
        };
        let document: Json = serde_json::from_slice(cell)
            .map_err(|error| format!("\\gset path expects a JSON document: {error}"))?;
        let found = self.steps.iter().try_fold(&document, |at, step| match step {
            Step::Key(key) => at.get(key),
            Step::Index(index) => at.get(index),
        });
        Ok(found.map_or(Value::Null, of_json))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_has_keys_and_indexes() {
        let key = |key: &str| Step::Key(key.to_owned());
        for (text, expected) in [
            ("$", vec![]),
            ("$.a.b_1[0][12] x", vec![key("a"), key("b_1"), Step::Index(0), Step::Index(12)]),
            ("$.\"a \\\"b\".é x", vec![key("a \"b"), key("é")]),
        ] {
            let read = steps(text, 0..text.len());
            let (found, end) = read.unwrap_or_else(|_| panic!("{text}"));
            assert_eq!(found, expected, "{text}");
            assert!(text[end..].is_empty() || &text[end..] == " x", "{text}");
        }
        for wrong in ["a", "$.", "$.1", "$[x]", "$[0", "$.a-b", "$.\"a"] {
            assert!(steps(wrong, 0..wrong.len()).is_err(), "{wrong}");
        }
    }
}

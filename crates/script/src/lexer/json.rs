//! Takes the text of a script whose statements are JSON documents; returns its documents and meta commands, and
//! each document cut at its values `:name` and its names `:{name}`.
//!
//! A `:name` may be used in place of a JSON value, outside strings: `{"find": :{table}, "key": :id}`. A
//! colon after a string or a name is JSON's own.

use crate::lexer::scan::Part;
use crate::lexer::statement::{Name, Written};
use crate::lexer::{scan, statement};
use crate::place::{Defect, name_end, text_start};
use assay_values::Value;
use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use std::collections::BTreeSet;
use std::fmt;
use std::fmt::Write as _;
use std::ops::Range;

/// A document ends with its brace, and a `;` may follow it. `--` begins a comment between documents.
pub(super) fn parts(text: &str) -> Result<Vec<Part>, Defect> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut at = text_start(text);
    while at < bytes.len() {
        match bytes[at] {
            b'{' => {
                let end = document_end(text, at)?;
                found.push(Part::Statement {
                    range: at..end,
                    is_joined: false,
                });
                at = end;
            }
            b'\\' => {
                let command = scan::command(text, at);
                at = scan::command_end(&command);
                found.push(command);
            }
            b'-' if bytes.get(at + 1) == Some(&b'-') => {
                at = text[at..].find('\n').map_or(bytes.len(), |line| at + line);
            }
            b';' => at += 1,
            byte if byte.is_ascii_whitespace() => at += 1,
            _ => {
                let found = beginning(&text[at..]);
                return Err(
                    Defect::new(at, format!("expected a JSON document, found `{found}`")).hint(
                        "each statement is one document: {\"find\": \"accounts\", \"id\": :id}",
                    ),
                );
            }
        }
    }
    Ok(found)
}

/// The first words of a statement, as far as they stand in its first line.
fn beginning(text: &str) -> String {
    const MOST: usize = 40;
    let line = text.lines().next().unwrap_or_default().trim_end();
    let shown: String = line.chars().take(MOST).collect();
    if shown.len() < line.len() {
        format!("{shown} …")
    } else {
        shown
    }
}

/// The offset after the brace that closes the one at `open`.
fn document_end(text: &str, open: usize) -> Result<usize, Defect> {
    let bytes = text.as_bytes();
    let (mut at, mut depth) = (open, 0_usize);
    while at < bytes.len() {
        match bytes[at] {
            b'"' => {
                at = string_end(bytes, at)?;
                continue;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' => {
                depth -= 1;
                if depth == 0 {
                    return Ok(at + 1);
                }
            }
            _ => {}
        }
        at += 1;
    }
    Err(Defect::new(open, "this document is not closed: expected }"))
}

/// The offset after the string that opens at `open`.
fn string_end(bytes: &[u8], open: usize) -> Result<usize, Defect> {
    let mut at = open + 1;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'"' => return Ok(at + 1),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    Err(Defect::new(open, "this string is not closed: expected \"")
        .hint("a quote inside is written \\\""))
}

/// Cuts one document at its values and names.
pub(super) fn cut(text: &str, range: Range<usize>) -> Result<Written<'_>, Defect> {
    let bytes = text.as_bytes();
    let mut written = Written {
        at: range.start,
        parts: Vec::new(),
    };
    // The document with a plain value of the same length for each `:name`, so that errors keep their offsets.
    let mut example = String::with_capacity(range.len());
    let (mut at, mut copied, mut follows_string) = (range.start, range.start, false);
    while at < range.end {
        match bytes[at] {
            b'"' => {
                at = string_end(bytes, at)?;
                follows_string = true;
                continue;
            }
            b':' if !follows_string => {
                let (part, end) = named(text, at)?;
                written.text(&text[copied..at]);
                example.push_str(&text[copied..at]);
                match &part {
                    statement::Part::Identifier(name) => {
                        // As long as `:{name}`. It is a string, and may be a key.
                        _ = write!(example, "\"{}:\"", name.name);
                        follows_string = true;
                    }
                    _ => example.push_str(&"1".repeat(end - at)),
                }
                written.parts.push(part);
                (at, copied) = (end, end);
                continue;
            }
            byte if byte.is_ascii_whitespace() => {}
            _ => follows_string = false,
        }
        at += 1;
    }
    written.text(&text[copied..range.end]);
    example.push_str(&text[copied..range.end]);
    check(&example, range.start)?;
    Ok(written)
}

/// The value or the identifier at the colon at `at`, and the offset after it.
fn named(text: &str, at: usize) -> Result<(statement::Part<'_>, usize), Defect> {
    if text[at + 1..].starts_with('{') {
        let (name, end) = super::cut::identifier(text, at)?;
        return Ok((statement::Part::Identifier(name), end));
    }
    match name_end(text, at + 1) {
        Some(end) => {
            let name = &text[at + 1..end];
            Ok((statement::Part::Value(Name { at, name }), end))
        }
        None => Err(Defect::new(at, "expected the name of a variable after :")),
    }
}

/// Whether the first key is a command that changes documents.
pub(super) fn changes_rows(text: &str) -> bool {
    const COMMANDS: [&str; 5] = ["insert", "update", "delete", "findAndModify", "findandmodify"];
    let first = text.split('"').nth(1);
    first.is_some_and(|first| COMMANDS.contains(&first))
}

/// Appends a JSON string.
pub(super) fn string(text: &str, out: &mut String) {
    paste(&Value::Text(text.into()), out);
}

/// Appends a value as JSON.
pub(super) fn paste(value: &Value, out: &mut String) {
    let mut json = Vec::new();
    value.write_json(&mut json);
    out.push_str(&String::from_utf8_lossy(&json));
}

// Takes a JSON document; reports what is wrong with it, at its place. A key that occurs twice is wrong too: systems
// disagree on which of the two values counts.

/// Begins the message about a key that occurs twice; the key follows.
const TWICE: &str = "twice the key ";

/// Checks the document `text`, which begins at the offset `start` of its script.
pub(super) fn check(text: &str, start: usize) -> Result<(), Defect> {
    let Err(error) = serde_json::from_str::<Checked>(text) else {
        return Ok(());
    };
    let at = place(text, &error);
    let words = error.to_string();
    let words = words.split(" at line ").next().unwrap_or(&words);
    let found = &text[at..];
    Err(match words {
        _ if words.starts_with(TWICE) => {
            // The error is placed at the end of the key.
            let at = text[..=at].rfind(&words[TWICE.len()..]).unwrap_or(at);
            Defect::new(start + at, format!("found {words} in one object"))
                .hint("remove one of them, or give it another name")
        }
        "expected value" => value(start + at, found),
        _ => Defect::new(start + at, format!("invalid JSON: {words}")),
    })
}

/// Something stands where a value should.
fn value(at: usize, found: &str) -> Defect {
    let letters = found.find(|letter: char| !letter.is_alphanumeric() && !"-+.$_".contains(letter));
    let word = match letters {
        Some(0) => found
            .chars()
            .next()
            .map_or("", |first| &found[..first.len_utf8()]),
        length => &found[..length.unwrap_or(found.len())],
    };
    let defect = Defect::new(at, format!("expected a JSON value, found {word}"));
    match word.trim_start_matches(['-', '+']) {
        "NaN" | "Infinity" => defect.hint(format!(
            "JSON has no such number; it is written {{\"$numberDouble\": \"{word}\"}}"
        )),
        _ => defect.hint("a text stands in double quotes"),
    }
}

/// The offset of the error. The columns of `serde_json` count bytes, from 1; column 0 is the end of the previous line.
fn place(text: &str, error: &serde_json::Error) -> usize {
    let line_start = text
        .split_inclusive('\n')
        .take(error.line().saturating_sub(1))
        .map(str::len)
        .sum::<usize>();
    let mut at = (line_start + error.column().saturating_sub(1)).min(text.len() - 1);
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// A value without a key that occurs twice.
struct Checked;

impl<'de> Deserialize<'de> for Checked {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
        reader.deserialize_any(Self)
    }
}

impl<'de> Visitor<'de> for Checked {
    type Value = Self;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a JSON value")
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_str<E>(self, _: &str) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_unit<E>(self) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut of: A) -> Result<Self, A::Error> {
        while of.next_element::<Self>()?.is_some() {}
        Ok(self)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut of: A) -> Result<Self, A::Error> {
        let mut seen = BTreeSet::new();
        while let Some(key) = of.next_key::<String>()? {
            if seen.contains(&key) {
                let key = serde_json::Value::String(key);
                return Err(A::Error::custom(format!("{TWICE}{key}")));
            }
            seen.insert(key);
            of.next_value::<Self>()?;
        }
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<String> {
        let parts = parts(text).unwrap_or_else(|_| panic!("{text}"));
        let range = |part: &Part| match part {
            Part::Statement { range, .. } => range.clone(),
            Part::Command { name, arguments } => name.start..arguments.end,
        };
        parts
            .iter()
            .map(|part| text[range(part)].to_owned())
            .collect()
    }

    #[test]
    fn a_document_ends_with_its_brace_and_a_colon_after_a_string_is_json() {
        let text = "-- one {\n{\"a\" : :x, \"b:{\": [true, :y]} {\"c\": {}};\n\\set x 1\n";
        assert_eq!(
            texts(text),
            ["{\"a\" : :x, \"b:{\": [true, :y]}", "{\"c\": {}}", "set x 1"]
        );
        let document = "{\"find\": :{table}, \"key\": :id, \"is\":true, \"o\": [:id,{\"p\"::id}]}";
        let written =
            cut(document, 0..document.len()).unwrap_or_else(|_| panic!("the document is valid"));
        let names = written.parts.iter().filter_map(|part| match part {
            statement::Part::Value(name) => Some(name.name),
            statement::Part::Identifier(name) => Some(name.name),
            _ => None,
        });
        assert_eq!(names.collect::<Vec<_>>(), ["table", "id", "id", "id"]);
    }

    #[test]
    fn values_are_pasted_as_json() {
        let mut out = String::new();
        for value in [
            Value::Text("it's \"so\"\n".into()),
            Value::Null,
            Value::Bool(true),
            Value::Int(-3),
            Value::Double(0.5),
            Value::Double(f64::NAN),
        ] {
            paste(&value, &mut out);
            out.push(' ');
        }
        assert_eq!(out, "\"it's \\\"so\\\"\\n\" null true -3 0.5 null ");
    }
}

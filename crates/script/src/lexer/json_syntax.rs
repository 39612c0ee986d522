//! Takes a JSON document; reports what is wrong with it, at its place. A key that occurs twice is wrong too: systems
//! disagree on which of the two values counts.

use crate::place::Defect;
use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use std::collections::BTreeSet;
use std::fmt;

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

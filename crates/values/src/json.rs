//! Takes JSON text; returns the text that is the same for equal values of all systems, or the value of a script.
//!
//! Systems keep JSON as it was written, or take it apart: then white space, the order of keys, keys that are
//! repeated and the spelling of numbers are lost.

use serde_json::Value as Json;

use crate::number_text::number_or_time;
use crate::value::write_json_string;
use crate::{Decimal, ElementType, Value};

/// The escape of a character that some systems cannot keep in a text.
const NUL: &[u8] = b"\\u0000";

/// The common form; `None` if the text is not JSON.
pub(crate) fn comparable(text: &[u8]) -> Option<Vec<u8>> {
    let json = serde_json::from_slice(text).ok()?;
    let mut out = Vec::with_capacity(text.len());
    write(&json, &mut out);
    Some(out)
}

fn write(json: &Json, out: &mut Vec<u8>) {
    match json {
        Json::Null => out.extend_from_slice(b"null"),
        Json::Bool(truth) => out.extend_from_slice(if *truth { b"true" } else { b"false" }),
        Json::Number(number) => {
            out.extend_from_slice(&number_or_time(number.to_string().as_bytes()));
        }
        Json::String(text) => write_json_string(text, out),
        Json::Array(values) => {
            out.push(b'[');
            for (number, value) in values.iter().enumerate() {
                separate(number, out);
                write(value, out);
            }
            out.push(b']');
        }
        Json::Object(fields) => {
            let mut fields: Vec<_> = fields.iter().collect();
            fields.sort_unstable_by_key(|(name, _)| *name);
            out.push(b'{');
            for (number, (name, value)) in fields.into_iter().enumerate() {
                separate(number, out);
                write_json_string(name, out);
                out.push(b':');
                write(value, out);
            }
            out.push(b'}');
        }
    }
}

fn separate(number: usize, out: &mut Vec<u8>) {
    if number > 0 {
        out.push(b',');
    }
}

/// Whether the text is JSON that every system can keep.
pub(crate) fn is_kept(text: &[u8]) -> bool {
    let has_nul = || memchr::memmem::find(text, NUL).is_some();
    serde_json::from_slice::<Json>(text).is_ok_and(|json| !has_nul() || !holds_nul(&json))
}

fn holds_nul(json: &Json) -> bool {
    match json {
        Json::String(text) => text.contains('\0'),
        Json::Array(values) => values.iter().any(holds_nul),
        Json::Object(fields) => {
            (fields.iter()).any(|(name, value)| name.contains('\0') || holds_nul(value))
        }
        _ => false,
    }
}

/// The elements of a JSON array; `None` if it is none, or an element is not of this type.
pub fn elements(text: &[u8], of: ElementType) -> Option<Vec<Json>> {
    let elements: Vec<Json> = serde_json::from_slice(text).ok()?;
    let is_of_type = |element: &Json| match (of, element) {
        (_, Json::Null) | (ElementType::Bool, Json::Bool(_)) => true,
        (ElementType::Text, Json::String(text)) => !text.contains('\0'),
        (ElementType::Double, Json::Number(_)) => true,
        (_, Json::Number(number)) => number.as_i64().is_some_and(|number| match of {
            ElementType::SmallInt => i16::try_from(number).is_ok(),
            ElementType::Int => i32::try_from(number).is_ok(),
            _ => of == ElementType::BigInt,
        }),
        _ => false,
    };
    elements.iter().all(is_of_type).then_some(elements)
}

/// Converts a JSON value.
pub fn of_json(json: &Json) -> Value {
    match json {
        Json::Null => Value::Null,
        Json::Bool(truth) => Value::Bool(*truth),
        Json::String(text) => Value::Text(text.as_str().into()),
        Json::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(number), _) => Value::Int(number),
            (None, Some(number)) => Value::Double(number),
            (None, None) => Decimal::parse(&number.to_string()).map_or(Value::Null, Value::Decimal),
        },
        Json::Array(values) => Value::List(values.iter().map(of_json).collect()),
        Json::Object(_) => Value::Document(json.to_string().into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_documents_of_two_systems_are_the_same() {
        for (left, right) in [
            ("{\"b\": 1, \"a\": [1, 2]}", "{\"a\":[1,2],\"b\":1}"),
            ("{\"a\": 1, \"a\": 2}", "{\"a\":2}"),
            ("[1.0, 1e2, -0.0]", "[1,100,0]"),
            ("[0.1, 0.10000000000000001]", "[0.1,0.1]"),
            ("\"\\u00e9\\/\"", "\"é/\""),
            ("{\"\": {\"x\" : null}}", "{\"\":{\"x\":null}}"),
        ] {
            let left = comparable(left.as_bytes()).expect("JSON");
            assert_eq!(String::from_utf8_lossy(&left), right);
        }
        for wrong in ["", "{", "{a: 1}", "[1,]", "words"] {
            assert!(comparable(wrong.as_bytes()).is_none(), "{wrong}");
        }
    }

    #[test]
    fn an_array_has_elements_of_one_type() {
        for (valid, of) in [
            ("[]", ElementType::Int),
            ("[1, null, -2]", ElementType::SmallInt),
            ("[1, 0.5]", ElementType::Double),
            ("[\"1\", \"a \\\" b\"]", ElementType::Text),
            ("[true, null]", ElementType::Bool),
        ] {
            assert!(elements(valid.as_bytes(), of).is_some(), "{valid}");
        }
        for (wrong, of) in [
            ("{}", ElementType::Int),
            ("[2147483648]", ElementType::Int),
            ("[0.5]", ElementType::BigInt),
            ("[[1]]", ElementType::Int),
            ("[\"1\"]", ElementType::Int),
            ("[1]", ElementType::Text),
            ("[1]", ElementType::Bool),
            ("[\"\\u0000\"]", ElementType::Text),
        ] {
            assert!(elements(wrong.as_bytes(), of).is_none(), "{wrong}");
        }
    }

    #[test]
    fn a_document_with_a_character_that_not_all_systems_keep_is_refused() {
        assert!(is_kept(b"{\"a\": \"\\\\u0000\"}"));
        assert!(!is_kept(b"{\"a\": [\"\\u0000\"]}"));
    }
}

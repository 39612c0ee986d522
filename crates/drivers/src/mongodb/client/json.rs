//! Takes a statement: one command as relaxed JSON, with the places of its values; gives it as a tree whose
//! fields keep their order, because the first names the command.

use std::fmt;

use assay_values::{Piece, write_json_string};
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use crate::{ErrorClass, SystemError};

/// A JSON value, or the place of a value that is bound later.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Json {
    Null,
    Bool(bool),
    Int(i64),
    Double(f64),
    Text(Box<str>),
    /// The value of this number, from 0.
    Slot(usize),
    Array(Vec<Self>),
    Object(Vec<(Box<str>, Self)>),
}

/// A text that begins so stands for the value whose number follows. No statement may have such a text of its
/// own: [`read`] refuses it.
const SLOT_MARK: &str = "\0value ";
const SLOT_MARK_IN_JSON: &str = "\\u0000value ";

impl Json {
    /// Whether a value is bound within it.
    pub(crate) fn has_slot(&self) -> bool {
        match self {
            Self::Slot(_) => true,
            Self::Array(parts) => parts.iter().any(Self::has_slot),
            Self::Object(fields) => fields.iter().any(|(_, part)| part.has_slot()),
            _ => false,
        }
    }
}

/// # Errors
/// Where the statement is not one JSON object.
pub(crate) fn read(pieces: &[Piece]) -> Result<Vec<(Box<str>, Json)>, SystemError> {
    let (mut text, mut slots) = (Vec::new(), 0_usize);
    for piece in pieces {
        match piece {
            Piece::Text(part) if part.contains(SLOT_MARK_IN_JSON) => {
                return Err(wrong("a text cannot begin with \\u0000value"));
            }
            Piece::Text(part) => text.extend_from_slice(part.as_bytes()),
            Piece::Identifier(name) => write_json_string(name, &mut text),
            Piece::Value => {
                text.extend_from_slice(format!("\"{SLOT_MARK_IN_JSON}{slots}\"").as_bytes());
                slots += 1;
            }
        }
    }
    let end = text.trim_ascii_end().len();
    let text = text[..end].strip_suffix(b";").unwrap_or(&text[..end]);
    match serde_json::from_slice(text) {
        Ok(Json::Object(fields)) if !fields.is_empty() => Ok(fields),
        Ok(_) => Err(wrong(
            "expected a command as a JSON object, such as {\"find\": \"accounts\"}",
        )),
        Err(error) => Err(wrong(&format!(
            "expected a command as a JSON object: {error}"
        ))),
    }
}

/// The value of a document or a list that a script computed.
pub(crate) fn of_text(text: &str) -> Option<Json> {
    if text.contains(SLOT_MARK_IN_JSON) {
        return None;
    }
    serde_json::from_str(text).ok()
}

fn wrong(message: &str) -> SystemError {
    SystemError::new(ErrorClass::Syntax, "", message)
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(JsonVisitor)
    }
}

struct JsonVisitor;

impl<'de> Visitor<'de> for JsonVisitor {
    type Value = Json;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, truth: bool) -> Result<Json, E> {
        Ok(Json::Bool(truth))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Json, E> {
        Ok(Json::Int(number))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Json, E> {
        i64::try_from(number).map(Json::Int).map_err(|_| {
            E::custom("a number of more than 64 bits; write {\"$numberDecimal\": \"…\"}")
        })
    }

    fn visit_f64<E>(self, number: f64) -> Result<Json, E> {
        Ok(Json::Double(number))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Json, E> {
        match text.strip_prefix(SLOT_MARK) {
            Some(number) => number.parse().map(Json::Slot).map_err(E::custom),
            None => Ok(Json::Text(text.into())),
        }
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut parts: A) -> Result<Json, A::Error> {
        let mut found = Vec::new();
        while let Some(part) = parts.next_element()? {
            found.push(part);
        }
        Ok(Json::Array(found))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Json, A::Error> {
        let mut found: Vec<(Box<str>, Json)> = Vec::new();
        while let Some((name, value)) = fields.next_entry::<String, Json>()? {
            if name.contains('\0') {
                return Err(A::Error::custom("a field name cannot hold \\u0000"));
            }
            found.push((name.into(), value));
        }
        Ok(Json::Object(found))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_keep_their_order_and_values_their_places() {
        let pieces = [
            Piece::Text("{\"find\": ".into()),
            Piece::Identifier("jo\"bs".into()),
            Piece::Text(", \"b\": [1, ".into()),
            Piece::Value,
            Piece::Text("], \"a\": {\"x\": -0.5, \"y\": ".into()),
            Piece::Value,
            Piece::Text(", \"z\": null}} ; ".into()),
        ];
        let field = |name: &str, value| (Box::from(name), value);
        let expected = vec![
            field("find", Json::Text("jo\"bs".into())),
            field("b", Json::Array(vec![Json::Int(1), Json::Slot(0)])),
            field(
                "a",
                Json::Object(vec![
                    field("x", Json::Double(-0.5)),
                    field("y", Json::Slot(1)),
                    field("z", Json::Null),
                ]),
            ),
        ];
        assert_eq!(read(&pieces), Ok(expected));
        for text in [
            "",
            "SELECT 1",
            "[1]",
            "{}",
            "{\"a\": 1} {\"b\": 2}",
            "{\"a\": \"\\u0000value 0\"}",
            "{\"a\\u0000\": 1}",
            "{\"a\": 18446744073709551615}",
        ] {
            let pieces = [Piece::Text(text.into())];
            let error = read(&pieces).expect_err(text);
            assert_eq!(error.class, ErrorClass::Syntax, "{text}");
        }
    }
}

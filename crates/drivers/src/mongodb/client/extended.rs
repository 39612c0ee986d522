//! Takes a statement: one command as relaxed JSON, with the places of its values; gives it as a tree whose fields
//! keep their order, because the first names the command. Takes such JSON; appends it as BSON.
//!
//! What JSON has no type for is written as in MongoDB's Extended JSON, version 2: `{"$date": "2024-01-31T00:00:00Z"}`,
//! `{"$numberDecimal": "1.50"}`, `{"$binary": {"base64": "…", "subType": "00"}}`.

use std::fmt;

use assay_values::calendar::{parse_date, parse_timestamp};
use assay_values::{Piece, write_json_string};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use crate::mongodb::scan::kind;
use crate::mongodb::{decimal128, write};
use crate::{ErrorClass, Result, SystemError};

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
/// own: [`read_command`] refuses it.
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
pub(crate) fn read_command(pieces: &[Piece]) -> Result<Vec<(Box<str>, Json)>> {
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
pub(crate) fn json_of_text(text: &str) -> Option<Json> {
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

const DAY_MS: i64 = 86_400_000;

/// The type that a value is bound as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SlotType {
    /// That of the value.
    Own,
    Int32,
    Int64,
    Double,
    Decimal128,
    Date,
    ObjectId,
}

/// The value that an object of this shape wraps: `{"$date": :x}`.
pub(crate) fn wrapped_slot(fields: &[(Box<str>, Json)]) -> Option<(SlotType, usize)> {
    let [(name, Json::Slot(slot))] = fields else {
        return None;
    };
    let slot_type = match &**name {
        "$date" => SlotType::Date,
        "$numberInt" => SlotType::Int32,
        "$numberLong" => SlotType::Int64,
        "$numberDouble" => SlotType::Double,
        "$numberDecimal" => SlotType::Decimal128,
        "$oid" => SlotType::ObjectId,
        _ => return None,
    };
    Some((slot_type, *slot))
}

/// Appends an element without values that are bound later.
///
/// # Errors
/// Where an object looks like extended JSON and is none.
pub(crate) fn write_element(name: &[u8], json: &Json, out: &mut Vec<u8>) -> Result<(), String> {
    match json {
        Json::Null | Json::Slot(_) => write::head(kind::NULL, name, out),
        Json::Bool(truth) => {
            write::head(kind::BOOL, name, out);
            out.push(u8::from(*truth));
        }
        Json::Int(number) => write_int(name, *number, out),
        Json::Double(number) => {
            write::head(kind::DOUBLE, name, out);
            out.extend_from_slice(&number.to_le_bytes());
        }
        Json::Text(text) => {
            write::head(kind::STRING, name, out);
            write::text(text.as_bytes(), out);
        }
        Json::Array(parts) => {
            write::head(kind::ARRAY, name, out);
            write_array(parts.iter(), out, write_element)?;
        }
        Json::Object(fields) => {
            if write_extended(name, fields, out)? {
                return Ok(());
            }
            write::head(kind::DOCUMENT, name, out);
            write::document(out, |out| {
                fields
                    .iter()
                    .try_for_each(|(name, part)| write_element(name.as_bytes(), part, out))
            })?;
        }
    }
    Ok(())
}

/// Appends a whole number in four bytes where they hold it, as the clients of MongoDB do.
#[inline]
pub(crate) fn write_int(name: &[u8], number: i64, out: &mut Vec<u8>) {
    match i32::try_from(number) {
        Ok(number) => {
            write::head(kind::INT32, name, out);
            out.extend_from_slice(&number.to_le_bytes());
        }
        Err(_) => {
            write::head(kind::INT64, name, out);
            out.extend_from_slice(&number.to_le_bytes());
        }
    }
}

/// Appends an array, whose elements are named by their numbers.
pub(crate) fn write_array<T, E>(
    parts: impl Iterator<Item = T>,
    out: &mut Vec<u8>,
    mut write_part: impl FnMut(&[u8], T, &mut Vec<u8>) -> Result<(), E>,
) -> Result<(), E> {
    let mut name = Vec::new();
    write::document(out, |out| {
        for (number, part) in (0_i64..).zip(parts) {
            name.clear();
            assay_values::write_int(number, &mut name);
            write_part(&name, part, out)?;
        }
        Ok(())
    })
}

/// Appends an object of extended JSON as what it stands for; says whether it is one.
fn write_extended(
    name: &[u8],
    fields: &[(Box<str>, Json)],
    out: &mut Vec<u8>,
) -> Result<bool, String> {
    let [(key, value), ..] = fields else {
        return Ok(false);
    };
    let wrong = |expected: &str| Err(format!("{key}: expected {expected}"));
    let mut fixed = |kind, bytes: &[u8]| {
        write::head(kind, name, out);
        out.extend_from_slice(bytes);
        Ok(true)
    };
    match (&**key, value) {
        ("$numberInt", value) => match number(value).and_then(|found| i32::try_from(found).ok()) {
            Some(number) => fixed(kind::INT32, &number.to_le_bytes()),
            None => wrong("a whole number of 32 bits"),
        },
        ("$numberLong", value) => match number(value) {
            Some(number) => fixed(kind::INT64, &number.to_le_bytes()),
            None => wrong("a whole number of 64 bits"),
        },
        ("$numberDouble", value) => match double(value) {
            Some(number) => fixed(kind::DOUBLE, &number.to_le_bytes()),
            None => wrong("a number"),
        },
        ("$numberDecimal", Json::Text(text)) => match decimal128::of_text(text) {
            Some(bytes) => fixed(kind::DECIMAL128, &bytes),
            None => wrong("a number of at most 34 digits"),
        },
        ("$date", value) => match date_ms(value) {
            Some(ms) => fixed(kind::DATE, &ms.to_le_bytes()),
            None => wrong("a moment such as \"2024-01-31T12:00:00Z\""),
        },
        ("$oid", Json::Text(text)) => match object_id(text) {
            Some(bytes) => fixed(kind::OBJECT_ID, &bytes),
            None => wrong("24 hexadecimal digits"),
        },
        ("$binary", Json::Object(parts)) => match binary(parts) {
            Some((subtype, bytes)) => {
                write::head(kind::BINARY, name, out);
                write::binary(subtype, &bytes, out);
                Ok(true)
            }
            None => wrong("{\"base64\": \"…\", \"subType\": \"00\"}"),
        },
        ("$regularExpression", Json::Object(parts)) => match &parts[..] {
            [(_, Json::Text(pattern)), (_, Json::Text(options))]
                if !pattern.contains('\0') && !options.contains('\0') =>
            {
                write::head(kind::REGEX, name, out);
                out.extend_from_slice(pattern.as_bytes());
                out.push(0);
                out.extend_from_slice(options.as_bytes());
                out.push(0);
                Ok(true)
            }
            _ => wrong("{\"pattern\": \"…\", \"options\": \"…\"}"),
        },
        ("$timestamp", Json::Object(parts)) => match &parts[..] {
            [(_, Json::Int(time)), (_, Json::Int(count))] => {
                let bits = time << 32 | (count & 0xFFFF_FFFF);
                fixed(kind::TIMESTAMP, &bits.to_le_bytes())
            }
            _ => wrong("{\"t\": seconds, \"i\": number}"),
        },
        ("$minKey", Json::Int(1)) => fixed(kind::MIN_KEY, &[]),
        ("$maxKey", Json::Int(1)) => fixed(kind::MAX_KEY, &[]),
        _ => Ok(false),
    }
}

fn number(json: &Json) -> Option<i64> {
    match json {
        Json::Int(number) => Some(*number),
        Json::Text(text) => text.parse().ok(),
        _ => None,
    }
}

fn double(json: &Json) -> Option<f64> {
    match json {
        Json::Double(number) => Some(*number),
        #[expect(clippy::cast_precision_loss, reason = "as JSON's numbers are read")]
        Json::Int(number) => Some(*number as f64),
        Json::Text(text) => text.parse().ok(),
        _ => None,
    }
}

fn date_ms(json: &Json) -> Option<i64> {
    match json {
        Json::Int(ms) => Some(*ms),
        Json::Text(text) => moment_ms(text.as_bytes()),
        Json::Object(fields) => match &fields[..] {
            [(name, value)] if &**name == "$numberLong" => number(value),
            _ => None,
        },
        _ => None,
    }
}

/// Milliseconds since 1970 of a moment, or of a date's midnight.
pub(crate) fn moment_ms(text: &[u8]) -> Option<i64> {
    if let Some(days) = parse_date(text) {
        return Some(i64::from(days) * DAY_MS);
    }
    let text = text.strip_suffix(b"Z").unwrap_or(text);
    Some(parse_timestamp(text)?.div_euclid(1000))
}

pub(crate) fn object_id(text: &str) -> Option<[u8; 12]> {
    if text.len() != 24 || !text.is_ascii() {
        return None;
    }
    let mut bytes = [0; 12];
    for (byte, digits) in bytes.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
        *byte = u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
    }
    Some(bytes)
}

fn binary(parts: &[(Box<str>, Json)]) -> Option<(u8, Vec<u8>)> {
    let part = |name: &str| {
        let found = parts.iter().find(|(known, _)| &**known == name);
        match found {
            Some((_, Json::Text(text))) => Some(&**text),
            _ => None,
        }
    };
    let bytes = STANDARD.decode(part("base64")?).ok()?;
    let subtype = u8::from_str_radix(part("subType").unwrap_or("00"), 16).ok()?;
    Some((subtype, bytes))
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
        assert_eq!(read_command(&pieces), Ok(expected));
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
            let error = read_command(&pieces).expect_err(text);
            assert_eq!(error.class, ErrorClass::Syntax, "{text}");
        }
    }
}

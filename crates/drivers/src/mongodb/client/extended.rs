//! Takes JSON; appends it as BSON. What JSON has no type for is written as in MongoDB's Extended JSON, version 2:
//! `{"$date": "2024-01-31T00:00:00Z"}`, `{"$numberDecimal": "1.50"}`, `{"$binary": {"base64": "…", "subType": "00"}}`.

use assay_values::calendar::{parse_date, parse_timestamp};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::mongodb::client::json::Json;
use crate::mongodb::shared::constants::kind;
use crate::mongodb::shared::{decimal128, write};

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
            write_array(parts.iter(), out, |name, part, out| {
                write_element(name, part, out)
            })?;
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

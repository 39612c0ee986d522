//! Takes the values of a statement (parameters of a script, or cells of a load), and the columns that it was
//! prepared for; appends them as the protocol sends them.
//!
//! Timestamps have milliseconds: what is finer is cut off. A whole number for a timestamp is milliseconds since
//! 1970, for a time nanoseconds since midnight, for a date days since 1970.

use std::borrow::Cow;
use std::net::IpAddr;

use assay_values::calendar::{parse_date, parse_time, parse_timestamp};
use assay_values::{Cell, Decimal, Value};
use serde_json::Value as Json;

use crate::cassandra::client::varint::{
    write_number, write_text_decimal, write_text_number, write_vint,
};
use crate::cassandra::cql_type::{Column, CqlType};
use crate::cassandra::notation::write_length;
use crate::scan::write_measured;
use crate::{ErrorClass, Result, SystemError};

/// A value of either source.
#[derive(Clone, Copy)]
pub(crate) enum Bound<'a> {
    Null,
    Bool(bool),
    Int(i64),
    Double(f64),
    Text(&'a [u8]),
    Bytes(&'a [u8]),
    Decimal(Decimal),
    Date(i32),
    Time(i64),
    Timestamp(i64),
    List(&'a [Value]),
}

impl<'a> From<&'a Value> for Bound<'a> {
    #[inline]
    fn from(value: &'a Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(truth) => Self::Bool(*truth),
            Value::Int(number) => Self::Int(*number),
            Value::Double(number) => Self::Double(*number),
            Value::Text(text) | Value::Document(text) => Self::Text(text.as_bytes()),
            Value::Bytes(bytes) => Self::Bytes(bytes),
            Value::Decimal(decimal) => Self::Decimal(*decimal),
            Value::Date(days) => Self::Date(*days),
            Value::Time(us) => Self::Time(*us),
            Value::Timestamp(us) => Self::Timestamp(*us),
            Value::List(values) => Self::List(values),
        }
    }
}

impl<'a> From<Cell<'a>> for Bound<'a> {
    #[inline]
    fn from(cell: Cell<'a>) -> Self {
        match cell {
            Cell::Null => Self::Null,
            Cell::Bool(truth) => Self::Bool(truth),
            Cell::Int(number) => Self::Int(number),
            Cell::Double(number) => Self::Double(number),
            Cell::Text(text) => Self::Text(text),
        }
    }
}

/// As the text of a script's value.
pub(crate) fn write_text(value: Bound<'_>, out: &mut Vec<u8>) {
    let value = match value {
        Bound::Null => Value::Null,
        Bound::Bool(truth) => Value::Bool(truth),
        Bound::Int(number) => Value::Int(number),
        Bound::Double(number) => Value::Double(number),
        Bound::Text(text) => return out.extend_from_slice(text),
        Bound::Bytes(bytes) => Value::Bytes(bytes.into()),
        Bound::Decimal(decimal) => Value::Decimal(decimal),
        Bound::Date(days) => Value::Date(days),
        Bound::Time(us) => Value::Time(us),
        Bound::Timestamp(us) => Value::Timestamp(us),
        Bound::List(values) => Value::List(values.into()),
    };
    value.write_text(out);
}

/// Appends the number of values, then each.
///
/// # Errors
/// Where there are more or fewer than the statement has, or one cannot become the type of its column.
#[inline]
pub(crate) fn write_all<'a>(
    columns: &[Column],
    values: impl ExactSizeIterator<Item = Bound<'a>>,
    out: &mut Vec<u8>,
) -> Result<()> {
    if values.len() != columns.len() {
        return Err(SystemError::wrong_count(columns.len(), values.len()));
    }
    // The server never names more columns than this: it counts them in two bytes as well.
    let count = u16::try_from(columns.len()).unwrap_or(u16::MAX);
    out.extend_from_slice(&count.to_be_bytes());
    for (number, (column, value)) in columns.iter().zip(values).enumerate() {
        write(&column.kind, value, out).ok_or_else(|| mismatch(number, column, value))?;
    }
    Ok(())
}

#[cold]
fn mismatch(number: usize, column: &Column, value: Bound<'_>) -> SystemError {
    const MAX_SHOWN: usize = 60;
    let mut text = Vec::new();
    write_text(value, &mut text);
    let mut shown: Cow<'_, str> = String::from_utf8_lossy(&text);
    if shown.chars().count() > MAX_SHOWN {
        let start: String = shown.chars().take(MAX_SHOWN).collect();
        shown = Cow::Owned(start + "…");
    }
    let message = format!(
        "value {} ({}): expected {}, found {shown:?}",
        number + 1,
        column.name,
        column.kind.name(),
    );
    SystemError::new(ErrorClass::Data, "", message)
}

/// Appends one value with its length; none where it cannot become the type.
#[inline]
fn write(kind: &CqlType, value: Bound<'_>, out: &mut Vec<u8>) -> Option<()> {
    match value {
        Bound::List(values) if holds_several(kind) => {
            write_measured(out, |out| write_list(kind, values, out))
        }
        // A column of texts holds its JSON.
        Bound::List(values) => {
            let mut json = Vec::new();
            Value::List(values.into()).write_text(&mut json);
            write_scalar(kind, Bound::Text(&json), out)
        }
        Bound::Text(text) if holds_several(kind) => {
            write_json(kind, &serde_json::from_slice(text).ok()?, out)
        }
        value => write_scalar(kind, value, out),
    }
}

fn write_json(kind: &CqlType, json: &Json, out: &mut Vec<u8>) -> Option<()> {
    match (kind, json) {
        (_, Json::Null) => write_scalar(kind, Bound::Null, out),
        (_, Json::Array(values)) => write_measured(out, |out| {
            write_parts(kind, values.len(), out, |number, part, out| {
                write_json(part, &values[number], out)
            })
        }),
        (CqlType::Map(key, value), Json::Object(pairs)) => write_measured(out, |out| {
            write_length(pairs.len(), out);
            for (name, part) in pairs {
                write(key, Bound::Text(name.as_bytes()), out)?;
                write_json(value, part, out)?;
            }
            Some(())
        }),
        (CqlType::Udt(_, fields), Json::Object(pairs)) => write_measured(out, |out| {
            if pairs
                .keys()
                .any(|key| !fields.iter().any(|(name, _)| **name == **key))
            {
                return None;
            }
            for (name, part) in fields {
                write_json(part, pairs.get(&**name).unwrap_or(&Json::Null), out)?;
            }
            Some(())
        }),
        (_, Json::Object(_)) => None,
        (_, Json::Bool(truth)) => write_scalar(kind, Bound::Bool(*truth), out),
        (_, Json::String(text)) => write_scalar(kind, Bound::Text(text.as_bytes()), out),
        (_, Json::Number(number)) => match number.as_i64() {
            Some(number) => write_scalar(kind, Bound::Int(number), out),
            // Its digits, so that a decimal stays what it is.
            None => {
                let digits = number.to_string();
                write_scalar(kind, Bound::Text(digits.as_bytes()), out)
            }
        },
    }
}

/// Appends what stands within a list, a set, a tuple or a vector.
fn write_list(kind: &CqlType, values: &[Value], out: &mut Vec<u8>) -> Option<()> {
    write_parts(kind, values.len(), out, |number, part, out| {
        write(part, Bound::from(&values[number]), out)
    })
}

fn write_parts(
    kind: &CqlType,
    count: usize,
    out: &mut Vec<u8>,
    mut write: impl FnMut(usize, &CqlType, &mut Vec<u8>) -> Option<()>,
) -> Option<()> {
    match kind {
        CqlType::List(part) | CqlType::Set(part) => {
            write_length(count, out);
            (0..count).try_for_each(|number| write(number, part, out))
        }
        CqlType::Tuple(parts) if parts.len() == count => {
            (parts.iter().enumerate()).try_for_each(|(number, part)| write(number, part, out))
        }
        CqlType::FloatVector(length) if *length == count => {
            let mut number_bytes = Vec::new();
            for number in 0..count {
                number_bytes.clear();
                write(number, &CqlType::Float, &mut number_bytes)?;
                // In a vector numbers stand without their lengths, and none is missing.
                out.extend_from_slice(number_bytes.get(4..8)?);
            }
            Some(())
        }
        _ => None,
    }
}

fn holds_several(kind: &CqlType) -> bool {
    matches!(
        kind,
        CqlType::List(_)
            | CqlType::Set(_)
            | CqlType::Map(..)
            | CqlType::Udt(..)
            | CqlType::Tuple(_)
            | CqlType::FloatVector(_)
    )
}

const DAY_MS: i64 = 86_400_000;
const DAY_US: i64 = 1000 * DAY_MS;
const NULL: [u8; 4] = (-1_i32).to_be_bytes();

/// Appends one value with its length; none where it cannot become the type, or the type holds several values.
#[inline]
pub(crate) fn write_scalar(kind: &CqlType, value: Bound<'_>, out: &mut Vec<u8>) -> Option<()> {
    match (kind, value) {
        (_, Bound::Null) => out.extend_from_slice(&NULL),
        (CqlType::Varchar | CqlType::Ascii | CqlType::Blob, Bound::Text(bytes))
        | (CqlType::Blob | CqlType::Custom(_), Bound::Bytes(bytes)) => {
            write_length(bytes.len(), out);
            out.extend_from_slice(bytes);
        }
        (CqlType::Varchar | CqlType::Ascii, value) => {
            write_measured(out, |out| write_text(value, out));
        }
        (CqlType::Bigint | CqlType::Counter, value) => fixed(whole(value)?.to_be_bytes(), out),
        (CqlType::Int, value) => fixed(i32::try_from(whole(value)?).ok()?.to_be_bytes(), out),
        (CqlType::Smallint, value) => fixed(i16::try_from(whole(value)?).ok()?.to_be_bytes(), out),
        (CqlType::Tinyint, value) => fixed(i8::try_from(whole(value)?).ok()?.to_be_bytes(), out),
        (CqlType::Double, value) => fixed(double(value)?.to_be_bytes(), out),
        #[expect(clippy::cast_possible_truncation, reason = "as the column stores it")]
        (CqlType::Float, value) => fixed((double(value)? as f32).to_be_bytes(), out),
        (CqlType::Boolean, value) => fixed([u8::from(truth(value)?)], out),
        (CqlType::Timestamp, value) => fixed(moment_ms(value)?.to_be_bytes(), out),
        (CqlType::Date, value) => {
            fixed((day(value)?.cast_unsigned() ^ 1 << 31).to_be_bytes(), out);
        }
        (CqlType::Time, value) => fixed(time_ns(value)?.to_be_bytes(), out),
        (CqlType::Varint, value) => write_measured(out, |out| varint(value, out))?,
        (CqlType::Decimal, value) => write_measured(out, |out| decimal(value, out))?,
        (CqlType::Uuid | CqlType::Timeuuid, value) => fixed(uuid(value)?, out),
        (CqlType::Inet, Bound::Text(text)) => {
            match std::str::from_utf8(text).ok()?.parse::<IpAddr>().ok()? {
                IpAddr::V4(address) => fixed(address.octets(), out),
                IpAddr::V6(address) => fixed(address.octets(), out),
            }
        }
        (CqlType::Duration, Bound::Text(text)) => {
            let text = std::str::from_utf8(text).ok()?;
            write_measured(out, |out| write_duration(text, out))?;
        }
        _ => return None,
    }
    Some(())
}

/// Appends bytes of a known length.
#[inline]
fn fixed<const N: usize>(bytes: [u8; N], out: &mut Vec<u8>) {
    write_length(N, out);
    out.extend_from_slice(&bytes);
}

fn text(value: Bound<'_>) -> Option<&str> {
    match value {
        Bound::Text(text) => std::str::from_utf8(text).ok(),
        _ => None,
    }
}

#[inline]
fn whole(value: Bound<'_>) -> Option<i64> {
    match value {
        Bound::Int(number) => Some(number),
        Bound::Bool(truth) => Some(truth.into()),
        Bound::Decimal(decimal) => decimal.whole(),
        #[expect(clippy::cast_possible_truncation, reason = "the range is checked")]
        #[expect(clippy::cast_precision_loss, reason = "a bound of the range")]
        Bound::Double(number) => {
            let is_whole = number.trunc() == number && number.abs() < i64::MAX as f64;
            is_whole.then_some(number as i64)
        }
        other => text(other)?.parse().ok(),
    }
}

#[expect(clippy::cast_precision_loss, reason = "as SQL converts")]
fn double(value: Bound<'_>) -> Option<f64> {
    match value {
        Bound::Double(number) => Some(number),
        Bound::Int(number) => Some(number as f64),
        Bound::Decimal(decimal) => Some(decimal.double()),
        other => text(other)?.parse().ok(),
    }
}

fn truth(value: Bound<'_>) -> Option<bool> {
    match value {
        Bound::Bool(truth) => Some(truth),
        Bound::Int(0) => Some(false),
        Bound::Int(1) => Some(true),
        other => match text(other)? {
            "0" | "f" | "false" | "FALSE" => Some(false),
            "1" | "t" | "true" | "TRUE" => Some(true),
            _ => None,
        },
    }
}

fn moment_ms(value: Bound<'_>) -> Option<i64> {
    match value {
        Bound::Timestamp(us) => Some(us.div_euclid(1000)),
        Bound::Date(days) => Some(i64::from(days) * DAY_MS),
        Bound::Int(ms) => Some(ms),
        other => {
            let text = text(other)?;
            let text = text.strip_suffix('Z').unwrap_or(text);
            Some(parse_timestamp(text.as_bytes())?.div_euclid(1000))
        }
    }
}

fn day(value: Bound<'_>) -> Option<i32> {
    match value {
        Bound::Date(days) => Some(days),
        Bound::Timestamp(us) => i32::try_from(us.div_euclid(DAY_US)).ok(),
        Bound::Int(days) => i32::try_from(days).ok(),
        other => parse_date(text(other)?.as_bytes()),
    }
}

fn time_ns(value: Bound<'_>) -> Option<i64> {
    match value {
        Bound::Time(us) => us.checked_mul(1000),
        Bound::Int(ns) => Some(ns),
        other => Some(parse_time(text(other)?.as_bytes())? * 1000),
    }
}

fn varint(value: Bound<'_>, out: &mut Vec<u8>) -> Option<()> {
    match whole(value) {
        Some(number) => {
            write_number(number.into(), out);
            Some(())
        }
        None => write_text_number(text(value)?, out),
    }
}

fn decimal(value: Bound<'_>, out: &mut Vec<u8>) -> Option<()> {
    let (digits, scale) = match value {
        Bound::Int(number) => (number.into(), 0),
        Bound::Decimal(decimal) => (decimal.digits(), decimal.scale()),
        Bound::Double(number) if number.is_finite() => {
            return write_text_decimal(&number.to_string(), out);
        }
        other => return write_text_decimal(text(other)?, out),
    };
    out.extend_from_slice(&i32::from(scale).to_be_bytes());
    write_number(digits, out);
    Some(())
}

/// 32 hexadecimal digits, with hyphens anywhere, or the bytes.
fn uuid(value: Bound<'_>) -> Option<[u8; 16]> {
    if let Bound::Bytes(bytes) = value {
        return bytes.try_into().ok();
    }
    let text = text(value)?;
    if text.len() > 36 {
        return None;
    }
    let mut number = 0_u128;
    let mut count = 0;
    for letter in text.chars().filter(|&letter| letter != '-') {
        number = number << 4 | u128::from(letter.to_digit(16)?);
        count += 1;
    }
    (count == 32).then(|| number.to_be_bytes())
}

/// None where the text is no duration, or more than the protocol can hold.
fn write_duration(text: &str, out: &mut Vec<u8>) -> Option<()> {
    let (is_negative, mut rest) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    if rest.is_empty() {
        return None;
    }
    let mut parts = [0_i64; 3];
    while !rest.is_empty() {
        let digits = rest.find(|letter: char| !letter.is_ascii_digit())?;
        let (number, behind) = rest.split_at(digits);
        let unit_bytes = behind
            .find(|letter: char| letter.is_ascii_digit())
            .unwrap_or(behind.len());
        let (unit, behind) = behind.split_at(unit_bytes);
        let (place, factor) = unit_of(unit)?;
        let amount = number.parse::<i64>().ok()?.checked_mul(factor)?;
        parts[place] = parts[place].checked_add(amount)?;
        rest = behind;
    }
    i32::try_from(parts[0]).ok()?;
    i32::try_from(parts[1]).ok()?;
    for part in parts {
        write_vint(if is_negative { -part } else { part }, out);
    }
    Some(())
}

/// Which of the three numbers a unit belongs to, and how many of its own it is.
fn unit_of(unit: &str) -> Option<(usize, i64)> {
    Some(match unit.to_lowercase().as_str() {
        "y" => (0, 12),
        "mo" => (0, 1),
        "w" => (1, 7),
        "d" => (1, 1),
        "h" => (2, 3_600_000_000_000),
        "m" => (2, 60_000_000_000),
        "s" => (2, 1_000_000_000),
        "ms" => (2, 1_000_000),
        "us" | "µs" => (2, 1000),
        "ns" => (2, 1),
        _ => return None,
    })
}

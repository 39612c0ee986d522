//! Takes the values of a statement, and the columns that it was prepared for; appends them as the protocol sends
//! them.

use std::borrow::Cow;

use assay_values::Value;
use serde_json::Value as Json;

use crate::cassandra::client::bind_scalar;
use crate::cassandra::client::bound::{Bound, write_text};
use crate::cassandra::shared::cql_type::{Column, CqlType};
use crate::cassandra::shared::scan::write_length;
use crate::measured::write_measured;
use crate::{ErrorClass, SystemError};

/// Appends the number of values, then each.
///
/// # Errors
/// Where there are more or fewer than the statement has, or one cannot become the type of its column.
#[inline]
pub(crate) fn write_all<'a>(
    columns: &[Column],
    values: impl ExactSizeIterator<Item = Bound<'a>>,
    out: &mut Vec<u8>,
) -> Result<(), SystemError> {
    if values.len() != columns.len() {
        return Err(wrong_count(columns.len(), values.len()));
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
fn wrong_count(expected: usize, found: usize) -> SystemError {
    let message = format!("the statement has {expected} values, {found} were given");
    SystemError::new(ErrorClass::Data, "", message)
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
            bind_scalar::write(kind, Bound::Text(&json), out)
        }
        Bound::Text(text) if holds_several(kind) => {
            write_json(kind, &serde_json::from_slice(text).ok()?, out)
        }
        value => bind_scalar::write(kind, value, out),
    }
}

fn write_json(kind: &CqlType, json: &Json, out: &mut Vec<u8>) -> Option<()> {
    match (kind, json) {
        (_, Json::Null) => bind_scalar::write(kind, Bound::Null, out),
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
        (_, Json::Bool(truth)) => bind_scalar::write(kind, Bound::Bool(*truth), out),
        (_, Json::String(text)) => bind_scalar::write(kind, Bound::Text(text.as_bytes()), out),
        (_, Json::Number(number)) => match number.as_i64() {
            Some(number) => bind_scalar::write(kind, Bound::Int(number), out),
            // Its digits, so that a decimal stays what it is.
            None => {
                let digits = number.to_string();
                bind_scalar::write(kind, Bound::Text(digits.as_bytes()), out)
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

//! Takes a value, and its column's type; appends the value as the protocol sends it. For a type that holds
//! several values that is JSON, or a list of a script.

use assay_values::Value;
use serde_json::Value as Json;

use super::bind_scalar;
use super::bound::Bound;
use super::cql_type::CqlType;
use super::scan::write_length;
use crate::measured::write_measured;

/// Appends one value with its length; none where it cannot become the type.
#[inline]
pub(super) fn write(kind: &CqlType, value: Bound<'_>, out: &mut Vec<u8>) -> Option<()> {
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

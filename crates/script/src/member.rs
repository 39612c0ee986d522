//! Takes a document or a list, and a key or an index; returns the member there, as a value of a script.

use crate::number::{Fault, plain, shown};
use assay_values::Value;
use assay_values::json::of_json;
use serde_json::Value as Json;

/// The member: NULL where there is none. An index counts from 0, a negative one from the end. A text is read as JSON:
/// some systems have no other type for it.
pub(crate) fn member(of: &Value, key: &Value) -> Result<Value, Fault> {
    match of {
        Value::List(values) => Ok(match key {
            Value::Int(index) => {
                place(*index, values.len()).map_or(Value::Null, |place| values[place].clone())
            }
            _ => Value::Null,
        }),
        Value::Document(text) | Value::Text(text) => {
            let json: Json = serde_json::from_str(text).map_err(|_| expected(of))?;
            Ok(match (&json, key) {
                (Json::Array(values), Value::Int(index)) => {
                    place(*index, values.len()).map_or(Value::Null, |place| of_json(&values[place]))
                }
                (Json::Object(fields), key) => {
                    fields.get(&*plain(key)).map_or(Value::Null, of_json)
                }
                _ => Value::Null,
            })
        }
        _ => Err(expected(of)),
    }
}

fn expected(found: &Value) -> Fault {
    Fault::of(format!(
        "expected a document or a list before ->, found {}",
        shown(found)
    ))
}

fn place(index: i64, count: usize) -> Option<usize> {
    let count = i64::try_from(count).ok()?;
    let place = if index < 0 { index + count } else { index };
    usize::try_from(place).ok().filter(|_| place < count)
}

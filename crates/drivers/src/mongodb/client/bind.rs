//! Takes a value of a script, or a cell of a load; appends it as an element of BSON by its own type, or by the
//! type that the statement or the table's column asks for.
//!
//! A time of day has no type in BSON and is a text. Dates and timestamps are BSON dates, which have
//! milliseconds: what is finer is cut off.

use assay_values::{Cell, ColumnType, Decimal, Value, write_double};

use crate::mongodb::client::extended;
use crate::mongodb::client::extended::{SlotType, moment_ms, object_id, write_int};
use crate::mongodb::scan::{kind, subtype};
use crate::mongodb::{decimal128, write};

const DAY_MS: i64 = 86_400_000;

/// Appends an element; none where the value cannot become the type.
#[inline]
pub(crate) fn value(
    name: &[u8],
    value: &Value,
    slot_type: SlotType,
    out: &mut Vec<u8>,
) -> Option<()> {
    match (slot_type, value) {
        (SlotType::Own, value) => own(name, value, out),
        (_, Value::Null) => {
            write::head(kind::NULL, name, out);
            Some(())
        }
        (SlotType::Int32, value) => {
            let number = i32::try_from(whole(value)?).ok()?;
            fixed(kind::INT32, name, &number.to_le_bytes(), out)
        }
        (SlotType::Int64, value) => fixed(kind::INT64, name, &whole(value)?.to_le_bytes(), out),
        (SlotType::Double, value) => fixed(kind::DOUBLE, name, &double(value)?.to_le_bytes(), out),
        (SlotType::Decimal128, value) => fixed(kind::DECIMAL128, name, &decimal(value)?, out),
        (SlotType::Date, value) => fixed(kind::DATE, name, &date_ms(value)?.to_le_bytes(), out),
        (SlotType::ObjectId, Value::Text(text)) => {
            fixed(kind::OBJECT_ID, name, &object_id(text)?, out)
        }
        (SlotType::ObjectId, _) => None,
    }
}

#[inline]
fn own(name: &[u8], value: &Value, out: &mut Vec<u8>) -> Option<()> {
    match value {
        Value::Null => write::head(kind::NULL, name, out),
        Value::Bool(truth) => return fixed(kind::BOOL, name, &[u8::from(*truth)], out),
        Value::Int(number) => write_int(name, *number, out),
        Value::Double(number) => return fixed(kind::DOUBLE, name, &number.to_le_bytes(), out),
        Value::Text(text) => string(name, text.as_bytes(), out),
        Value::Bytes(bytes) => {
            write::head(kind::BINARY, name, out);
            write::binary(subtype::GENERIC, bytes, out);
        }
        Value::Decimal(decimal) => {
            let bytes = decimal128::of_decimal(*decimal)?;
            return fixed(kind::DECIMAL128, name, &bytes, out);
        }
        Value::Date(_) | Value::Timestamp(_) => {
            return fixed(kind::DATE, name, &date_ms(value)?.to_le_bytes(), out);
        }
        Value::Time(_) => {
            write::head(kind::STRING, name, out);
            let start = write::begin(out);
            value.write_text(out);
            out.push(0);
            let length = i32::try_from(out.len() - start - 4).ok()?;
            out[start..start + 4].copy_from_slice(&length.to_le_bytes());
        }
        Value::List(values) => {
            write::head(kind::ARRAY, name, out);
            extended::write_array(values.iter(), out, |name, value, out| {
                own(name, value, out).ok_or(())
            })
            .ok()?;
        }
        Value::Document(text) => {
            let json = extended::json_of_text(text)?;
            extended::write_element(name, &json, out).ok()?;
        }
    }
    Some(())
}

/// Appends a cell of a load by the type of its column; none where it cannot become the type.
#[inline]
pub(crate) fn cell(
    name: &[u8],
    cell: Cell<'_>,
    column_type: Option<ColumnType>,
    out: &mut Vec<u8>,
) -> Option<()> {
    let text = match (cell, column_type) {
        (Cell::Null, _) => {
            write::head(kind::NULL, name, out);
            return Some(());
        }
        (Cell::Text(text), Some(ColumnType::Json | ColumnType::Array(_))) => {
            let json = extended::json_of_text(std::str::from_utf8(text).ok()?)?;
            return extended::write_element(name, &json, out).ok();
        }
        (Cell::Bool(truth), _) => return fixed(kind::BOOL, name, &[u8::from(truth)], out),
        (Cell::Int(number), Some(ColumnType::BigInt)) => {
            return fixed(kind::INT64, name, &number.to_le_bytes(), out);
        }
        (Cell::Int(number), Some(ColumnType::Bool)) => {
            return fixed(kind::BOOL, name, &[u8::from(number != 0)], out);
        }
        #[expect(clippy::cast_precision_loss, reason = "as SQL converts")]
        (Cell::Int(number), Some(ColumnType::Double | ColumnType::Float)) => {
            return fixed(kind::DOUBLE, name, &(number as f64).to_le_bytes(), out);
        }
        (Cell::Int(number), Some(ColumnType::Decimal { .. })) => {
            let decimal = Decimal::new(number.into(), 0)?;
            return fixed(kind::DECIMAL128, name, &decimal128::of_decimal(decimal)?, out);
        }
        (Cell::Int(number), Some(kind)) if is_text(kind) => {
            return own(name, &Value::Text(number.to_string().into()), out);
        }
        (Cell::Int(number), _) => {
            write_int(name, number, out);
            return Some(());
        }
        (Cell::Double(number), Some(ColumnType::Decimal { .. })) => {
            let decimal = Decimal::try_from(number).ok()?;
            return fixed(kind::DECIMAL128, name, &decimal128::of_decimal(decimal)?, out);
        }
        (Cell::Double(number), Some(kind)) if is_text(kind) => {
            let mut text = Vec::new();
            write_double(number, &mut text);
            string(name, &text, out);
            return Some(());
        }
        (Cell::Double(number), _) => {
            return fixed(kind::DOUBLE, name, &number.to_le_bytes(), out);
        }
        (Cell::Text(text), _) => text,
    };
    let number = || std::str::from_utf8(text).ok()?.parse::<i64>().ok();
    match column_type {
        Some(ColumnType::SmallInt | ColumnType::Int) => write_int(name, number()?, out),
        Some(ColumnType::BigInt) => {
            return fixed(kind::INT64, name, &number()?.to_le_bytes(), out);
        }
        Some(ColumnType::Decimal { .. }) => {
            let bytes = decimal128::of_text(std::str::from_utf8(text).ok()?)?;
            return fixed(kind::DECIMAL128, name, &bytes, out);
        }
        Some(ColumnType::Float | ColumnType::Double) => {
            let number: f64 = std::str::from_utf8(text).ok()?.parse().ok()?;
            return fixed(kind::DOUBLE, name, &number.to_le_bytes(), out);
        }
        Some(ColumnType::Bool) => {
            let truth = match text {
                b"t" | b"true" | b"1" => true,
                b"f" | b"false" | b"0" => false,
                _ => return None,
            };
            return fixed(kind::BOOL, name, &[u8::from(truth)], out);
        }
        Some(ColumnType::Date | ColumnType::Timestamp) => {
            return fixed(kind::DATE, name, &moment_ms(text)?.to_le_bytes(), out);
        }
        Some(ColumnType::Bytes) => {
            write::head(kind::BINARY, name, out);
            write::binary(subtype::GENERIC, text, out);
        }
        Some(_) | None => {
            std::str::from_utf8(text).ok()?;
            string(name, text, out);
        }
    }
    Some(())
}

fn is_text(column_type: ColumnType) -> bool {
    matches!(column_type, ColumnType::Char(_) | ColumnType::Varchar(_) | ColumnType::Text)
}

#[inline]
fn fixed(kind: u8, name: &[u8], bytes: &[u8], out: &mut Vec<u8>) -> Option<()> {
    write::head(kind, name, out);
    out.extend_from_slice(bytes);
    Some(())
}

#[inline]
fn string(name: &[u8], text: &[u8], out: &mut Vec<u8>) {
    write::head(kind::STRING, name, out);
    write::text(text, out);
}

fn whole(value: &Value) -> Option<i64> {
    match value {
        Value::Int(number) => Some(*number),
        Value::Bool(truth) => Some(i64::from(*truth)),
        Value::Decimal(decimal) => decimal.whole(),
        Value::Text(text) => text.parse().ok(),
        #[expect(clippy::cast_possible_truncation, reason = "the range is checked")]
        #[expect(clippy::cast_precision_loss, reason = "a bound of the range")]
        Value::Double(number) => {
            let is_whole = number.trunc() == *number && number.abs() < i64::MAX as f64;
            is_whole.then_some(*number as i64)
        }
        _ => None,
    }
}

#[expect(clippy::cast_precision_loss, reason = "as SQL converts")]
fn double(value: &Value) -> Option<f64> {
    match value {
        Value::Double(number) => Some(*number),
        Value::Int(number) => Some(*number as f64),
        Value::Decimal(decimal) => Some(decimal.double()),
        Value::Text(text) => text.parse().ok(),
        _ => None,
    }
}

fn decimal(value: &Value) -> Option<[u8; 16]> {
    match value {
        Value::Decimal(decimal) => decimal128::of_decimal(*decimal),
        Value::Int(number) => decimal128::of_decimal(Decimal::new((*number).into(), 0)?),
        Value::Double(number) => decimal128::of_text(&number.to_string()),
        Value::Text(text) => decimal128::of_text(text),
        _ => None,
    }
}

fn date_ms(value: &Value) -> Option<i64> {
    match value {
        Value::Date(days) => Some(i64::from(*days) * DAY_MS),
        Value::Timestamp(us) => Some(us.div_euclid(1000)),
        Value::Int(ms) => Some(*ms),
        Value::Text(text) => moment_ms(text.as_bytes()),
        _ => None,
    }
}

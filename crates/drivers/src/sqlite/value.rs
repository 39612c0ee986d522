//! Takes the pieces and the values of a statement, and the declared types of columns; returns the library's SQL
//! text, binds the values, and returns cell types.

use assay_values::{CellType, Piece, Value};
use rusqlite::Statement;
use rusqlite::types::{Null, ToSqlOutput, ValueRef};

/// The text with `?1`, `?2` … for the values.
pub(super) fn spelled(pieces: &[Piece]) -> String {
    Piece::join(pieces, |number, text| {
        text.push('?');
        text.push_str(&(number + 1).to_string());
    })
}

/// The cell type of a column, by its declared type, which the library does not enforce.
pub(super) fn cell_type(declared: &str) -> CellType {
    let word = declared.split(['(', ' ']).next().unwrap_or_default();
    let types = [
        ("blob", CellType::Bytes),
        ("decimal", CellType::Decimal),
        ("numeric", CellType::Decimal),
        ("date", CellType::Date),
        ("time", CellType::Time),
        ("timestamp", CellType::Timestamp),
        ("datetime", CellType::Timestamp),
        ("json", CellType::Document),
    ];
    let found = types
        .iter()
        .find(|(name, _)| word.eq_ignore_ascii_case(name));
    found.map_or(CellType::Plain, |&(_, cell_type)| cell_type)
}

/// Binds one parameter, counted from 1. Booleans are 1 and 0, as the library has no boolean type.
pub(super) fn bind(
    statement: &mut Statement<'_>,
    index: usize,
    value: &Value,
) -> rusqlite::Result<()> {
    match value {
        Value::Null => statement.raw_bind_parameter(index, Null),
        Value::Bool(truth) => statement.raw_bind_parameter(index, truth),
        Value::Int(integer) => statement.raw_bind_parameter(index, integer),
        Value::Double(real) => statement.raw_bind_parameter(index, real),
        Value::Text(text) => {
            let text = ToSqlOutput::Borrowed(ValueRef::Text(text.as_bytes()));
            statement.raw_bind_parameter(index, text)
        }
        Value::Bytes(bytes) => {
            statement.raw_bind_parameter(index, ToSqlOutput::Borrowed(ValueRef::Blob(bytes)))
        }
        // The library has no decimals: bound like a literal of these digits.
        Value::Decimal(decimal) => match decimal.whole() {
            Some(integer) if decimal.scale() == 0 => statement.raw_bind_parameter(index, integer),
            _ => statement.raw_bind_parameter(index, decimal.double()),
        },
        other => statement.raw_bind_parameter(index, other.to_text()),
    }
}

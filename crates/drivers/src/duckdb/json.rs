//! Takes a list, array, struct, map or union of a vector; appends it as JSON.
//!
//! A map is an array of pairs, because its keys may be of any type. A union is the value of its member.

use assay_values::write_json_string;

use crate::duckdb::column::ColumnKind;
use crate::duckdb::data_chunk::Vector;
use crate::duckdb::interface::{ListEntry, type_id as t};
use crate::duckdb::scalar;

/// Appends a value, which may be NULL.
fn value(kind: &ColumnKind, vector: &Vector, row: usize, out: &mut Vec<u8>) {
    if vector.is_null(row) {
        return out.extend_from_slice(b"null");
    }
    match kind {
        ColumnKind::Scalar(t::BOOLEAN) => {
            let truth = vector.value::<u8>(row) != 0;
            out.extend_from_slice(if truth { b"true" } else { b"false" });
        }
        ColumnKind::Scalar(
            t::TINYINT
            | t::SMALLINT
            | t::INTEGER
            | t::BIGINT
            | t::UTINYINT
            | t::USMALLINT
            | t::UINTEGER
            | t::UBIGINT
            | t::HUGEINT
            | t::UHUGEINT,
        )
        | ColumnKind::Decimal { .. } => scalar::write(kind, vector, row, out),
        ColumnKind::Scalar(t::FLOAT) if vector.value::<f32>(row).is_finite() => {
            scalar::write(kind, vector, row, out);
        }
        ColumnKind::Scalar(t::DOUBLE) if vector.value::<f64>(row).is_finite() => {
            scalar::write(kind, vector, row, out);
        }
        ColumnKind::Scalar(_) | ColumnKind::Enum { .. } => {
            let mut text = Vec::new();
            scalar::write(kind, vector, row, &mut text);
            write_json_string(&String::from_utf8_lossy(&text), out);
        }
        _ => write(kind, vector, row, out),
    }
}

/// Appends a nested value that is not NULL.
pub(super) fn write(kind: &ColumnKind, vector: &Vector, row: usize, out: &mut Vec<u8>) {
    match kind {
        ColumnKind::List(element) => {
            let child = vector.of_list();
            elements(list(vector, row), out, |place, out| {
                value(element, &child, place, out);
            });
        }
        ColumnKind::Array(element, size) => {
            let child = vector.of_array();
            elements(row * size..(row + 1) * size, out, |place, out| {
                value(element, &child, place, out);
            });
        }
        ColumnKind::Map(pair) => {
            let entries = vector.of_list();
            let (keys, values) = (entries.of_struct(0), entries.of_struct(1));
            elements(list(vector, row), out, |place, out| {
                out.push(b'[');
                value(&pair.0, &keys, place, out);
                out.push(b',');
                value(&pair.1, &values, place, out);
                out.push(b']');
            });
        }
        ColumnKind::Struct(fields) => {
            out.push(b'{');
            for (number, (name, field)) in fields.iter().enumerate() {
                if number > 0 {
                    out.push(b',');
                }
                write_json_string(name, out);
                out.push(b':');
                value(field, &vector.of_struct(number), row, out);
            }
            out.push(b'}');
        }
        ColumnKind::Union(members) => {
            let number = usize::from(vector.of_struct(0).value::<u8>(row));
            match members.get(number) {
                Some((_, member)) => value(member, &vector.of_struct(number + 1), row, out),
                None => out.extend_from_slice(b"null"),
            }
        }
        ColumnKind::Scalar(_) | ColumnKind::Decimal { .. } | ColumnKind::Enum { .. } => {
            value(kind, vector, row, out);
        }
    }
}

fn list(vector: &Vector, row: usize) -> std::ops::Range<usize> {
    let entry = vector.value::<ListEntry>(row);
    let offset = usize::try_from(entry.offset).expect("an offset in memory");
    let length = usize::try_from(entry.length).expect("a length in memory");
    offset..offset + length
}

fn elements(
    places: std::ops::Range<usize>,
    out: &mut Vec<u8>,
    mut write: impl FnMut(usize, &mut Vec<u8>),
) {
    out.push(b'[');
    for (number, place) in places.enumerate() {
        if number > 0 {
            out.push(b',');
        }
        write(place, out);
    }
    out.push(b']');
}

//! Takes the rows of a result; gives their cells to the answer as text, scanned in place.
//!
//! A list, a set, a tuple and a vector are JSON arrays; a map and a type of the user's own are JSON objects.
//! A duration is written as CQL does: `1mo2d3ns`.

use std::io::Write as _;
use std::net::{Ipv4Addr, Ipv6Addr};

use assay_values::calendar::{write_date, write_timestamp, write_two_digits};
use assay_values::{CellType, Value, write_double, write_int, write_json_string, write_uuid};

use crate::Answer;
use crate::cassandra::client::varint::{read_vint, write_decimal, write_digits};
use crate::cassandra::cql_type::{Column, CqlType};
use crate::cassandra::notation::rows_flag as flag;
use crate::scan::Scan;

/// Behind the head of the rows: how many there are, then each cell with its length. `text` is memory to write
/// numbers into.
#[inline]
pub(crate) fn read(
    mut scan: Scan<'_>,
    head: &RowsHead<'_>,
    columns: &[Column],
    text: &mut Vec<u8>,
    answer: &mut Answer,
) -> Option<()> {
    let count = scan.count()?;
    // Each cell has at least its length: a count is not believed that the bytes cannot hold.
    let least_bytes = count.checked_mul(head.columns)?.checked_mul(4)?;
    if least_bytes > scan.0.len() || (count > 0 && head.columns == 0) {
        return None;
    }
    if !answer.wants_cells() {
        answer.rows += count as u64;
        return Some(());
    }
    if columns.len() != head.columns {
        return None;
    }
    for _ in 0..count {
        answer.begin_row();
        for column in columns {
            match scan.bytes()? {
                None => answer.cell(None),
                Some(bytes) => answer.cell(Some(cell_text(&column.kind, bytes, text)?)),
            }
        }
        answer.end_row();
    }
    Some(())
}

/// Gives the answer the names of its columns.
pub(crate) fn name_columns(columns: &[Column], answer: &mut Answer) {
    if answer.wants_columns() && answer.columns.is_empty() {
        for column in columns {
            answer.typed_column(&column.name, cell_type(&column.kind));
        }
    }
}

/// What stands before the rows.
pub(crate) struct RowsHead<'a> {
    pub(crate) columns: usize,
    /// More rows are fetched by sending this back.
    pub(crate) paging_state: Option<&'a [u8]>,
    /// The columns of the statement have changed since it was prepared: their new id.
    pub(crate) new_id: Option<&'a [u8]>,
}

impl<'a> RowsHead<'a> {
    /// Where the columns are described, they replace those of `columns`.
    #[inline]
    pub(crate) fn read(scan: &mut Scan<'a>, columns: &mut Vec<Column>) -> Option<Self> {
        let flags = scan.i32_be()?;
        let count = scan.count()?;
        let paging_state = match flags & flag::HAS_MORE_PAGES {
            0 => None,
            _ => scan.bytes()?,
        };
        let new_id = match flags & flag::METADATA_CHANGED {
            0 => None,
            _ => Some(scan.short_bytes()?),
        };
        if flags & flag::NO_METADATA == 0 {
            let is_of_one_table = flags & flag::GLOBAL_TABLE != 0;
            Column::read_all(scan, count, is_of_one_table, columns)?;
        }
        Some(Self {
            columns: count,
            paging_state,
            new_id,
        })
    }
}

/// A statement as the server has prepared it.
#[derive(Debug, Default)]
pub(crate) struct Prepared {
    pub(crate) id: Box<[u8]>,
    /// Of the description of its rows; empty before version 5.
    pub(crate) rows_id: Box<[u8]>,
    pub(crate) parameters: Vec<Column>,
    /// Of its rows; none where it gives none.
    pub(crate) columns: Vec<Column>,
}

impl Prepared {
    pub(crate) fn read(mut scan: Scan<'_>, is_v5: bool) -> Option<Self> {
        let scan = &mut scan;
        let id = scan.short_bytes()?.into();
        let rows_id = match is_v5 {
            true => scan.short_bytes()?.into(),
            false => Box::default(),
        };
        let (flags, count) = (scan.i32_be()?, scan.count()?);
        let key_columns = scan.count()?;
        scan.take(key_columns.checked_mul(2)?)?;
        let mut prepared = Self {
            id,
            rows_id,
            ..Self::default()
        };
        let is_of_one_table = flags & flag::GLOBAL_TABLE != 0;
        Column::read_all(scan, count, is_of_one_table, &mut prepared.parameters)?;
        RowsHead::read(scan, &mut prepared.columns)?;
        Some(prepared)
    }
}

const DAY_NS: i64 = 86_400_000_000_000;
const SECOND_NS: i64 = 1_000_000_000;

/// What the engine knows of a column.
pub(crate) fn cell_type(kind: &CqlType) -> CellType {
    match kind {
        CqlType::Blob | CqlType::Custom(_) => CellType::Bytes,
        CqlType::Decimal => CellType::Decimal,
        CqlType::Date => CellType::Date,
        CqlType::Time => CellType::Time,
        CqlType::Timestamp => CellType::Timestamp,
        CqlType::List(_) | CqlType::Set(_) | CqlType::Tuple(_) | CqlType::FloatVector(_) => {
            CellType::List
        }
        CqlType::Map(..) | CqlType::Udt(..) => CellType::Document,
        _ => CellType::Plain,
    }
}

/// The text of a value: the bytes themselves, or written to `scratch`. None if they are not of the type.
#[inline]
pub(crate) fn cell_text<'a>(
    kind: &CqlType,
    bytes: &'a [u8],
    scratch: &'a mut Vec<u8>,
) -> Option<&'a [u8]> {
    match kind {
        CqlType::Varchar | CqlType::Ascii | CqlType::Blob | CqlType::Custom(_) => Some(bytes),
        _ => {
            scratch.clear();
            write(kind, bytes, scratch)?;
            Some(scratch)
        }
    }
}

fn write(kind: &CqlType, bytes: &[u8], out: &mut Vec<u8>) -> Option<()> {
    // "Empty", which is not NULL: a relic that most types still allow.
    if bytes.is_empty() {
        return Some(());
    }
    match kind {
        CqlType::Varchar | CqlType::Ascii | CqlType::Blob | CqlType::Custom(_) => {
            out.extend_from_slice(bytes);
        }
        CqlType::Bigint | CqlType::Counter => write_int(long(bytes)?, out),
        CqlType::Int => write_int(i32::from_be_bytes(bytes.try_into().ok()?).into(), out),
        CqlType::Smallint => write_int(i16::from_be_bytes(bytes.try_into().ok()?).into(), out),
        CqlType::Tinyint => write_int(i8::from_be_bytes(bytes.try_into().ok()?).into(), out),
        CqlType::Varint => write_digits(bytes, out)?,
        CqlType::Decimal => {
            let (scale, unscaled) = bytes.split_first_chunk::<4>()?;
            write_decimal(i32::from_be_bytes(*scale), unscaled, out)?;
        }
        CqlType::Double => write_double(f64::from_be_bytes(bytes.try_into().ok()?), out),
        CqlType::Float => write_float(f32::from_be_bytes(bytes.try_into().ok()?), out),
        CqlType::Boolean => {
            let word: &[u8] = if bytes == [0] { b"false" } else { b"true" };
            out.extend_from_slice(word);
        }
        CqlType::Date => {
            let days = u32::from_be_bytes(bytes.try_into().ok()?) ^ 1 << 31;
            write_date(days.cast_signed(), out);
        }
        CqlType::Timestamp => {
            let ms = long(bytes)?;
            match ms.checked_mul(1000) {
                Some(us) => write_timestamp(us, out),
                None => write_int(ms, out),
            }
        }
        CqlType::Time => write_time(long(bytes)?, out)?,
        CqlType::Uuid | CqlType::Timeuuid => write_uuid(bytes.try_into().ok()?, out),
        CqlType::Inet => write_address(bytes, out)?,
        CqlType::Duration => write_duration(bytes, out)?,
        CqlType::List(_)
        | CqlType::Set(_)
        | CqlType::Map(..)
        | CqlType::Udt(..)
        | CqlType::Tuple(_)
        | CqlType::FloatVector(_) => write_json(kind, bytes, out)?,
    }
    Some(())
}

/// The value as JSON, within a list or another collection.
fn write_json(kind: &CqlType, bytes: &[u8], out: &mut Vec<u8>) -> Option<()> {
    let mut scan = Scan(bytes);
    match kind {
        CqlType::List(part) | CqlType::Set(part) => {
            let count = scan.count()?;
            write_array((0..count).map(|_| Some((&**part, scan.bytes()?))), out)
        }
        CqlType::Tuple(parts) => {
            // Those that were added to the type later are left out.
            let known = parts
                .iter()
                .map_while(|part| (!scan.0.is_empty()).then(|| Some((part, scan.bytes()?))));
            write_array(known, out)
        }
        CqlType::FloatVector(length) => {
            let parts = (0..*length).map(|_| Some((&CqlType::Float, Some(scan.take(4)?))));
            write_array(parts, out)
        }
        CqlType::Map(key, value) => {
            out.push(b'{');
            for number in 0..scan.count()? {
                if number > 0 {
                    out.push(b',');
                }
                let name = scan.bytes()?;
                write_key(key, name, out)?;
                write_part(value, scan.bytes()?, out)?;
            }
            out.push(b'}');
            Some(())
        }
        CqlType::Udt(_, fields) => {
            out.push(b'{');
            for (number, (name, part)) in fields.iter().enumerate() {
                if number > 0 {
                    out.push(b',');
                }
                write_json_string(name, out);
                out.push(b':');
                // A value may be older than the last fields of its type.
                let value = if scan.0.is_empty() {
                    None
                } else {
                    scan.bytes()?
                };
                write_part(part, value, out)?;
            }
            out.push(b'}');
            Some(())
        }
        _ => write_part(kind, Some(bytes), out),
    }
}

fn write_array<'a>(
    parts: impl Iterator<Item = Option<(&'a CqlType, Option<&'a [u8]>)>>,
    out: &mut Vec<u8>,
) -> Option<()> {
    out.push(b'[');
    for (number, part) in parts.enumerate() {
        if number > 0 {
            out.push(b',');
        }
        let (kind, bytes) = part?;
        write_part(kind, bytes, out)?;
    }
    out.push(b']');
    Some(())
}

fn write_key(kind: &CqlType, bytes: Option<&[u8]>, out: &mut Vec<u8>) -> Option<()> {
    let mut text = Vec::new();
    write(kind, bytes?, &mut text)?;
    write_json_string(&String::from_utf8_lossy(&text), out);
    out.push(b':');
    Some(())
}

fn write_part(kind: &CqlType, bytes: Option<&[u8]>, out: &mut Vec<u8>) -> Option<()> {
    let Some(bytes) = bytes else {
        out.extend_from_slice(b"null");
        return Some(());
    };
    match kind {
        CqlType::List(_)
        | CqlType::Set(_)
        | CqlType::Map(..)
        | CqlType::Udt(..)
        | CqlType::Tuple(_)
        | CqlType::FloatVector(_) => write_json(kind, bytes, out)?,
        CqlType::Blob | CqlType::Custom(_) => Value::Bytes(bytes.into()).write_json(out),
        CqlType::Double => {
            Value::Double(f64::from_be_bytes(bytes.try_into().ok()?)).write_json(out);
        }
        CqlType::Float if !is_finite(bytes) => out.extend_from_slice(b"null"),
        CqlType::Bigint
        | CqlType::Counter
        | CqlType::Int
        | CqlType::Smallint
        | CqlType::Tinyint
        | CqlType::Varint
        | CqlType::Decimal
        | CqlType::Float
        | CqlType::Boolean
            if !bytes.is_empty() =>
        {
            write(kind, bytes, out)?;
        }
        _ => {
            let mut text = Vec::new();
            write(kind, bytes, &mut text)?;
            write_json_string(&String::from_utf8_lossy(&text), out);
        }
    }
    Some(())
}

fn long(bytes: &[u8]) -> Option<i64> {
    bytes.try_into().ok().map(i64::from_be_bytes)
}

fn is_finite(bytes: &[u8]) -> bool {
    (bytes.try_into()).is_ok_and(|bytes| f32::from_be_bytes(bytes).is_finite())
}

fn write_float(number: f32, out: &mut Vec<u8>) {
    if number.is_finite() {
        // The fewest digits that say which of 32 bits it is.
        let _ = write!(out, "{number:?}");
        if out.ends_with(b".0") {
            out.truncate(out.len() - 2);
        }
    } else {
        write_double(number.into(), out);
    }
}

fn write_time(ns: i64, out: &mut Vec<u8>) -> Option<()> {
    if !(0..DAY_NS).contains(&ns) {
        return None;
    }
    let (seconds, fraction) = (ns / SECOND_NS, ns % SECOND_NS);
    write_two_digits(seconds / 3600, out);
    out.push(b':');
    write_two_digits(seconds / 60 % 60, out);
    out.push(b':');
    write_two_digits(seconds % 60, out);
    if fraction > 0 {
        write!(out, ".{fraction:09}").ok()?;
        while out.last() == Some(&b'0') {
            out.pop();
        }
    }
    Some(())
}

fn write_address(bytes: &[u8], out: &mut Vec<u8>) -> Option<()> {
    if let Ok(bytes) = <[u8; 4]>::try_from(bytes) {
        write!(out, "{}", Ipv4Addr::from(bytes)).ok()
    } else {
        let bytes = <[u8; 16]>::try_from(bytes).ok()?;
        write!(out, "{}", Ipv6Addr::from(bytes)).ok()
    }
}

fn write_duration(bytes: &[u8], out: &mut Vec<u8>) -> Option<()> {
    let mut scan = Scan(bytes);
    let parts = [read_vint(&mut scan)?, read_vint(&mut scan)?, read_vint(&mut scan)?];
    if parts.iter().any(|&part| part < 0) {
        out.push(b'-');
    }
    for (part, unit) in parts.into_iter().zip(["mo", "d", "ns"]) {
        if part != 0 {
            write!(out, "{}{unit}", part.unsigned_abs()).ok()?;
        }
    }
    if parts == [0; 3] {
        out.extend_from_slice(b"0ns");
    }
    Some(())
}

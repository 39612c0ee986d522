//! Takes a value as the protocol sends it, and its type; gives its text.
//!
//! A list, a set, a tuple and a vector are JSON arrays; a map and a type of the user's own are JSON objects.
//! A duration is written as CQL does: `1mo2d3ns`.

use std::io::Write as _;
use std::net::{Ipv4Addr, Ipv6Addr};

use assay_values::calendar::{write_date, write_timestamp, write_two_digits};
use assay_values::{CellType, Value, write_double, write_int, write_json_string};

use crate::cassandra::client::varint::{read_vint, write_decimal, write_digits};
use crate::cassandra::shared::cql_type::CqlType;
use crate::scan::Scan;

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
pub(crate) fn text<'a>(
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

fn write_uuid(bytes: [u8; 16], out: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    for (at, byte) in bytes.into_iter().enumerate() {
        if [4, 6, 8, 10].contains(&at) {
            out.push(b'-');
        }
        out.extend([byte >> 4, byte & 15].map(|half| DIGITS[usize::from(half)]));
    }
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
    let parts = [
        read_vint(&mut scan)?,
        read_vint(&mut scan)?,
        read_vint(&mut scan)?,
    ];
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

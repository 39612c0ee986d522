//! Takes a value of a vector; appends its text in the form that PostgreSQL gives the same value.
//!
//! Lists, arrays, structs, maps and unions are JSON. A map is an array of pairs, because its keys may be of any type. A
//! union is the value of its member.

use std::io::Write as _;

use assay_values::calendar::{write_date, write_time, write_timestamp, write_two_digits};
use assay_values::{Decimal, write_double, write_hex, write_int, write_json_string, write_uuid};

use crate::duckdb::column::ColumnKind;
use crate::duckdb::data_chunk::Vector;
use crate::duckdb::library::{ListEntry, RawInterval, type_id as t};

/// Bits of a `TIME WITH TIME ZONE` that hold its offset.
const OFFSET_BITS: u32 = 24;
/// The offset is kept as this minus the seconds, so that times sort by their instant.
const LARGEST_OFFSET_S: i64 = 15 * 3600 + 59 * 60 + 59;

/// Appends the text of a value that is neither NULL nor nested.
pub(super) fn write(kind: &ColumnKind, vector: &Vector, row: usize, out: &mut Vec<u8>) {
    match kind {
        ColumnKind::Scalar(id) => scalar(*id, vector, row, out),
        ColumnKind::Decimal { kept_as, scale } => {
            let digits = match *kept_as {
                t::SMALLINT => vector.value::<i16>(row).into(),
                t::INTEGER => vector.value::<i32>(row).into(),
                t::BIGINT => vector.value::<i64>(row).into(),
                _ => vector.value::<i128>(row),
            };
            if let Some(decimal) = Decimal::new(digits, *scale) {
                decimal.write_text(out);
            }
        }
        ColumnKind::Enum { kept_as, words } => {
            let number = match *kept_as {
                t::UTINYINT => vector.value::<u8>(row).into(),
                t::USMALLINT => vector.value::<u16>(row).into(),
                _ => vector.value::<u32>(row),
            };
            let word = words.get(number as usize).map_or("", String::as_str);
            out.extend_from_slice(word.as_bytes());
        }
        // Nested values, which are JSON.
        _ => {}
    }
}

fn scalar(id: u32, vector: &Vector, row: usize, out: &mut Vec<u8>) {
    match id {
        t::BOOLEAN => out.push(if vector.value::<u8>(row) == 0 {
            b'f'
        } else {
            b't'
        }),
        t::TINYINT => write_int(vector.value::<i8>(row).into(), out),
        t::SMALLINT => write_int(vector.value::<i16>(row).into(), out),
        t::INTEGER => write_int(vector.value::<i32>(row).into(), out),
        t::BIGINT => write_int(vector.value(row), out),
        t::UTINYINT => write_int(vector.value::<u8>(row).into(), out),
        t::USMALLINT => write_int(vector.value::<u16>(row).into(), out),
        t::UINTEGER => write_int(vector.value::<u32>(row).into(), out),
        t::UBIGINT => display(vector.value::<u64>(row), out),
        t::HUGEINT => display(vector.value::<i128>(row), out),
        t::UHUGEINT => display(vector.value::<u128>(row), out),
        t::FLOAT => write_float(vector.value(row), out),
        t::DOUBLE => write_double(vector.value(row), out),
        t::VARCHAR => out.extend_from_slice(vector.bytes(row)),
        t::BLOB => {
            out.extend_from_slice(b"\\x");
            write_hex(vector.bytes(row), out);
        }
        t::BIT => write_bits(vector.bytes(row), out),
        t::DATE => match vector.value::<i32>(row) {
            i32::MAX => out.extend_from_slice(b"infinity"),
            days if days == -i32::MAX => out.extend_from_slice(b"-infinity"),
            days => write_date(days, out),
        },
        t::TIME => write_time(vector.value(row), out),
        t::TIME_TZ => write_time_tz(vector.value(row), out),
        t::TIMESTAMP => write_moment(vector.value(row), 1, 1, out),
        t::TIMESTAMP_S => write_moment(vector.value(row), 1_000_000, 1, out),
        t::TIMESTAMP_MS => write_moment(vector.value(row), 1000, 1, out),
        t::TIMESTAMP_NS => write_moment(vector.value(row), 1, 1000, out),
        t::TIMESTAMP_TZ => {
            let us = vector.value::<i64>(row);
            write_moment(us, 1, 1, out);
            if is_finite(us) {
                out.extend_from_slice(b"+00");
            }
        }
        t::INTERVAL => write_interval(vector.value(row), out),
        // The library flips the first bit, so that signed numbers sort like the texts.
        t::UUID => {
            let bits = vector.value::<i128>(row).cast_unsigned() ^ (1 << 127);
            write_uuid(bits.to_be_bytes(), out);
        }
        // The type of a column that is only NULL.
        _ => {}
    }
}

fn display(number: impl std::fmt::Display, out: &mut Vec<u8>) {
    write!(out, "{number}").expect("writing to memory is infallible");
}

fn is_finite(ticks: i64) -> bool {
    ticks != i64::MAX && ticks != -i64::MAX
}

/// A timestamp that counts units of `multiplier / divisor` microseconds; PostgreSQL has no finer ones.
fn write_moment(ticks: i64, multiplier: i64, divisor: i64, out: &mut Vec<u8>) {
    match ticks {
        i64::MAX => out.extend_from_slice(b"infinity"),
        ticks if !is_finite(ticks) => out.extend_from_slice(b"-infinity"),
        ticks => write_timestamp(ticks.saturating_mul(multiplier).div_euclid(divisor), out),
    }
}

/// The fewest digits that parse back to the same number of 32 bits; an exponent from the seventh digit on.
pub(super) fn write_float(number: f32, out: &mut Vec<u8>) {
    const PLAIN: std::ops::Range<f32> = 1e-4..1e6;
    if !number.is_finite() || number == 0.0 || PLAIN.contains(&number.abs()) {
        match number.is_finite() {
            true => display(number, out),
            false => write_double(number.into(), out),
        }
        return;
    }
    let text = format!("{number:e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let (sign, exponent) = match exponent.strip_prefix('-') {
        Some(exponent) => ('-', exponent),
        None => ('+', exponent),
    };
    write!(out, "{digits}e{sign}{exponent:0>2}").expect("writing to memory is infallible");
}

/// The first byte says how many bits of the second are not used; they come first.
fn write_bits(bytes: &[u8], out: &mut Vec<u8>) {
    let Some((&unused, bytes)) = bytes.split_first() else {
        return;
    };
    let bits = bytes
        .iter()
        .flat_map(|byte| (0..8).rev().map(move |place| b'0' + (byte >> place & 1)));
    out.extend(bits.skip(unused.into()));
}

fn write_time_tz(bits: u64, out: &mut Vec<u8>) {
    let offset_bits = bits & ((1 << OFFSET_BITS) - 1);
    let offset_s = LARGEST_OFFSET_S - offset_bits.cast_signed();
    write_time((bits >> OFFSET_BITS).cast_signed(), out);
    out.push(if offset_s < 0 { b'-' } else { b'+' });
    let offset_s = offset_s.abs();
    write_two_digits(offset_s / 3600, out);
    let rest = [offset_s / 60 % 60, offset_s % 60];
    let shown = rest
        .iter()
        .rposition(|&part| part > 0)
        .map_or(0, |at| at + 1);
    for &part in &rest[..shown] {
        out.push(b':');
        write_two_digits(part, out);
    }
}

/// Appends a value, which may be NULL.
fn write_json(kind: &ColumnKind, vector: &Vector, row: usize, out: &mut Vec<u8>) {
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
        | ColumnKind::Decimal { .. } => write(kind, vector, row, out),
        ColumnKind::Scalar(t::FLOAT) if vector.value::<f32>(row).is_finite() => {
            write(kind, vector, row, out);
        }
        ColumnKind::Scalar(t::DOUBLE) if vector.value::<f64>(row).is_finite() => {
            write(kind, vector, row, out);
        }
        ColumnKind::Scalar(_) | ColumnKind::Enum { .. } => {
            let mut text = Vec::new();
            write(kind, vector, row, &mut text);
            write_json_string(&String::from_utf8_lossy(&text), out);
        }
        _ => write_nested(kind, vector, row, out),
    }
}

/// Appends a nested value that is not NULL.
pub(super) fn write_nested(kind: &ColumnKind, vector: &Vector, row: usize, out: &mut Vec<u8>) {
    match kind {
        ColumnKind::List(element) => {
            let child = vector.of_list();
            elements(list(vector, row), out, |place, out| {
                write_json(element, &child, place, out);
            });
        }
        ColumnKind::Array(element, size) => {
            let child = vector.of_array();
            elements(row * size..(row + 1) * size, out, |place, out| {
                write_json(element, &child, place, out);
            });
        }
        ColumnKind::Map(pair) => {
            let entries = vector.of_list();
            let (keys, values) = (entries.of_struct(0), entries.of_struct(1));
            elements(list(vector, row), out, |place, out| {
                out.push(b'[');
                write_json(&pair.0, &keys, place, out);
                out.push(b',');
                write_json(&pair.1, &values, place, out);
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
                write_json(field, &vector.of_struct(number), row, out);
            }
            out.push(b'}');
        }
        ColumnKind::Union(members) => {
            let number = usize::from(vector.of_struct(0).value::<u8>(row));
            match members.get(number) {
                Some((_, member)) => write_json(member, &vector.of_struct(number + 1), row, out),
                None => out.extend_from_slice(b"null"),
            }
        }
        ColumnKind::Scalar(_) | ColumnKind::Decimal { .. } | ColumnKind::Enum { .. } => {
            write_json(kind, vector, row, out);
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

const DAY_US: u64 = 86_400_000_000;

pub(super) fn write_interval(interval: RawInterval, out: &mut Vec<u8>) {
    let start = out.len();
    let parts =
        [(interval.months / 12, "year"), (interval.months % 12, "mon"), (interval.days, "day")];
    for (number, unit) in parts {
        if number != 0 {
            let plural = if number == 1 { "" } else { "s" };
            write!(out, "{number} {unit}{plural} ").expect("writing to memory is infallible");
        }
    }
    if interval.us == 0 && out.len() > start {
        out.pop();
        return;
    }
    if interval.us < 0 {
        out.push(b'-');
    }
    let us = interval.us.unsigned_abs();
    let hours = us / (DAY_US / 24);
    if hours < 24 {
        return write_time(us.cast_signed(), out);
    }
    write!(out, "{hours}").expect("writing to memory is infallible");
    let clock = out.len();
    write_time((us % (DAY_US / 24)).cast_signed(), out);
    out.drain(clock..clock + 2);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_of_32_bits_is_printed_as_postgresql_prints_it() {
        for (number, expected) in [
            (0.1_f32, "0.1"),
            (-0.0, "-0"),
            (3.0, "3"),
            (123_456.0, "123456"),
            (1_234_567.0, "1.234567e+06"),
            (1e-5, "1e-05"),
            (f32::MAX, "3.4028235e+38"),
            (f32::NEG_INFINITY, "-Infinity"),
            (f32::NAN, "NaN"),
        ] {
            let mut out = Vec::new();
            write_float(number, &mut out);
            assert_eq!(String::from_utf8_lossy(&out), expected);
        }
    }

    #[test]
    fn an_interval_is_printed_as_postgresql_prints_it() {
        for (months, days, us, expected) in [
            (0, 0, 0, "00:00:00"),
            (14, 3, 0, "1 year 2 mons 3 days"),
            (-1, 1, 14_706_500_000, "-1 mons 1 day 04:05:06.5"),
            (0, 0, -1_000_000, "-00:00:01"),
            (0, 0, 360_061_000_000, "100:01:01"),
        ] {
            let mut out = Vec::new();
            write_interval(RawInterval { months, days, us }, &mut out);
            assert_eq!(String::from_utf8_lossy(&out), expected);
        }
    }
}

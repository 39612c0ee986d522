//! Takes rows and the types of their columns; returns the tuples of COPY's binary format, so that neither
//! side converts numbers to or from text (PostgreSQL manual, COPY, "Binary Format").
//!
//! A value that its column's type cannot hold is rejected here, because the server would read its bytes
//! as another value.

use assay_values::calendar::{parse_date, parse_timestamp};
use assay_values::json::elements;
use assay_values::{Cell, ColumnType, ElementType, Row};

use crate::scan::write_measured;

/// The server's epoch is 2000-01-01: days and microseconds from 1970 to it.
const DAYS_TO_2000: i32 = 10_957;
const US_TO_2000: i64 = 946_684_800_000_000;

/// Signature, flags, no extension.
pub(crate) const HEADER: &[u8] = b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0";
/// Sent instead of a row's number of cells to end the rows.
pub(crate) const TRAILER: &[u8] = b"\xff\xff";

/// The statement of a bulk load in binary; `None` where a type is not supported here or the statement
/// does not end in `FROM STDIN`: then rows are sent as text, which works for every type.
pub(crate) fn statement(text: &str, types: &[ColumnType]) -> Option<String> {
    let end = text.len().checked_sub("FROM STDIN".len())?;
    let is_plain = text.get(end..).is_some_and(|end| end.eq_ignore_ascii_case("FROM STDIN"));
    let is_known = !types.is_empty() && types.iter().all(|&of| Field::of(of).is_some());
    (is_plain && is_known).then(|| format!("{text} (FORMAT binary)"))
}

pub(crate) struct BinaryRow {
    fields: Box<[Field]>,
    count: [u8; 2],
}

impl BinaryRow {
    pub fn new(types: &[ColumnType]) -> Self {
        let fields: Box<[Field]> = types
            .iter()
            .map(|&of| Field::of(of).expect("`statement` accepted these types"))
            .collect();
        let count = u16::try_from(fields.len()).unwrap_or(u16::MAX).to_be_bytes();
        Self { fields, count }
    }

    /// Appends the tuple; an error names the column whose type cannot hold its value.
    #[inline]
    pub fn write(&self, row: &Row, out: &mut Vec<u8>) -> Result<(), String> {
        if row.len() != self.fields.len() {
            return Err(format!("expected {} cells, found {}", self.fields.len(), row.len()));
        }
        out.extend_from_slice(&self.count);
        for (index, (cell, field)) in row.cells().zip(&self.fields).enumerate() {
            if !field.write(cell, out) {
                return Err(field.misfit(index, cell));
            }
        }
        Ok(())
    }
}

/// The binary form of a column's type.
#[derive(Clone, Copy, Debug)]
enum Field {
    Int2,
    Int4,
    Int8,
    Float4,
    Float8,
    Text,
    /// Days since 2000, 32 bits.
    Date,
    /// Microseconds since 2000, 64 bits.
    Timestamp,
    Bool,
    /// A version, then the text.
    Json,
    Array(ElementType),
}

/// Of the binary form of JSON.
const JSON_VERSION: u8 = 1;

impl Field {
    fn of(column: ColumnType) -> Option<Self> {
        match column {
            ColumnType::SmallInt => Some(Self::Int2),
            ColumnType::Int => Some(Self::Int4),
            ColumnType::BigInt => Some(Self::Int8),
            ColumnType::Float => Some(Self::Float4),
            ColumnType::Double => Some(Self::Float8),
            ColumnType::Char(_) | ColumnType::Varchar(_) | ColumnType::Text => Some(Self::Text),
            ColumnType::Date => Some(Self::Date),
            ColumnType::Timestamp => Some(Self::Timestamp),
            ColumnType::Bool => Some(Self::Bool),
            // The cell holds the raw bytes.
            ColumnType::Bytes => Some(Self::Text),
            ColumnType::Json => Some(Self::Json),
            ColumnType::Array(of) => Some(Self::Array(of)),
            ColumnType::Decimal { .. } => None,
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Int2 => "smallint",
            Self::Int4 => "int",
            Self::Int8 => "bigint",
            Self::Float4 => "float",
            Self::Float8 => "double",
            Self::Text => "text",
            Self::Date => "a date (YYYY-MM-DD)",
            Self::Timestamp => "a timestamp (YYYY-MM-DD HH:MM:SS)",
            Self::Bool => "bool (1 or 0)",
            Self::Json => "json",
            Self::Array(_) => "an array, as JSON, of elements of its type",
        }
    }

    /// Appends the length and the bytes of the cell; false where the type cannot hold it.
    #[inline]
    fn write(self, cell: Cell<'_>, out: &mut Vec<u8>) -> bool {
        let written = match (self, cell) {
            (_, Cell::Null) => {
                out.extend_from_slice(&(-1_i32).to_be_bytes());
                Some(())
            }
            (Self::Text, Cell::Text(text)) => {
                let length = u32::try_from(text.len()).expect("rows are far below 4 GiB");
                out.extend_from_slice(&length.to_be_bytes());
                out.extend_from_slice(text);
                Some(())
            }
            (Self::Int4, Cell::Int(number)) => int4(number, out),
            (Self::Int2, _) => integer(cell).and_then(|number| int2(number, out)),
            (Self::Int4, _) => integer(cell).and_then(|number| int4(number, out)),
            (Self::Int8, _) => integer(cell).map(|number| sized(out, number.to_be_bytes())),
            (Self::Float4, _) => double(cell).and_then(|number| float4(number, out)),
            (Self::Float8, _) => double(cell).map(|number| sized(out, number.to_be_bytes())),
            (Self::Text, _) => {
                let start = out.len();
                out.extend_from_slice(&[0; 4]);
                cell.write_text(out);
                let length = u32::try_from(out.len() - start - 4).expect("a number is short");
                out[start..start + 4].copy_from_slice(&length.to_be_bytes());
                Some(())
            }
            (Self::Date, Cell::Text(text)) => {
                parse_date(text).map(|days| sized(out, (days - DAYS_TO_2000).to_be_bytes()))
            }
            (Self::Timestamp, Cell::Text(text)) => {
                parse_timestamp(text).map(|us| sized(out, (us - US_TO_2000).to_be_bytes()))
            }
            (Self::Date | Self::Timestamp, _) => None,
            (Self::Bool, _) => truth(cell).map(|truth| sized(out, [u8::from(truth)])),
            (Self::Json, _) => write_measured(out, |out| {
                out.push(JSON_VERSION);
                cell.write_text(out);
                Some(())
            }),
            (Self::Array(of), Cell::Text(text)) => array(text, of, out),
            (Self::Array(_), _) => None,
        };
        written.is_some()
    }

    #[cold]
    fn misfit(self, index: usize, cell: Cell<'_>) -> String {
        let mut scratch = Vec::new();
        let found = cell.text_in(&mut scratch).unwrap_or_default();
        let found = String::from_utf8_lossy(&found[..found.len().min(40)]).into_owned();
        format!("column {}: expected {}, found {found}", index + 1, self.word())
    }
}

/// Appends a value of fixed size with its length.
#[inline]
fn sized<const SIZE: usize>(out: &mut Vec<u8>, bytes: [u8; SIZE]) {
    let length = u32::try_from(SIZE).expect("SIZE is at most 8");
    out.extend_from_slice(&length.to_be_bytes());
    out.extend_from_slice(&bytes);
}

/// Appends an array of one dimension: how many there are, whether there are NULLs, the object id of the elements'
/// type, their number, the index of the first; then each element. An empty one has no dimension.
fn array(text: &[u8], of: ElementType, out: &mut Vec<u8>) -> Option<()> {
    let elements = elements(text, of)?;
    let (oid, field): (u32, _) = match of {
        ElementType::SmallInt => (21, Field::Int2),
        ElementType::Int => (23, Field::Int4),
        ElementType::BigInt => (20, Field::Int8),
        ElementType::Double => (701, Field::Float8),
        ElementType::Text => (25, Field::Text),
        ElementType::Bool => (16, Field::Bool),
    };
    let has_nulls = elements.iter().any(serde_json::Value::is_null);
    let count = u32::try_from(elements.len()).ok()?;
    write_measured(out, |out| {
        for word in [u32::from(count > 0), u32::from(has_nulls), oid] {
            out.extend_from_slice(&word.to_be_bytes());
        }
        if count > 0 {
            out.extend_from_slice(&count.to_be_bytes());
            out.extend_from_slice(&1_u32.to_be_bytes());
        }
        elements.iter().try_for_each(|element| {
            let cell = match element {
                serde_json::Value::Bool(truth) => Cell::Bool(*truth),
                serde_json::Value::String(text) => Cell::Text(text.as_bytes()),
                serde_json::Value::Number(number) => match number.as_i64() {
                    Some(number) => Cell::Int(number),
                    None => Cell::Double(number.as_f64()?),
                },
                _ => Cell::Null,
            };
            field.write(cell, out).then_some(())
        })
    })
}

fn int2(number: i64, out: &mut Vec<u8>) -> Option<()> {
    let number = i16::try_from(number).ok()?;
    sized(out, number.to_be_bytes());
    Some(())
}

#[inline]
fn int4(number: i64, out: &mut Vec<u8>) -> Option<()> {
    let number = i32::try_from(number).ok()?;
    sized(out, number.to_be_bytes());
    Some(())
}

#[expect(clippy::cast_possible_truncation, reason = "rounded as the server would")]
fn float4(number: f64, out: &mut Vec<u8>) -> Option<()> {
    let rounded = number as f32;
    if rounded.is_finite() != number.is_finite() {
        return None;
    }
    sized(out, rounded.to_be_bytes());
    Some(())
}

fn integer(cell: Cell<'_>) -> Option<i64> {
    match cell {
        Cell::Int(number) => Some(number),
        Cell::Double(number) => whole(number),
        Cell::Bool(truth) => Some(truth.into()),
        Cell::Text(text) => spelled(text),
        Cell::Null => None,
    }
}

fn double(cell: Cell<'_>) -> Option<f64> {
    match cell {
        #[expect(clippy::cast_precision_loss, reason = "as the server casts")]
        Cell::Int(number) => Some(number as f64),
        Cell::Double(number) => Some(number),
        Cell::Text(text) => spelled(text),
        Cell::Bool(_) | Cell::Null => None,
    }
}

fn truth(cell: Cell<'_>) -> Option<bool> {
    match cell {
        Cell::Bool(truth) => Some(truth),
        Cell::Int(number @ (0 | 1)) => Some(number == 1),
        Cell::Text(b"1" | b"t" | b"true" | b"TRUE") => Some(true),
        Cell::Text(b"0" | b"f" | b"false" | b"FALSE") => Some(false),
        _ => None,
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the bounds are tested before")]
fn whole(number: f64) -> Option<i64> {
    let is_whole = number.fract() == 0.0 && number.abs() < 9.0e18;
    is_whole.then_some(number as i64)
}

fn spelled<T: std::str::FromStr>(text: &[u8]) -> Option<T> {
    std::str::from_utf8(text).ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_plain_statement_with_known_types_becomes_binary() {
        let types = [ColumnType::Int, ColumnType::Timestamp];
        assert_eq!(
            statement("COPY t (a, b) FROM STDIN", &types).as_deref(),
            Some("COPY t (a, b) FROM STDIN (FORMAT binary)")
        );
        assert_eq!(statement("COPY t (a, b) FROM STDIN", &[]), None);
        assert_eq!(statement("COPY t (a, b) FROM STDIN (FREEZE)", &types), None);
        assert_eq!(statement("é", &types), None);
        let decimal = "decimal(9,2)".parse().expect("a type");
        assert_eq!(statement("COPY t FROM STDIN", &[decimal]), None);
    }

    #[test]
    fn a_cell_is_written_in_its_column_type_or_rejected() {
        let check = |of: ColumnType, cell: Cell<'_>, expected: Option<&[u8]>| {
            let mut out = Vec::new();
            let is_written = Field::of(of).expect("a supported type").write(cell, &mut out);
            assert_eq!(is_written, expected.is_some(), "{of:?} {cell:?}");
            if let Some(expected) = expected {
                let length = u32::try_from(expected.len()).expect("short");
                assert_eq!(out[..4], length.to_be_bytes());
                assert_eq!(&out[4..], expected, "{of:?} {cell:?}");
            }
        };
        check(ColumnType::Int, Cell::Double(258.0), Some(&[0, 0, 1, 2]));
        check(ColumnType::Int, Cell::Text(b"007"), Some(&[0, 0, 0, 7]));
        check(ColumnType::Int, Cell::Int(1 << 31), None);
        check(ColumnType::Int, Cell::Double(0.5), None);
        check(ColumnType::BigInt, Cell::Int(-1), Some(&[0xff; 8]));
        check(ColumnType::Double, Cell::Int(2), Some(&2.0_f64.to_be_bytes()));
        check(ColumnType::Float, Cell::Double(0.1), Some(&0.1_f32.to_be_bytes()));
        check(ColumnType::Float, Cell::Double(1e39), None);
        check(ColumnType::Char(4), Cell::Int(42), Some(b"42"));
        check(ColumnType::Bool, Cell::Int(1), Some(&[1]));
        check(ColumnType::Bool, Cell::Int(2), None);
        check(ColumnType::Date, Cell::Text(b"2000-01-03"), Some(&[0, 0, 0, 2]));
        check(ColumnType::Date, Cell::Int(3), None);
        check(ColumnType::Timestamp, Cell::Text(b"1999-12-31 23:59:59.999999"), Some(&[0xff; 8]));
    }
}

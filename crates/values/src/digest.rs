//! Takes the cells of rows in text form; returns the sum of the rows' hashes, which is equal for equal sets
//! of rows in any order: of loaded rows, and of the rows of an answer.

use std::borrow::Cow;

use crate::comparable::comparable_text;
use crate::{Cell, CellType, ColumnType, Row, from_hex, json};

/// The hash of one row: FNV-1a (Fowler, Noll, Vo; <http://www.isthe.com/chongo/tech/comp/fnv/>) over its
/// cells, with a mark after each.
#[derive(Clone, Copy, Debug)]
pub struct RowHash(u64);

const BASIS: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0000_0100_0000_01b3;

impl Default for RowHash {
    fn default() -> Self {
        Self(BASIS)
    }
}

impl RowHash {
    /// Adds the next cell; NULL and the empty text have different marks.
    #[inline]
    pub fn cell(&mut self, text: Option<&[u8]>) {
        let mut hash = self.0;
        for &byte in text.unwrap_or_default() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(PRIME);
        }
        let mark = if text.is_some() { 0x1f } else { 0x00 };
        self.0 = (hash ^ mark).wrapping_mul(PRIME).wrapping_add(1);
    }

    /// Adds the next cell, of unknown type, in the normalized form that its text shows.
    #[inline]
    pub fn text(&mut self, text: &[u8]) {
        self.cell(Some(&comparable_text(text)));
    }

    /// Adds the next cell in its normalized form.
    #[inline]
    fn typed(&mut self, cell: Cell<'_>, column_type: Option<ColumnType>, scratch: &mut Vec<u8>) {
        use ColumnType::{BigInt, Int, SmallInt};
        let is_plain = matches!(
            (cell, column_type),
            (Cell::Int(_), Some(SmallInt | Int | BigInt)) | (_, None)
        );
        match (cell.text_in(scratch), column_type) {
            (Some(text), Some(column_type)) if !is_plain => {
                self.cell(Some(&column_type.comparable(text)));
            }
            (Some(text), None) if !matches!(cell, Cell::Int(_)) => self.text(text),
            (text, _) => self.cell(text),
        }
    }

    /// The row's part of its table's sum, which wraps around.
    pub fn sum(self) -> u64 {
        self.0
    }
}

/// The part of `row` in the sum of its table, whose columns have these types (empty: unknown, and the text
/// decides).
pub fn row_sum(row: &Row, types: &[ColumnType], scratch: &mut Vec<u8>) -> u64 {
    let mut hash = RowHash::default();
    for (index, cell) in row.cells().enumerate() {
        hash.typed(cell, types.get(index).copied(), scratch);
    }
    hash.sum()
}

/// The rows of one answer, or of several.
#[derive(Clone, Copy, Debug, Default)]
pub struct RowsDigest {
    /// The sum of the rows' hashes, which wraps around.
    pub digest: u64,
    /// Cells that are numbers with a fraction.
    pub fractions: u64,
    /// Their sum.
    pub fraction_sum: f64,
    row: RowHash,
}

/// What is hashed in place of a number with a fraction.
const FRACTION: &[u8] = b"\x01";

impl RowsDigest {
    /// The cells of the next row follow.
    #[inline]
    pub fn begin_row(&mut self) {
        self.row = RowHash::default();
    }

    /// Adds the next cell of the row; `None` is NULL.
    pub fn cell(&mut self, text: Option<&[u8]>, cell_type: CellType) {
        let Some(text) = text else {
            self.row.cell(None);
            return;
        };
        match cell_type {
            CellType::Bytes => self.row.cell(Some(text.trim_ascii_end())),
            CellType::HexBytes => {
                let bytes = from_hex(text).map_or(Cow::Borrowed(text), Cow::Owned);
                self.row.cell(Some(bytes.trim_ascii_end()));
            }
            CellType::Document | CellType::List => {
                let common = json::comparable(text).map_or(Cow::Borrowed(text), Cow::Owned);
                self.row.cell(Some(&common));
            }
            _ => self.untyped(text),
        }
    }

    fn untyped(&mut self, text: &[u8]) {
        let text = match text.trim_ascii_end() {
            b"t" | b"true" | b"TRUE" => b"1",
            b"f" | b"false" | b"FALSE" => b"0",
            other => other,
        };
        let common = comparable_text(text);
        if let Some(number) = fraction(&common) {
            self.fractions += 1;
            self.fraction_sum += number;
            self.row.cell(Some(FRACTION));
        } else {
            self.row.cell(Some(without_zone(&common)));
        }
    }

    /// The row is complete.
    #[inline]
    pub fn end_row(&mut self) {
        self.digest = self.digest.wrapping_add(self.row.sum());
    }
}

fn fraction(text: &[u8]) -> Option<f64> {
    let starts_a_number = |byte: &u8| byte.is_ascii_digit() || *byte == b'-';
    let has_fraction = |byte: &u8| matches!(byte, b'.' | b'e' | b'E');
    if !text.first().is_some_and(starts_a_number) || !text.iter().any(has_fraction) {
        return None;
    }
    let number: f64 = std::str::from_utf8(text).ok()?.parse().ok()?;
    number.is_finite().then_some(number)
}

/// A time without its zone UTC, and a date without midnight.
fn without_zone(text: &[u8]) -> &[u8] {
    let is_time = text.first().is_some_and(u8::is_ascii_digit) && text.contains(&b':');
    if !is_time {
        return text;
    }
    let text = text.strip_suffix(b"+00").unwrap_or(text);
    text.strip_suffix(b" 00:00:00").unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::RowsDigest;
    use crate::CellType::{self, Bytes, Document, HexBytes, List, Plain};

    fn digest(cells: &[(&str, CellType)]) -> (u64, u64, String) {
        let mut rows = RowsDigest::default();
        rows.begin_row();
        for (text, cell_type) in cells {
            rows.cell(Some(text.as_bytes()), *cell_type);
        }
        rows.end_row();
        (
            rows.digest,
            rows.fractions,
            format!("{:.6}", rows.fraction_sum),
        )
    }

    #[test]
    fn equal_values_of_two_systems_are_the_same() {
        for (left, right) in [
            (("1", Plain), ("1.0", Plain)),
            (("1.00", Plain), ("1", Plain)),
            (("2.50", Plain), ("2.5", Plain)),
            (("t", Plain), ("1", Plain)),
            (("f", Plain), ("0", Plain)),
            (("ab  ", Plain), ("ab", Plain)),
            (("2026-01-02", Plain), ("2026-01-02 00:00:00", Plain)),
            (
                ("2026-01-02 03:04:05+00", Plain),
                ("2026-01-02 03:04:05.000000", Plain),
            ),
            (("\\x6869", HexBytes), ("hi", Bytes)),
            (("{\"a\": 1}", Document), ("{\"a\":1}", Document)),
            (
                ("{\"b\": 1.0, \"a\": [2]}", Document),
                ("{\"a\":[2],\"b\":1}", Plain),
            ),
            (("[1, 2]", List), ("[1,2]", Plain)),
        ] {
            assert_eq!(digest(&[left]), digest(&[right]), "{left:?} {right:?}");
        }
    }

    #[test]
    fn other_values_are_not() {
        for (left, right) in [("1", "2"), ("1.5", "1.6"), ("", "0"), ("a", "b")] {
            assert_ne!(digest(&[(left, Plain)]), digest(&[(right, Plain)]));
        }
        let mut null = RowsDigest::default();
        null.begin_row();
        null.cell(None, Plain);
        null.end_row();
        assert_ne!(null.digest, digest(&[("", Plain)]).0);
    }

    #[test]
    fn digits_that_only_one_system_computes_leave_the_digest_equal() {
        let (short, long) = ("1.3333", "1.3333333333333333");
        let of = |text: &str| digest(&[("north", Plain), (text, Plain)]);
        assert_eq!((of(short).0, of(short).1), (of(long).0, of(long).1));
    }
}

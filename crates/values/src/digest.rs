//! Takes the cells of rows in text form; returns the sum of the rows' hashes, which is equal for equal sets
//! of rows in any order.

use crate::comparable::comparable_text;
use crate::{Cell, ColumnType, Row};

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
    #[must_use]
    pub fn sum(self) -> u64 {
        self.0
    }
}

/// The part of `row` in the sum of its table, whose columns have these types (empty: unknown, and the text
/// decides).
#[must_use]
pub fn row_sum(row: &Row, types: &[ColumnType], scratch: &mut Vec<u8>) -> u64 {
    let mut hash = RowHash::default();
    for (index, cell) in row.cells().enumerate() {
        hash.typed(cell, types.get(index).copied(), scratch);
    }
    hash.sum()
}

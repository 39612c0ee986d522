//! Takes the cells of rows in text form; gives one number that is equal for equal sets of rows in any
//! order: the sum of the rows' hashes.

use crate::{Cell, ColumnType, Row};

/// The hash of one row under way: FNV-1a (Fowler, Noll, Vo; <http://www.isthe.com/chongo/tech/comp/fnv/>)
/// over its cells, each with a mark for its end.
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
    /// Takes the next cell; NULL and the empty text differ in their mark.
    #[inline]
    pub fn cell(&mut self, text: Option<&[u8]>) {
        let mut hash = self.0;
        for &byte in text.unwrap_or_default() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(PRIME);
        }
        let mark = if text.is_some() { 0x1f } else { 0x00 };
        self.0 = (hash ^ mark).wrapping_mul(PRIME).wrapping_add(1);
    }

    /// Takes the next cell in the form that all systems have in common, where its type is known.
    #[inline]
    fn typed(&mut self, cell: Cell<'_>, of: Option<ColumnType>, scratch: &mut Vec<u8>) {
        use ColumnType::{BigInt, Int, SmallInt};
        let is_plain = matches!(
            (cell, of),
            (Cell::Int(_), Some(SmallInt | Int | BigInt)) | (_, None)
        );
        match (cell.text_in(scratch), of) {
            (Some(text), Some(of)) if !is_plain => self.cell(Some(&of.comparable(text))),
            (text, _) => self.cell(text),
        }
    }

    /// What the row adds to the sum of its table, which wraps around.
    #[must_use]
    pub fn sum(self) -> u64 {
        self.0
    }
}

/// What `row` adds to the sum of its table, whose columns have these types (none: not known, and cells
/// count as they are written).
#[must_use]
pub fn row_sum(row: &Row, types: &[ColumnType], scratch: &mut Vec<u8>) -> u64 {
    let mut hash = RowHash::default();
    for (index, cell) in row.cells().enumerate() {
        hash.typed(cell, types.get(index).copied(), scratch);
    }
    hash.sum()
}

//! Takes the body of a RESULT message; gives what it says of its rows, or of a statement that was prepared.

use super::constants::rows_flag as flag;
use super::cql_type::Column;
use super::scan::Scan;

/// What stands before the rows.
pub(super) struct RowsHead<'a> {
    pub(super) columns: usize,
    /// More rows are fetched by sending this back.
    pub(super) paging_state: Option<&'a [u8]>,
    /// The columns of the statement have changed since it was prepared: their new id.
    pub(super) new_id: Option<&'a [u8]>,
}

impl<'a> RowsHead<'a> {
    /// Where the columns are described, they replace those of `columns`.
    #[inline]
    pub(super) fn read(scan: &mut Scan<'a>, columns: &mut Vec<Column>) -> Option<Self> {
        let flags = scan.i32()?;
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
pub(super) struct Prepared {
    pub(super) id: Box<[u8]>,
    /// Of the description of its rows; empty before version 5.
    pub(super) rows_id: Box<[u8]>,
    pub(super) parameters: Vec<Column>,
    /// Of its rows; none where it gives none.
    pub(super) columns: Vec<Column>,
}

impl Prepared {
    pub(super) fn read(mut scan: Scan<'_>, is_v5: bool) -> Option<Self> {
        let scan = &mut scan;
        let id = scan.short_bytes()?.into();
        let rows_id = match is_v5 {
            true => scan.short_bytes()?.into(),
            false => Box::default(),
        };
        let (flags, count) = (scan.i32()?, scan.count()?);
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

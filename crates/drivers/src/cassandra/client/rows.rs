//! Takes the rows of a result; gives their cells to the answer, scanned in place.

use crate::Answer;
use crate::cassandra::client::cell;
use crate::cassandra::shared::constants::rows_flag as flag;
use crate::cassandra::shared::cql_type::Column;
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
                Some(bytes) => answer.cell(Some(cell::text(&column.kind, bytes, text)?)),
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
            answer.typed_column(&column.name, cell::cell_type(&column.kind));
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

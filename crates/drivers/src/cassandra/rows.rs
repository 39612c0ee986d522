//! Takes the rows of a result; gives their cells to the answer, scanned in place.

use super::cell;
use super::cql_type::Column;
use super::metadata::RowsHead;
use super::scan::Scan;
use crate::Answer;

/// Behind the head of the rows: how many there are, then each cell with its length. `text` is memory to write
/// numbers into.
#[inline]
pub(super) fn read(
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
pub(super) fn name_columns(columns: &[Column], answer: &mut Answer) {
    if answer.wants_columns() && answer.columns.is_empty() {
        for column in columns {
            answer.typed_column(&column.name, cell::cell_type(&column.kind));
        }
    }
}

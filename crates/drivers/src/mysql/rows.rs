//! Takes one row's payload, text or binary; gives its cells to the answer, scanned in place.

use super::binary_cell;
use super::column::Column;
use super::scan::Scan;
use crate::Answer;

const NULL: u8 = 0xFB;

/// A text row: one length-encoded string for each column, or the mark of NULL.
pub(super) fn text_row(payload: &[u8], columns: usize, answer: &mut Answer) -> Option<()> {
    let mut scan = Scan(payload);
    answer.begin_row();
    for _ in 0..columns {
        if scan.0.first() == Some(&NULL) {
            scan.take(1)?;
            answer.cell(None);
        } else {
            answer.cell(Some(scan.text()?));
        }
    }
    end(scan, answer)
}

/// A binary row: a zero, one bit for each NULL (the first two bits mean nothing), then the values
/// of all other columns. `text` is memory to write numbers into.
pub(super) fn binary_row(
    payload: &[u8],
    columns: &[Column],
    text: &mut Vec<u8>,
    answer: &mut Answer,
) -> Option<()> {
    let mut scan = Scan(payload);
    scan.take(1)?;
    let nulls = scan.take((columns.len() + 2).div_ceil(8))?;
    answer.begin_row();
    for (column, bit) in columns.iter().zip(2..) {
        if nulls[bit / 8] & 1 << (bit % 8) != 0 {
            answer.cell(None);
        } else {
            answer.cell(Some(binary_cell::read(&mut scan, column, text)?));
        }
    }
    end(scan, answer)
}

fn end(scan: Scan<'_>, answer: &mut Answer) -> Option<()> {
    scan.0.is_empty().then(|| answer.end_row())
}

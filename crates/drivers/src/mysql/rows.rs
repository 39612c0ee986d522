//! Takes one row's payload, text or binary; reports its cells to the answer, without copying them.

use super::binary_cell;
use super::column::Column;
use super::scan::Scan;
use crate::Answer;

const NULL: u8 = 0xFB;

/// A text row: for each column a length-encoded string, or the NULL byte.
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

/// A binary row: a zero byte, a NULL bitmap (whose first two bits are unused), then the values that
/// are not NULL. `text` is a buffer for the text of numbers.
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

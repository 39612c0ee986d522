//! One row on its way into a table, kept in one buffer that is used again for the next row.

/// A row of cells in text form. Cells share one buffer, so a row that is cleared and filled again
/// allocates nothing once it has seen its longest content.
#[derive(Debug, Default)]
pub struct Row {
    bytes: Vec<u8>,
    cells: Vec<Cell>,
}

impl Clone for Row {
    fn clone(&self) -> Self {
        Self {
            bytes: self.bytes.clone(),
            cells: self.cells.clone(),
        }
    }

    /// Keeps the memory, which a derived one would not.
    fn clone_from(&mut self, other: &Self) {
        self.bytes.clone_from(&other.bytes);
        self.cells.clone_from(&other.cells);
    }
}

#[derive(Clone, Copy, Debug)]
struct Cell {
    start: u32,
    end: u32,
    is_null: bool,
}

impl Row {
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Forgets all cells and keeps the memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.cells.clear();
    }

    pub fn push_null(&mut self) {
        let at = self.position();
        self.cells.push(Cell {
            start: at,
            end: at,
            is_null: true,
        });
    }

    pub fn push_bytes(&mut self, bytes: &[u8]) {
        self.push_with(|buffer| buffer.extend_from_slice(bytes));
    }

    /// Appends a cell whose text `write` adds to the end of the buffer it is given; `write` must
    /// only append.
    pub fn push_with(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        let start = self.position();
        write(&mut self.bytes);
        let end = self.position();
        self.cells.push(Cell {
            start,
            end,
            is_null: false,
        });
    }

    /// As [`Row::push_with`], but where `write` returns false the cell is NULL and what it wrote is
    /// forgotten: for text that is only known to be empty once it has been cleaned.
    pub fn push_or_null(&mut self, write: impl FnOnce(&mut Vec<u8>) -> bool) {
        let start = self.position();
        let is_null = !write(&mut self.bytes);
        if is_null {
            self.bytes.truncate(start as usize);
        }
        let end = self.position();
        self.cells.push(Cell {
            start,
            end,
            is_null,
        });
    }

    pub fn push_int(&mut self, number: i64) {
        // By hand, because formatting costs ten times as much and rows are full of integers.
        let mut digits = [0; 20];
        let mut at = digits.len();
        let mut rest = number.unsigned_abs();
        loop {
            at -= 1;
            digits[at] = b'0' + u8::try_from(rest % 10).expect("a remainder of 10");
            rest /= 10;
            if rest == 0 {
                break;
            }
        }
        if number < 0 {
            at -= 1;
            digits[at] = b'-';
        }
        self.push_bytes(&digits[at..]);
    }

    #[must_use]
    pub fn len(&self) -> usize {
        self.cells.len()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    /// The text of cell `index`, or `None` where it is NULL.
    ///
    /// # Panics
    /// If the row has no such cell.
    #[must_use]
    pub fn cell(&self, index: usize) -> Option<&[u8]> {
        let cell = self.cells[index];
        (!cell.is_null).then(|| &self.bytes[cell.start as usize..cell.end as usize])
    }

    pub fn cells(&self) -> impl Iterator<Item = Option<&[u8]>> {
        (0..self.cells.len()).map(|index| self.cell(index))
    }

    fn position(&self) -> u32 {
        u32::try_from(self.bytes.len()).expect("readers bound a row far below 4 GiB")
    }
}

/// Why a source could not give its next row: what was found, where, and the cure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceError {
    pub message: String,
    pub file: String,
    /// 1-based; 0 where the place is the file as a whole.
    pub line: u64,
    /// 1-based, in bytes; 0 where the place is the line as a whole.
    pub column: u64,
    pub hint: Option<String>,
}

impl std::fmt::Display for SourceError {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{}", self.file)?;
        if self.line > 0 {
            write!(out, ":{}", self.line)?;
        }
        if self.column > 0 {
            write!(out, ":{}", self.column)?;
        }
        write!(out, ": {}", self.message)
    }
}

impl std::error::Error for SourceError {}

/// Anything that fills tables: a generator, or a reader of files from outside.
pub trait RowSource {
    /// Fills `row` with the next row and says which table it belongs to (an index into the list of
    /// tables that the loader was given; indexes never go back), or `None` at the end.
    ///
    /// # Errors
    /// Where the input is not what it must be; the source cannot be used further.
    fn next_row(&mut self, row: &mut Row) -> Result<Option<usize>, SourceError>;

    /// Bytes of input read so far, for progress.
    fn bytes_read(&self) -> u64;
}

#[cfg(test)]
mod tests {
    use super::Row;

    #[test]
    fn integers_are_written_as_they_are_printed() {
        let numbers = [0, 7, -1, 10, 1_234_567, i64::MAX, i64::MIN];
        let mut row = Row::new();
        for number in numbers {
            row.push_int(number);
        }
        for (cell, number) in row.cells().zip(numbers) {
            assert_eq!(cell, Some(number.to_string().as_bytes()));
        }
    }

    #[test]
    fn a_cell_that_turns_out_null_leaves_nothing_behind() {
        let mut row = Row::new();
        row.push_or_null(|bytes| {
            bytes.extend_from_slice(b"??");
            false
        });
        row.push_or_null(|bytes| {
            bytes.extend_from_slice(b"x");
            true
        });
        assert_eq!(
            row.cells().collect::<Vec<_>>(),
            [None, Some(b"x".as_slice())]
        );
    }
}

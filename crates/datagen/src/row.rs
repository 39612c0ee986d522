//! One row on its way into a table, kept in one buffer that is used again for the next row.

/// A row of cells in text form. Cells share one buffer, so a row that is cleared and filled again
/// allocates nothing once it has seen its longest content.
#[derive(Clone, Debug, Default)]
pub struct Row {
    bytes: Vec<u8>,
    cells: Vec<Cell>,
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
        self.cells.push(Cell { start: at, end: at, is_null: true });
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
        self.cells.push(Cell { start, end, is_null: false });
    }

    pub fn push_int(&mut self, number: i64) {
        use std::io::Write as _;
        self.push_with(|buffer| write!(buffer, "{number}").expect("writing to memory is infallible"));
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

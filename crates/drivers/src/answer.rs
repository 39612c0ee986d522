//! Takes the rows a driver reports for one request; counts them, and hashes or keeps them where requested. With the states of a
//! session's transaction, as the system reports them.

use assay_values::{CellType, ColumnType, RowHash, RowsDigest, from_hex};

use crate::SystemError;

/// What is done with the rows of an answer; each does more than the one before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Keep {
    /// Rows are counted and skipped.
    #[default]
    Count,
    /// Rows are counted and hashed, regardless of their order.
    Digest,
    /// Rows are counted, and hashed in the form common to all systems ([`Answer::compared`]).
    Compare,
    /// Rows are counted; the first one and the last one are stored, for the script alone.
    Ends,
    /// Rows are counted and hashed both ways; the first one and the last one are stored.
    FirstAndLast,
    /// Rows are counted, hashed both ways and stored.
    Rows,
}

/// The answer to one request; cleared and reused for the next. In this order: first what is of every answer, so that it
/// takes few lines of the processor's caches.
///
/// Drivers report every row as `begin_row`, then `cell` for each column **in text form** (as in the
/// protocol's text format; NULL is `None`), then `end_row`. Where `wants_cells` is false they may
/// call `pass_row` instead and skip the bytes.
#[derive(Debug, Default)]
#[repr(C)]
pub struct Answer {
    keep: Keep,
    /// Whether the statement is a query, even one without rows; known where rows are kept.
    pub is_query: bool,
    /// Whether a transaction was committed in the midst of the answer, or may have been: by a text of several
    /// statements, or by a commit that also begins the next transaction. `transaction` alone does not show it.
    pub has_committed: bool,
    /// Whether the server answered that it has rolled back, as to COMMIT after an error.
    pub has_rolled_back: bool,
    /// Whether the server no longer accepts the prepared statement: it had no effect, and can be prepared and executed
    /// again.
    pub is_unprepared: bool,
    /// Whether the server added warnings, where its protocol counts them: a rollback has one where it leaves changes.
    pub has_warnings: bool,
    /// State of the session's transaction after this answer; within a pipeline it is known only after the
    /// last answer.
    pub transaction: TransactionStatus,
    /// Rows the statement returned.
    pub rows: u64,
    /// Rows the statement changed, as the server counts them.
    pub affected: u64,
    /// The statement's error. The connection can still be used.
    pub error: Option<SystemError>,
    /// Sum of the row hashes: equal for equal sets of rows in any order.
    pub digest: u64,
    /// The rows in the form common to all systems, where they are compared or kept.
    pub compared: RowsDigest,
    /// Column names, where rows are kept or compared.
    pub columns: Vec<String>,
    /// Column types as far as known, where rows are kept or compared.
    pub cell_types: Vec<CellType>,
    /// The rows, or the first and the last one, where they are kept.
    pub kept: Vec<Vec<Option<Box<[u8]>>>>,
    row_hash: RowHash,
    /// Column types, where cells are hashed in the common form of all systems.
    types: Vec<ColumnType>,
    /// Index of the next cell of the current row.
    place: usize,
    row: Vec<Option<Box<[u8]>>>,
}

impl Answer {
    /// An empty answer that will keep this much of its rows.
    pub fn new(keep: Keep) -> Self {
        Self {
            keep,
            ..Self::default()
        }
    }

    /// From now on each cell is hashed in the common form of all systems ([`ColumnType::comparable`]):
    /// equal rows of two systems have the same digest.
    pub fn compare_as(&mut self, types: Vec<ColumnType>) {
        self.types = types;
    }

    /// Clears the last answer. Keeps the memory, the types of `compare_as` and the transaction's status:
    /// a request that cannot be sent does not change it.
    #[inline]
    pub fn clear(&mut self, keep: Keep) {
        // Where the last rows were only counted, the rest is as it was: with many sessions each field that is not
        // touched is one less to fetch into the processor's caches.
        if self.is_query || self.keep != Keep::Count {
            self.forget_rows();
        }
        self.keep = keep;
        (self.has_committed, self.has_rolled_back) = (false, false);
        (self.is_unprepared, self.has_warnings) = (false, false);
        self.rows = 0;
        self.affected = 0;
        self.error = None;
    }

    fn forget_rows(&mut self) {
        self.digest = 0;
        self.compared = RowsDigest::default();
        self.is_query = false;
        self.forget_columns();
        self.kept.clear();
    }

    /// Whether a driver must hand over the cells of the rows, not only count them.
    #[inline]
    pub fn wants_cells(&self) -> bool {
        self.keep != Keep::Count
    }

    /// Whether a driver must name the columns before the first row.
    #[inline]
    pub fn wants_columns(&self) -> bool {
        self.keep >= Keep::Compare || !self.types.is_empty()
    }

    /// Reports a column whose cells are numbers or text.
    pub fn column(&mut self, name: &str) {
        self.typed_column(name, CellType::Plain);
    }

    /// Names the next column, and says how the text of its cells is to be read.
    pub fn typed_column(&mut self, name: &str, cell_type: CellType) {
        if self.wants_columns() {
            self.is_query = true;
            self.columns.push(name.to_owned());
            self.cell_types.push(cell_type);
        }
    }

    /// Reports a query whose columns are named by its rows, of which there may be none.
    pub fn result(&mut self) {
        self.is_query = true;
    }

    /// Clears the columns: those of another result follow.
    pub fn forget_columns(&mut self) {
        self.columns.clear();
        self.cell_types.clear();
    }

    /// Counts a row whose cells are not needed.
    #[inline]
    pub fn pass_row(&mut self) {
        self.rows += 1;
    }

    /// Begins a row; its cells follow in the order of the columns.
    pub fn begin_row(&mut self) {
        self.row_hash = RowHash::default();
        self.compared.begin_row();
        self.place = 0;
        self.row.clear();
    }

    /// Hands over the next cell of the row: its text, or none for NULL.
    pub fn cell(&mut self, text: Option<&[u8]>) {
        if self.keep == Keep::Count {
            return;
        }
        if self.keep == Keep::Ends {
            self.place += 1;
            self.row.push(text.map(Into::into));
            return;
        }
        if self.keep >= Keep::Compare {
            let cell_type = self.cell_types.get(self.place).copied().unwrap_or_default();
            self.compared.cell(text, cell_type);
        }
        if self.keep == Keep::Compare {
            self.place += 1;
            return;
        }
        match (self.types.get(self.place), text) {
            (Some(ColumnType::Bytes), Some(text)) => match self.bytes_in_hexadecimal(text) {
                Some(bytes) => self.row_hash.cell(Some(&bytes)),
                None => self.row_hash.cell(Some(text)),
            },
            (Some(kind), Some(text)) => self.row_hash.cell(Some(&kind.comparable(text))),
            (None, Some(text)) => self.row_hash.text(text),
            (_, None) => self.row_hash.cell(None),
        }
        self.place += 1;
        if self.keep >= Keep::FirstAndLast {
            self.row.push(text.map(Into::into));
        }
    }

    /// The bytes of the next cell, where its driver gives them as hexadecimal digits.
    fn bytes_in_hexadecimal(&self, text: &[u8]) -> Option<Vec<u8>> {
        match self.cell_types.get(self.place) {
            Some(CellType::HexBytes) => from_hex(text),
            _ => None,
        }
    }

    /// Ends the row, which now counts.
    pub fn end_row(&mut self) {
        self.rows += 1;
        if !matches!(self.keep, Keep::Count | Keep::Ends) {
            self.digest = self.digest.wrapping_add(self.row_hash.sum());
            self.compared.end_row();
        }
        match (self.keep, self.kept.len()) {
            (Keep::Ends | Keep::FirstAndLast, 2) => {
                std::mem::swap(&mut self.kept[1], &mut self.row);
            }
            (Keep::Ends | Keep::FirstAndLast | Keep::Rows, _) => {
                self.kept.push(std::mem::take(&mut self.row));
            }
            (Keep::Count | Keep::Digest | Keep::Compare, _) => {}
        }
    }
}

/// The state of a session's transaction after an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TransactionStatus {
    /// No transaction is open: each statement commits on its own.
    #[default]
    None,
    /// A transaction is open and can be committed.
    Open,
    /// It had an error and can only be rolled back.
    Failed,
    /// The system did not report it: it may be open.
    Unknown,
}

#[cfg(test)]
mod tests {
    use super::{Answer, Keep};
    use assay_values::{CellType, ColumnType};

    /// A driver says which form its bytes have: bytes that look like the other form are not changed.
    #[test]
    fn bytes_are_the_same_in_both_forms() {
        let digest = |cell_type: CellType, text: &[u8]| {
            let mut answer = Answer::new(Keep::Digest);
            answer.compare_as(vec![ColumnType::Bytes]);
            assert!(answer.wants_columns());
            answer.typed_column("a", cell_type);
            answer.begin_row();
            answer.cell(Some(text));
            answer.end_row();
            answer.digest
        };
        let letters = digest(CellType::Bytes, b"\\x6869");
        assert_eq!(letters, digest(CellType::HexBytes, b"\\x5c7836383639"));
        assert_ne!(letters, digest(CellType::Bytes, b"hi"));
    }

    #[test]
    fn of_many_rows_the_first_and_the_last_are_stored() {
        for rows in 0..5_u8 {
            let mut whole = Answer::new(Keep::Rows);
            let mut ends = Answer::new(Keep::FirstAndLast);
            let mut unhashed = Answer::new(Keep::Ends);
            for answer in [&mut whole, &mut ends, &mut unhashed] {
                answer.column("a");
                for number in 0..rows {
                    answer.begin_row();
                    answer.cell(Some(&[number]));
                    answer.end_row();
                }
            }
            assert!(ends.kept.len() <= 2);
            assert_eq!(ends.kept.first(), whole.kept.first());
            assert_eq!(ends.kept.last(), whole.kept.last());
            assert_eq!((ends.rows, ends.digest), (whole.rows, whole.digest));
            assert_eq!(ends.columns, whole.columns);
            assert_eq!((&unhashed.kept, unhashed.rows), (&ends.kept, ends.rows));
            assert_eq!(unhashed.columns, whole.columns);
        }
    }

    #[test]
    fn a_query_without_columns_and_rows_is_one_until_the_answer_is_cleared() {
        let mut answer = Answer::new(Keep::Rows);
        assert!(!answer.is_query, "a write");
        answer.result();
        assert!(answer.is_query && answer.columns.is_empty());
        answer.clear(Keep::Rows);
        assert!(!answer.is_query);
        answer.column("a");
        answer.forget_columns();
        assert!(answer.is_query, "of several results each is one of a query");
    }
}

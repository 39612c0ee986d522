//! What came back for one request: counted always, digested or kept where asked for.

use assay_values::{CellType, ColumnType, RowHash};

use crate::{SystemError, TransactionStatus};

/// How much of the rows the engine wants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Keep {
    /// Rows are counted and passed over.
    #[default]
    Count,
    /// Rows are counted and hashed, whatever their order.
    Digest,
    /// Rows are counted, hashed and stored.
    Rows,
}

/// The answer to one request; cleared and used again for the next.
///
/// Drivers report every row as `begin_row`, then `cell` for each column **in text form** (the text
/// the protocol's text format gives; NULL is `None`), then `end_row`. Where `wants_cells` is false
/// they may call `pass_row` instead and skip the bytes.
#[derive(Debug, Default)]
pub struct Answer {
    keep: Keep,
    /// Rows the statement returned.
    pub rows: u64,
    /// Rows the statement changed, as the server counts them.
    pub affected: u64,
    /// A sum of the rows' hashes: equal for equal sets of rows in any order.
    pub digest: u64,
    /// The statement's error. The connection is still good.
    pub error: Option<SystemError>,
    /// Where the session's transaction stands behind this answer; within a pipeline it is known only behind
    /// the last one.
    pub transaction: TransactionStatus,
    /// Column names, where rows are kept.
    pub columns: Vec<String>,
    /// What is known of the columns' types, where rows are kept.
    pub cell_types: Vec<CellType>,
    /// Kept rows, where asked for.
    pub kept: Vec<Vec<Option<Box<[u8]>>>>,
    row_hash: RowHash,
    /// Of the columns, where cells are hashed in the form that all systems have in common.
    types: Vec<ColumnType>,
    /// Cells of the row under way that were hashed so.
    place: usize,
    row: Vec<Option<Box<[u8]>>>,
}

impl Answer {
    /// An empty answer that will keep this much of its rows.
    #[must_use]
    pub fn new(keep: Keep) -> Self {
        Self {
            keep,
            ..Self::default()
        }
    }

    /// From here on each cell is hashed in the form that all systems have in common
    /// ([`ColumnType::comparable`]): equal rows of two systems have one digest.
    pub fn compare_as(&mut self, types: Vec<ColumnType>) {
        self.types = types;
    }

    /// Forgets the last answer and keeps the memory, the types of `compare_as`, and the status of the
    /// transaction: a request that cannot be sent leaves it as it was.
    pub fn clear(&mut self, keep: Keep) {
        self.keep = keep;
        self.rows = 0;
        self.affected = 0;
        self.digest = 0;
        self.error = None;
        self.forget_columns();
        self.kept.clear();
    }

    /// Whether a driver must hand over the cells of the rows, not only count them.
    #[must_use]
    pub fn wants_cells(&self) -> bool {
        self.keep != Keep::Count
    }

    /// Whether a driver must name the columns before the first row.
    #[must_use]
    pub fn wants_columns(&self) -> bool {
        self.keep == Keep::Rows
    }

    /// A column whose cells are numbers and texts.
    pub fn column(&mut self, name: &str) {
        self.typed_column(name, CellType::Plain);
    }

    /// Names the next column, and says how the text of its cells is to be read.
    pub fn typed_column(&mut self, name: &str, cell_type: CellType) {
        if self.wants_columns() {
            self.columns.push(name.to_owned());
            self.cell_types.push(cell_type);
        }
    }

    /// Other columns follow.
    pub fn forget_columns(&mut self) {
        self.columns.clear();
        self.cell_types.clear();
    }

    /// A row whose cells nobody wants.
    pub fn pass_row(&mut self) {
        self.rows += 1;
    }

    /// Begins a row; its cells follow in the order of the columns.
    pub fn begin_row(&mut self) {
        self.row_hash = RowHash::default();
        self.place = 0;
        self.row.clear();
    }

    /// Hands over the next cell of the row: its text, or none for NULL.
    pub fn cell(&mut self, text: Option<&[u8]>) {
        if self.keep == Keep::Count {
            return;
        }
        match (self.types.get(self.place), text) {
            (Some(kind), Some(text)) => self.row_hash.cell(Some(&kind.comparable(text))),
            _ => self.row_hash.cell(text),
        }
        self.place += 1;
        if self.keep == Keep::Rows {
            self.row.push(text.map(Into::into));
        }
    }

    /// Ends the row, which now counts.
    pub fn end_row(&mut self) {
        self.rows += 1;
        if self.keep != Keep::Count {
            self.digest = self.digest.wrapping_add(self.row_hash.sum());
        }
        if self.keep == Keep::Rows {
            self.kept.push(std::mem::take(&mut self.row));
        }
    }
}

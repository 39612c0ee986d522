//! Takes nothing; holds what goes back and forth between the engine and the machine of a client: the answer
//! to a statement, and how a transaction ended.

use assay_values::CellType;

/// How a transaction ended, as the script sees it. Unless it is done, the engine rolls back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The script came to its end.
    Done,
    /// The workload asked for it (`\\abort`).
    Aborted,
    /// A statement's error, an expectation that was not met, an expression without a value. `class`
    /// is a word of the list of error classes; `message` begins with path, line and column.
    Failed {
        /// The error class.
        class: &'static str,
        /// What went wrong and where.
        message: String,
    },
}

/// What came back for the statement under way.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reply<'a> {
    /// Rows that came back.
    pub rows: u64,
    /// Rows that were changed.
    pub affected: u64,
    /// Names of the columns, and the cells of the first row in text form (`None` is NULL); asked for
    /// only where [`crate::Machine::keep`] says [`crate::Need::Rows`].
    pub columns: &'a [String],
    /// What the driver knows of their types; plain where it says nothing.
    pub types: &'a [CellType],
    /// The cells of the first row, where the statement needs rows; none for NULL.
    pub first_row: Option<&'a [Option<Box<[u8]>>]>,
    /// The cells of the last row, likewise.
    pub last_row: Option<&'a [Option<Box<[u8]>>]>,
    /// Class word and message, where the statement failed.
    pub error: Option<(&'a str, &'a str)>,
}

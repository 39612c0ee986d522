//! Holds what the engine and the machine of a client exchange: the answer to a statement, how a transaction ended, and the
//! error classes that a script may name.

use crate::nearest::nearest;
use assay_values::{CellType, ErrorClass};

/// How a transaction ended for the script. Unless it reached its end, the engine rolls back; what is aborted may have
/// been rolled back before, at [`Step::RollBack`](crate::Step::RollBack).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The script reached its end.
    Done,
    /// The script executed `\\abort`.
    Aborted,
    /// A statement's error, an expectation that was not met, or an expression without a value. `class`
    /// is the name of an error class; `message` begins with path, line and column.
    Failed {
        /// The error class.
        class: &'static str,
        /// What went wrong and where.
        message: String,
    },
}

/// The answer to the current statement.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reply<'a> {
    /// Number of rows returned.
    pub rows: u64,
    /// Number of rows changed.
    pub affected: u64,
    /// Names of the columns; needed
    /// only if [`crate::Machine::keep`] returns [`crate::Need::Rows`].
    pub columns: &'a [String],
    /// The types of the columns as far as the driver knows them; otherwise plain text.
    pub types: &'a [CellType],
    /// The cells of the first row in text form, if the statement needs rows; `None` is NULL.
    pub first_row: Option<&'a [Option<Box<[u8]>>]>,
    /// The cells of the last row, likewise.
    pub last_row: Option<&'a [Option<Box<[u8]>>]>,
    /// Error class and message, if the statement failed.
    pub error: Option<(&'a str, &'a str)>,
}

/// Classes of statement errors that leave the connection open: those that `\expect error` accepts.
pub const STATEMENT_CLASSES: &[&str] = &words_of(ErrorClass::OF_STATEMENTS);

const fn words_of<const N: usize>(classes: [ErrorClass; N]) -> [&'static str; N] {
    let mut words = [""; N];
    let mut at = 0;
    while at < N {
        words[at] = classes[at].word();
        at += 1;
    }
    words
}

/// The class of that name; `other` if the name is unknown.
pub(crate) fn known(word: &str) -> &'static str {
    ErrorClass::from_word(word).unwrap_or(ErrorClass::Other).word()
}

/// The class that a script names; `Err` holds the class probably meant.
pub(crate) fn class_named(words: &str) -> Result<&'static str, Option<&'static str>> {
    let found = STATEMENT_CLASSES.iter().copied().find(|class| class.eq_ignore_ascii_case(words));
    found.ok_or_else(|| nearest(words, STATEMENT_CLASSES.iter().copied()))
}

//! Holds what the compiler knows of the last statement while following commands may apply to its answer.

use std::ops::Range;

/// The statement sent last, not settled yet.
pub(crate) struct PendingStatement {
    pub at: usize,
    /// For each statement of the source: the range of its choices in the list of statements.
    pub sent: Vec<Range<usize>>,
    pub must_be_error: bool,
    pub must_have_rows: bool,
}

impl PendingStatement {
    pub fn is_combined(&self) -> bool {
        self.sent.len() > 1
    }
}

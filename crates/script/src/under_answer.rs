//! Takes nothing; holds what the compiler knows of a statement while what follows may speak of its answer.

use std::ops::Range;

/// What was sent last and is not settled yet.
pub(crate) struct UnderAnswer {
    pub at: usize,
    /// In the list of statements, for each statement as it is written: all its choices.
    pub sent: Vec<Range<usize>>,
    pub must_be_error: bool,
    pub must_have_rows: bool,
}

impl UnderAnswer {
    pub fn is_combined(&self) -> bool {
        self.sent.len() > 1
    }
}

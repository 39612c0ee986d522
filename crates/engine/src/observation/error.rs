//! What systems refused, by class and code.

use schemars::JsonSchema;
use serde::Serialize;

/// All errors of one class, code and certainty in one transaction type.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ErrorReport {
    pub class: &'static str,
    /// The system's own.
    pub code: String,
    pub certainty: Certainty,
    /// Of the first of them.
    pub message: String,
    pub count: u64,
    /// How many of these were followed by another attempt at the same transaction.
    pub retried: u64,
    /// None where no transaction was under way (while connecting).
    pub transaction: Option<String>,
    /// Since the beginning of the measurement, 0 where it was before; where nothing was measured, since
    /// the beginning of the run.
    pub first_at_ns: u64,
}

/// Whether what was asked for is known not to have happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Certainty {
    /// Nothing was changed.
    Undone,
    /// It may have been changed all the same: the answer to a commit was lost.
    Unknown,
}

impl From<assay_drivers::Certainty> for Certainty {
    fn from(certainty: assay_drivers::Certainty) -> Self {
        match certainty {
            assay_drivers::Certainty::Undone => Self::Undone,
            assay_drivers::Certainty::Unknown => Self::Unknown,
        }
    }
}

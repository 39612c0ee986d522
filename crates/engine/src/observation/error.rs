//! The errors of a run, by class and code.

use schemars::JsonSchema;
use serde::Serialize;

/// All errors of one class, code and certainty in one transaction type.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ErrorReport {
    /// The error class, the same for all systems.
    pub class: &'static str,
    /// The system's own code.
    pub code: String,
    /// Whether the failed statement is known to be undone.
    pub certainty: Certainty,
    /// The message of the first of them.
    pub message: String,
    /// How many such errors there were.
    pub count: u64,
    /// After how many of these the transaction was retried.
    pub retried: u64,
    /// Null if no transaction was running (while connecting).
    pub transaction: Option<String>,
    /// Since the start of the measurement, 0 if it was before; if nothing was measured, since the start of
    /// the run.
    pub first_at_ns: u64,
}

/// Whether the statement is known to have had no effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Certainty {
    /// Nothing was changed.
    Undone,
    /// Something may have been changed: the answer to a commit was lost.
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

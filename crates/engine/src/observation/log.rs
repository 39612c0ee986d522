//! What the log of single transactions has, and what writing it cost.

use schemars::JsonSchema;
use serde::Serialize;

/// The log of single transactions.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct LogReport {
    /// The share of the transactions that were to be written.
    pub sample: f64,
    /// Transactions that were written.
    pub rows: u64,
    /// Their size in the file.
    pub bytes: u64,
    /// CPU time of the thread that wrote them, part of the client's.
    pub cpu_ns: u64,
}

//! The file that single transactions are written to.

use std::path::PathBuf;

use serde::Deserialize;

/// Which transactions are written to which file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LogDocument {
    /// A file with the headings of the columns; rows are added at its end.
    pub path: PathBuf,
    /// The run's number, the first column.
    pub run: u64,
    /// The share of the transactions that are written: more than 0, at most 1.
    pub sample: f64,
}

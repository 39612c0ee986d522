//! The reports of a null server: its address, and its totals at the end.

use serde::Serialize;

/// The address of a running server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Listening {
    pub protocol: String,
    pub unix: Option<String>,
    pub host: Option<String>,
    pub port: Option<u16>,
    /// How many files, and so about how many sessions, this process may open.
    pub open_files_limit: u64,
}

/// The totals of a server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Served {
    pub sessions: u64,
    /// Sessions that were refused.
    pub refused: u64,
    pub statements: u64,
}

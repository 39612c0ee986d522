//! The reports of a null server: its address, and its totals at the end.

use serde::Serialize;
use std::sync::atomic::{AtomicU64, Ordering};

/// The address of a running server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Listening {
    /// The protocol that the server speaks.
    pub protocol: String,
    /// The path of its Unix socket, if it listens at one.
    pub unix: Option<String>,
    /// The address of its TCP socket, if it listens at one.
    pub host: Option<String>,
    /// The port of its TCP socket, if it listens at one.
    pub port: Option<u16>,
    /// How many files, and so about how many sessions, this process may open.
    pub open_files_limit: u64,
}

/// The totals of a server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Served {
    /// Sessions that were opened.
    pub sessions: u64,
    /// Sessions that were refused.
    pub refused: u64,
    /// Statements that were answered.
    pub statements: u64,
}

#[derive(Debug, Default)]
pub struct Counts {
    pub sessions: AtomicU64,
    pub refused: AtomicU64,
    /// Each thread adds its own count when it ends.
    pub statements: AtomicU64,
}

impl Counts {
    #[must_use]
    pub fn total(&self) -> Served {
        Served {
            sessions: self.sessions.load(Ordering::Relaxed),
            refused: self.refused.load(Ordering::Relaxed),
            statements: self.statements.load(Ordering::Relaxed),
        }
    }
}

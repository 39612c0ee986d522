//! The counters of a server's threads.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::null_server::report::Served;

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

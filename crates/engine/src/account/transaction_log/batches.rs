//! Takes rows of the log from client threads; holds what these share with the thread that writes them.

use std::path::PathBuf;
use std::sync::atomic::AtomicUsize;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use crate::EngineError;
use crate::observation::Outcome;

/// One row. Instants are on the run's clock.
#[derive(Clone, Copy, Debug)]
pub struct LoggedTransaction {
    pub transaction_type: u32,
    pub due_ns: u64,
    /// `None`: it was skipped.
    pub done: Option<DoneTransaction>,
}

#[derive(Clone, Copy, Debug)]
pub struct DoneTransaction {
    pub client: u32,
    pub outcome: Outcome,
    pub started_ns: u64,
    pub end_ns: u64,
    pub latency_ns: u64,
}

/// Rows that a client thread hands to the writer at once.
pub(super) type Batch = Vec<LoggedTransaction>;

/// What the writer and the client threads share.
#[derive(Debug, Default)]
pub(super) struct LogState {
    pub path: PathBuf,
    /// The wall clock when the measurement began.
    pub began_unix_ns: OnceLock<u64>,
    /// Batches that the writer has not taken yet.
    pub waiting: AtomicUsize,
    pub empty: Mutex<Vec<Batch>>,
    pub failure: OnceLock<EngineError>,
}

impl LogState {
    /// The first failure counts.
    pub fn failed(&self, error: EngineError) {
        let _ = self.failure.set(error);
    }

    pub fn has_failed(&self) -> bool {
        self.failure.get().is_some()
    }
}

pub(super) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

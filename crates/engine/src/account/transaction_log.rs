//! Takes single transactions as they end; writes those of a sample to a file, in a thread of its own.
//!
//! ```text
//!   client threads ── batches of 512 rows ──► writer ──► CSV, added to the file
//!                  ◄── empty batches ───────
//! ```
//!
//! A client thread copies 48 bytes into its batch, and hands a full one over without waiting for the disk. If too many
//! batches wait, or the disk is full, the log has failed: the run ends with that error.

mod batches;
mod sampling;
mod writer;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::Sender;
use std::thread::JoinHandle;

use crate::EngineError;
use crate::account::transaction_log::batches::{Batch, LogState, locked};
use crate::account::transaction_log::sampling::Sampling;
use crate::account::transaction_log::writer::Writer;
use crate::document::LogDocument;
use crate::observation::LogReport;

pub use batches::{DoneTransaction, LoggedTransaction};
pub use sampling::Identity;

const BATCH_ROWS: usize = 512;
/// How many batches may wait for the disk: about 200 MB.
const MOST_WAITING: usize = 8192;

/// The log of a run, with the thread that writes it.
#[derive(Debug)]
pub struct TransactionLog {
    shared: Arc<LogState>,
    sampling: Sampling,
    to_writer: Sender<Batch>,
    writer: JoinHandle<LogReport>,
}

/// The part of one client thread.
#[derive(Debug)]
pub struct ThreadLog {
    batch: Batch,
    measure_ns: u64,
    sampling: Sampling,
    to_writer: Sender<Batch>,
    shared: Arc<LogState>,
}

impl TransactionLog {
    /// Opens the file and starts the writer. `names`: of the transaction types, by number.
    ///
    /// # Errors
    /// If the file cannot be opened, or the thread cannot be started.
    pub fn open(document: &LogDocument, seed: u64, names: &[&str]) -> Result<Self, EngineError> {
        let shared = Arc::new(LogState {
            path: document.path.clone(),
            ..LogState::default()
        });
        let (to_writer, writer) = Writer::start(document, names, shared.clone())?;
        Ok(Self {
            shared,
            sampling: Sampling::new(seed, document.sample),
            to_writer,
            writer,
        })
    }

    /// The part of one more thread.
    #[must_use]
    pub fn of_thread(&self) -> ThreadLog {
        ThreadLog {
            batch: Vec::with_capacity(BATCH_ROWS),
            measure_ns: 0,
            sampling: self.sampling,
            to_writer: self.to_writer.clone(),
            shared: self.shared.clone(),
        }
    }

    /// The measurement began at this instant of the wall clock.
    pub fn began(&self, unix_ns: u64) {
        let _ = self.shared.began_unix_ns.set(unix_ns);
    }

    #[must_use]
    pub fn has_failed(&self) -> bool {
        self.shared.has_failed()
    }

    /// Waits until everything is written: all parts of threads must have been dropped. `began_unix_ns`: when the
    /// measurement began, if [`TransactionLog::began`] was not called, as in a run that is shorter than the supervisor's
    /// steps.
    ///
    /// # Errors
    /// If it could not be written.
    pub fn finish(self, began_unix_ns: u64) -> Result<LogReport, EngineError> {
        self.began(began_unix_ns);
        drop(self.to_writer);
        let report = self
            .writer
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        match self.shared.failure.get() {
            Some(failure) => Err(failure.clone()),
            None => Ok(report),
        }
    }
}

impl ThreadLog {
    /// The measurement begins at this instant of the run's clock.
    pub fn begin(&mut self, measure_ns: u64) {
        self.measure_ns = measure_ns;
    }

    #[inline]
    pub fn add(&mut self, identity: Identity, mut row: LoggedTransaction) {
        if !self.sampling.has(identity) {
            return;
        }
        let since = |instant_ns: u64| instant_ns.saturating_sub(self.measure_ns);
        row.due_ns = since(row.due_ns);
        if let Some(done) = &mut row.done {
            done.started_ns = since(done.started_ns);
            done.end_ns = since(done.end_ns);
        }
        self.batch.push(row);
        if self.batch.len() == BATCH_ROWS {
            self.hand_over();
        }
    }

    #[cold]
    fn hand_over(&mut self) {
        let empty = locked(&self.shared.empty).pop();
        let empty = empty.unwrap_or_else(|| Vec::with_capacity(BATCH_ROWS));
        let full = std::mem::replace(&mut self.batch, empty);
        if self.shared.has_failed() {
            return;
        }
        if self.shared.waiting.fetch_add(1, Ordering::Relaxed) > MOST_WAITING {
            self.shared.failed(too_slow(&self.shared.path));
        }
        // An error means that the writer has panicked: `finish` passes that on.
        let _ = self.to_writer.send(full);
    }
}

impl Drop for ThreadLog {
    fn drop(&mut self) {
        if !self.batch.is_empty() {
            self.hand_over();
        }
    }
}

fn too_slow(path: &Path) -> EngineError {
    EngineError::Machine {
        message: format!(
            "{}: transactions end faster than they can be written there: {} of them wait",
            path.display(),
            MOST_WAITING * BATCH_ROWS
        ),
        hint: Some("log a sample: --log-sample 0.01".to_owned()),
    }
}

//! Takes single transactions as they end; writes those of a sample to a file, in a thread of its own.
//!
//! ```text
//!   client threads ── batches of 512 rows ──► writer ──► CSV, added to the file
//!                  ◄── empty batches ───────
//! ```
//!
//! A client thread copies 48 bytes into its batch, and hands a full one over without waiting for the disk. If too many
//! batches wait, or the disk is full, the log has failed: the run ends with that error.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::JoinHandle;

use assay_values::{Random, write_csv_text, write_unsigned};

use crate::document::LogDocument;
use crate::observation::{LogReport, Outcome};
use crate::{EngineError, cost};

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

// Takes rows of the log from client threads; holds what these share with the thread that writes them.

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

// Takes the seed of a run and which transaction it is; says whether the transaction is in the sample of the log.

/// Which transaction it is, whatever the timing: in a schedule or a list its number, else its client's.
#[derive(Clone, Copy, Debug)]
pub enum Identity {
    /// Group and number.
    Numbered(u32, u64),
    /// Client, and how many it had begun.
    OfClient(u32, u64),
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Sampling {
    seed: u64,
    /// `None`: all.
    below: Option<u64>,
}

impl Sampling {
    pub fn new(seed: u64, share: f64) -> Self {
        // Another number than that of any client's or transaction's stream.
        let seed = Random::derived(seed, u64::MAX);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "of 0..1, and a float saturates"
        )]
        let below = (share < 1.0).then(|| (share * 2f64.powi(64)) as u64);
        Self { seed, below }
    }

    #[inline]
    pub fn has(self, identity: Identity) -> bool {
        let Some(below) = self.below else {
            return true;
        };
        let (stream, number) = match identity {
            Identity::Numbered(group, number) => (u64::from(group), number),
            Identity::OfClient(client, number) => (u64::from(client) + (1 << 32), number),
        };
        Random::derived(Random::derived(self.seed, stream), number) < below
    }
}

// Takes batches of transactions; adds them to the log's file as CSV, in a thread of its own.

const KEPT_EMPTY: usize = 64;

pub(super) struct Writer {
    file: File,
    run: u64,
    /// By transaction type, as CSV has them.
    names: Vec<Vec<u8>>,
    shared: Arc<LogState>,
    report: LogReport,
}

impl Writer {
    /// Opens the file and starts the thread, which ends when all senders are gone.
    ///
    /// # Errors
    /// If the file cannot be opened, or the thread cannot be started.
    pub fn start(
        document: &LogDocument,
        names: &[&str],
        shared: Arc<LogState>,
    ) -> Result<(Sender<Batch>, JoinHandle<LogReport>), EngineError> {
        let path = &document.path;
        let file = OpenOptions::new()
            .append(true)
            .open(path)
            .map_err(|error| not_written(path, &error))?;
        let writer = Self {
            file,
            run: document.run,
            names: names.iter().map(|name| field(name)).collect(),
            shared,
            report: LogReport {
                sample: document.sample,
                rows: 0,
                bytes: 0,
                cpu_ns: 0,
            },
        };
        let (sender, receiver) = channel();
        let thread = std::thread::Builder::new()
            .name("log".to_owned())
            .spawn(move || writer.run(&receiver))
            .map_err(|error| not_written(path, &error))?;
        Ok((sender, thread))
    }

    fn run(mut self, batches: &Receiver<Batch>) -> LogReport {
        let mut text = Vec::new();
        while let Ok(mut batch) = batches.recv() {
            self.shared.waiting.fetch_sub(1, Ordering::Relaxed);
            if !self.shared.has_failed() {
                text.clear();
                let began_unix_ns = *self.shared.began_unix_ns.wait();
                for row in &batch {
                    self.put(&mut text, began_unix_ns, row);
                }
                // In one call: other processes add to the same file.
                match self.file.write_all(&text) {
                    Ok(()) => {
                        self.report.rows += batch.len() as u64;
                        self.report.bytes += text.len() as u64;
                    }
                    Err(error) => self.shared.failed(not_written(&self.shared.path, &error)),
                }
            }
            batch.clear();
            let mut empty = locked(&self.shared.empty);
            if empty.len() < KEPT_EMPTY {
                empty.push(batch);
            }
        }
        self.report.cpu_ns = cost::ran_ns(cost::thread_id());
        self.report
    }

    fn put(&self, text: &mut Vec<u8>, began_unix_ns: u64, row: &LoggedTransaction) {
        write_unsigned(self.run, text);
        text.push(b',');
        write_unsigned(began_unix_ns, text);
        text.push(b',');
        text.extend_from_slice(&self.names[row.transaction_type as usize]);
        text.push(b',');
        match row.done {
            None => {
                text.push(b',');
                write_unsigned(row.due_ns, text);
                text.extend_from_slice(b",,,,skipped\n");
            }
            Some(done) => {
                write_unsigned(done.client.into(), text);
                let times = [row.due_ns, done.started_ns, done.end_ns, done.latency_ns];
                for time_ns in times {
                    text.push(b',');
                    write_unsigned(time_ns, text);
                }
                text.push(b',');
                text.extend_from_slice(done.outcome.word().as_bytes());
                text.push(b'\n');
            }
        }
    }
}

fn field(name: &str) -> Vec<u8> {
    let mut out = Vec::new();
    write_csv_text(name.as_bytes(), &mut out);
    out
}

fn not_written(path: &Path, error: &std::io::Error) -> EngineError {
    let text = error.to_string();
    let why = text.split(" (os error").next().unwrap_or_default();
    EngineError::Machine {
        message: format!(
            "{}: the log of transactions cannot be written: {why}",
            path.display()
        ),
        hint: Some("free some space there, or log a sample: --log-sample 0.01".to_owned()),
    }
}

#[cfg(test)]
mod tests {

    use super::*;

    #[test]
    fn a_sample_is_decided_by_the_seed_and_the_transaction_alone() {
        let of = |seed, share| {
            let sampling = Sampling::new(seed, share);
            let each = (0..100_000).map(move |number| {
                sampling.has(match number % 2 {
                    0 => Identity::OfClient(3, number),
                    _ => Identity::Numbered(0, number),
                })
            });
            each.collect::<Vec<_>>()
        };
        let kept = of(7, 0.01);
        assert_eq!(kept, of(7, 0.01));
        assert_ne!(kept, of(8, 0.01));
        let count = kept.iter().filter(|is_kept| **is_kept).count();
        assert!((900..1100).contains(&count), "{count}");
        assert!(of(7, 1.0).into_iter().all(|is_kept| is_kept));
    }
}

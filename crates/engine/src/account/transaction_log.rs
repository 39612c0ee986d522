//! Takes single transactions as they end; writes those of a sample to a file, in a thread of its own.
//!
//! ```text
//!   client threads ── batches of 512 rows ──► writer ──► CSV, added to the file
//!                  ◄── empty batches ───────
//! ```
//!
//! A client thread copies 48 bytes into its batch, and hands a full one over without waiting for the disk. If the
//! disk is so slow that too many batches wait, or full, the log has failed: the run ends, with that as its
//! error.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::JoinHandle;

use assay_values::Random;

use crate::EngineError;
use crate::cost;
use crate::document::LogDocument;
use crate::observation::{LogReport, Outcome};

const BATCH_ROWS: usize = 512;
/// How many batches may wait for the disk: about 200 MB.
const MOST_WAITING: usize = 8192;
const KEPT_EMPTY: usize = 64;

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

/// Which transaction it is, whatever the timing: in a schedule or a list its number, else its client's.
#[derive(Clone, Copy, Debug)]
pub enum Identity {
    /// Group and number.
    Numbered(u32, u64),
    /// Client, and how many it had begun.
    OfClient(u32, u64),
}

type Batch = Vec<LoggedTransaction>;

/// The log of a run: its threads' parts, and the thread that writes.
#[derive(Debug)]
pub struct TransactionLog {
    shared: Arc<LogState>,
    sampling: Sampling,
    /// Until it is finished.
    open: Mutex<Option<(Sender<Batch>, JoinHandle<LogReport>)>>,
}

/// What the writer and the client threads share.
#[derive(Debug, Default)]
struct LogState {
    path: PathBuf,
    /// The wall clock when the measurement began.
    began_unix_ns: OnceLock<u64>,
    waiting: AtomicUsize,
    empty: Mutex<Vec<Batch>>,
    has_failed: AtomicBool,
    failure: Mutex<Option<EngineError>>,
}

#[derive(Clone, Copy, Debug)]
struct Sampling {
    seed: u64,
    /// `None`: all.
    below: Option<u64>,
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
    /// If the file cannot be opened, or the thread not be started.
    pub fn open(document: &LogDocument, seed: u64, names: &[&str]) -> Result<Self, EngineError> {
        let path = &document.path;
        let file = OpenOptions::new()
            .append(true)
            .open(path)
            .map_err(|error| not_written(path, &error))?;
        let shared = Arc::new(LogState {
            path: path.clone(),
            ..LogState::default()
        });
        let writer = Writer {
            file,
            run: document.run,
            names: names.iter().map(|name| quoted(name)).collect(),
            shared: shared.clone(),
            report: LogReport {
                sample: document.sample,
                rows: 0,
                bytes: 0,
                cpu_ns: 0,
            },
        };
        let (sender, receiver) = channel();
        let started = std::thread::Builder::new()
            .name("log".to_owned())
            .spawn(move || writer.run(&receiver))
            .map_err(|error| not_written(path, &error))?;
        Ok(Self {
            shared,
            sampling: Sampling::new(seed, document.sample),
            open: Mutex::new(Some((sender, started))),
        })
    }

    /// The part of one more thread.
    #[must_use]
    pub fn of_thread(&self) -> Option<ThreadLog> {
        let to_writer = locked(&self.open).as_ref()?.0.clone();
        Some(ThreadLog {
            batch: Vec::with_capacity(BATCH_ROWS),
            measure_ns: 0,
            sampling: self.sampling,
            to_writer,
            shared: self.shared.clone(),
        })
    }

    /// The measurement began at this instant of the wall clock.
    pub fn began(&self, unix_ns: u64) {
        let _ = self.shared.began_unix_ns.set(unix_ns);
    }

    #[must_use]
    pub fn has_failed(&self) -> bool {
        self.shared.has_failed.load(Ordering::Relaxed)
    }

    /// Waits until everything is written; all threads' parts must be gone. `began_unix_ns`: when the measurement
    /// began, where that was not said: a run may be shorter than the supervisor looks.
    ///
    /// # Errors
    /// If it could not be written.
    pub fn finish(&self, began_unix_ns: u64) -> Result<Option<LogReport>, EngineError> {
        let Some((sender, writer)) = locked(&self.open).take() else {
            return Ok(None);
        };
        drop(sender);
        self.began(began_unix_ns);
        let report = writer
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        match locked(&self.shared.failure).take() {
            Some(failure) => Err(failure),
            None => Ok(Some(report)),
        }
    }
}

impl Sampling {
    fn new(seed: u64, share: f64) -> Self {
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
    fn has(self, identity: Identity) -> bool {
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
        if self.shared.has_failed.load(Ordering::Relaxed) {
            return;
        }
        if self.shared.waiting.fetch_add(1, Ordering::Relaxed) > MOST_WAITING {
            self.shared.failed(too_slow(&self.shared.path));
        }
        // Without a writer there is nothing to write to, and the run has ended.
        let _ = self.to_writer.send(full);
    }
}

impl Drop for ThreadLog {
    fn drop(&mut self) {
        self.hand_over();
    }
}

impl LogState {
    fn failed(&self, error: EngineError) {
        locked(&self.failure).get_or_insert(error);
        self.has_failed.store(true, Ordering::Relaxed);
    }
}

struct Writer {
    file: File,
    run: u64,
    /// By transaction type, as CSV has them.
    names: Vec<String>,
    shared: Arc<LogState>,
    report: LogReport,
}

impl Writer {
    fn run(mut self, batches: &Receiver<Batch>) -> LogReport {
        let mut text = Vec::new();
        while let Ok(mut batch) = batches.recv() {
            self.shared.waiting.fetch_sub(1, Ordering::Relaxed);
            if !batch.is_empty() && !self.shared.has_failed.load(Ordering::Relaxed) {
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
        put_number(text, self.run);
        text.push(b',');
        put_number(text, began_unix_ns);
        text.push(b',');
        text.extend_from_slice(self.names[row.transaction_type as usize].as_bytes());
        text.push(b',');
        match row.done {
            None => {
                text.push(b',');
                put_number(text, row.due_ns);
                text.extend_from_slice(b",,,,skipped\n");
            }
            Some(done) => {
                put_number(text, done.client.into());
                let times = [row.due_ns, done.started_ns, done.end_ns, done.latency_ns];
                for time_ns in times {
                    text.push(b',');
                    put_number(text, time_ns);
                }
                text.push(b',');
                text.extend_from_slice(done.outcome.word().as_bytes());
                text.push(b'\n');
            }
        }
    }
}

fn put_number(text: &mut Vec<u8>, mut number: u64) {
    let mut digits = [0u8; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + u8::try_from(number % 10).unwrap_or(0);
        number /= 10;
        if number == 0 {
            break;
        }
    }
    text.extend_from_slice(&digits[at..]);
}

/// A field of CSV (RFC 4180).
fn quoted(name: &str) -> String {
    if name.contains(['"', ',', '\n', '\r']) {
        format!("\"{}\"", name.replace('"', "\"\""))
    } else {
        name.to_owned()
    }
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

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
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

    #[test]
    fn fields_are_written_as_csv_has_them() {
        let mut text = Vec::new();
        for number in [0, 7, 10, u64::MAX] {
            put_number(&mut text, number);
            text.push(b' ');
        }
        assert_eq!(text, b"0 7 10 18446744073709551615 ");
        assert_eq!(quoted("a\"b,c"), "\"a\"\"b,c\"");
        assert_eq!(quoted("new order"), "new order");
    }
}

//! Takes batches of transactions; adds them to the log's file as CSV, in a thread of its own.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use assay_values::{write_csv_text, write_unsigned};

use crate::account::transaction_log::batches::{Batch, LogState, LoggedTransaction, locked};
use crate::document::LogDocument;
use crate::observation::LogReport;
use crate::{EngineError, cost};

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

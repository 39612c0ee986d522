//! Takes rows from any thread without making it wait; writes them to a file from a thread of its own.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use super::file::AccountFile;
use super::row::Row;
use crate::error::DiskError;

/// Rows between the requests and the file: 0.6 s of 100,000 requests per second.
const CAPACITY: usize = 65_536;

/// The writer looks for rows so often. It is never woken: that would cost each request a system call.
const INTERVAL: Duration = Duration::from_millis(20);

/// Where requests leave their rows.
#[derive(Clone, Debug)]
pub struct Recorder {
    rows: Option<SyncSender<Row>>,
    lost: Arc<AtomicU64>,
    unwritten: Arc<AtomicU64>,
    rounds: Arc<Rounds>,
}

/// How often the writer has emptied what was recorded into the file.
#[derive(Debug, Default)]
struct Rounds {
    /// None: it has ended.
    done: Mutex<Option<u64>>,
    changed: Condvar,
}

impl Rounds {
    fn set(&self, done: Option<u64>) {
        *self.done.lock().unwrap_or_else(PoisonError::into_inner) = done;
        self.changed.notify_all();
    }
}

/// A writer that ends, even by a panic, lets nobody wait.
struct EndOfRounds(Arc<Rounds>);

impl Drop for EndOfRounds {
    fn drop(&mut self) {
        self.0.set(None);
    }
}

impl Recorder {
    /// Keeps nothing.
    #[must_use]
    pub fn none() -> Self {
        Self {
            rows: None,
            lost: Arc::default(),
            unwritten: Arc::default(),
            rounds: Arc::default(),
        }
    }

    /// Returns when all rows that were recorded before are in the file, or never will be.
    pub fn wait_until_written(&self) {
        let mut done = (self.rounds.done.lock()).unwrap_or_else(PoisonError::into_inner);
        let Some(before) = *done else {
            return;
        };
        // The round under way may have passed by what was recorded last.
        while done.is_some_and(|now| now < before + 2) {
            done = (self.rounds.changed.wait(done)).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Leaves a row. If there is no room it is counted as lost.
    pub fn record(&self, row: Row) {
        if let Some(rows) = &self.rows
            && rows.try_send(row).is_err()
        {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Rows that found no room, or that the file did not take.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed) + self.unwritten.load(Ordering::Relaxed)
    }
}

/// The thread that writes.
#[derive(Debug)]
pub struct Writer {
    thread: JoinHandle<std::io::Result<()>>,
    is_finishing: Arc<AtomicBool>,
    path: PathBuf,
}

impl Writer {
    /// Begins a new file.
    ///
    /// # Errors
    ///
    /// The file exists, or cannot be made.
    pub fn start(path: &Path) -> Result<(Recorder, Self), DiskError> {
        let file =
            File::create_new(path).map_err(DiskError::machine("cannot make the account", path))?;
        let (sender, receiver) = sync_channel(CAPACITY);
        let recorder = Recorder {
            rows: Some(sender),
            lost: Arc::default(),
            unwritten: Arc::default(),
            rounds: Arc::default(),
        };
        let (lost, unwritten) = (Arc::clone(&recorder.lost), Arc::clone(&recorder.unwritten));
        recorder.rounds.set(Some(0));
        let end = EndOfRounds(Arc::clone(&recorder.rounds));
        let is_finishing = Arc::new(AtomicBool::new(false));
        let wants_end = Arc::clone(&is_finishing);
        let thread = std::thread::Builder::new()
            .name("account".to_owned())
            .spawn(move || write(file, &receiver, (&lost, &unwritten), &end.0, &wants_end))
            .map_err(DiskError::machine("cannot start the thread of", path))?;
        let writer = Self {
            thread,
            is_finishing,
            path: path.to_owned(),
        };
        Ok((recorder, writer))
    }

    /// Writes all rows that were recorded before.
    ///
    /// # Errors
    ///
    /// Rows are missing, and the file could not be made to say so.
    pub fn finish(self) -> Result<(), DiskError> {
        self.is_finishing.store(true, Ordering::Release);
        let ended = self.thread.join().unwrap_or_else(|_| {
            Err(std::io::Error::other(
                "the thread of the account ended by a panic",
            ))
        });
        ended.map_err(DiskError::machine("cannot write the account", self.path))
    }
}

fn write(
    file: File,
    rows: &Receiver<Row>,
    (lost, unwritten): (&AtomicU64, &AtomicU64),
    rounds: &Rounds,
    is_finishing: &AtomicBool,
) -> std::io::Result<()> {
    let mut file = AccountFile::begin(file)?;
    let mut known_lost = 0;
    for round in 1.. {
        // Before the rows: what was recorded before the end is among them.
        let is_last = is_finishing.load(Ordering::Acquire);
        while let Ok(row) = rows.try_recv() {
            file.row(&row);
        }
        let now_lost = lost.load(Ordering::Relaxed);
        if now_lost > known_lost {
            file.without_room(now_lost - known_lost);
            known_lost = now_lost;
        }
        file.flush();
        unwritten.store(file.unwritten(), Ordering::Relaxed);
        if is_last {
            break;
        }
        rounds.set(Some(round));
        std::thread::sleep(INTERVAL);
    }
    file.end()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::AtomicU64;
    use std::sync::mpsc::sync_channel;

    use super::super::{Row, read};
    use super::{Recorder, Rounds, write};
    use crate::model::Operation;

    #[test]
    fn a_row_without_room_is_counted_and_the_file_says_so() {
        let (sender, receiver) = sync_channel(2);
        let recorder = Recorder {
            rows: Some(sender),
            lost: Arc::default(),
            unwritten: Arc::default(),
            rounds: Arc::default(),
        };
        let row = Row {
            operation: Operation::Flush,
            offset: 0,
            length: 0,
            arrival_ns: 1,
            start_ns: 2,
            modelled_end_ns: 3,
            end_ns: 4,
            errno: 0,
        };
        for _ in 0..5 {
            recorder.record(row);
        }
        assert_eq!(recorder.lost(), 3);
        let lost = Arc::clone(&recorder.lost);
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("account");
        let file = std::fs::File::create_new(&path).expect("a file");
        let unwritten = AtomicU64::new(0);
        write(
            file,
            &receiver,
            (&lost, &unwritten),
            &Rounds::default(),
            &true.into(),
        )
        .expect("written");
        let account = read(&path).expect("an account");
        assert_eq!((account.rows, account.lost), (vec![row; 2], 3));
    }
}

//! Takes rows from any thread without making it wait; writes them at the end of a file from a thread of its own. Where
//! the file takes no more, it says how many are missing.
//!
//! The disk that the file is on may fill up, and have room again later. What could not be written is counted in a
//! row of its own, which takes the place of the last one that was written: that needs no room.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::account::rows;
use crate::account::rows::{Gap, HEADER_BYTES, ROW_BYTES, Row};
use crate::clock;
use crate::error::DiskError;

/// Written together.
const BUFFER_BYTES: usize = 1 << 18;

const HEADER: u64 = HEADER_BYTES as u64;
const ROW: u64 = ROW_BYTES as u64;

/// What a row in the file stands for.
#[derive(Clone, Copy, Debug, Default)]
struct Written {
    /// When the request was answered, or the last one before it.
    end_ns: u64,
    requests: u64,
    /// Whether it says what the request was.
    is_row: bool,
}

/// The file of an account.
#[derive(Debug)]
pub struct AccountFile {
    file: File,
    /// Bytes of the header and of whole rows that are in the file.
    length: u64,
    last: Written,
    waiting: Vec<u8>,
    waiting_rows: Vec<Written>,
    gap: Gap,
    /// Whether the last row in the file is that of the gap.
    has_place: bool,
    /// Why the gap is not in the file.
    failed: Option<io::Error>,
    /// Rows that were given and are not in the file.
    pub unwritten: u64,
}

impl AccountFile {
    /// Fails where not even the header can be written.
    pub fn begin(file: File) -> io::Result<Self> {
        let header = rows::header(clock::monotonic_ns(), clock::realtime_ns());
        file.write_all_at(&header, 0)?;
        Ok(Self {
            file,
            length: HEADER,
            last: Written::default(),
            waiting: Vec::with_capacity(BUFFER_BYTES + ROW_BYTES),
            waiting_rows: Vec::new(),
            gap: Gap::default(),
            has_place: false,
            failed: None,
            unwritten: 0,
        })
    }

    /// A request that ended.
    pub fn row(&mut self, row: &Row) {
        let written = Written {
            end_ns: row.end_ns,
            requests: 1,
            is_row: true,
        };
        self.push(&row.encode(), written);
    }

    /// So many rows were too many for the writer.
    pub fn without_room(&mut self, count: u64) {
        let gap = Gap {
            count,
            ended_ns: None,
        };
        let before = self.waiting_rows.last().unwrap_or(&self.last);
        let written = Written {
            end_ns: before.end_ns,
            requests: count,
            is_row: false,
        };
        self.push(&gap.encode(), written);
    }

    fn push(&mut self, bytes: &[u8; ROW_BYTES], written: Written) {
        self.waiting.extend_from_slice(bytes);
        self.waiting_rows.push(written);
        if self.waiting.len() >= BUFFER_BYTES {
            self.flush();
        }
    }

    /// Writes what waits, or counts it as missing.
    pub fn flush(&mut self) {
        if self.waiting.is_empty() && self.failed.is_none() {
            return;
        }
        let whole = self.append();
        if let Some(&last) = self.waiting_rows[..whole].last() {
            self.length += whole as u64 * ROW;
            self.last = last;
            (self.gap, self.has_place) = (Gap::default(), false);
        }
        let missing = &self.waiting_rows[whole..];
        for written in missing {
            self.gap.add(written.requests, written.end_ns);
            self.unwritten += u64::from(written.is_row);
        }
        self.failed = if missing.is_empty() && self.failed.is_none() {
            None
        } else {
            self.write_gap().err()
        };
        self.waiting.clear();
        self.waiting_rows.clear();
    }

    /// How many whole rows were written: not all where the file takes no more.
    fn append(&self) -> usize {
        let mut done = 0;
        while self.failed.is_none() && done < self.waiting.len() {
            let (rest, place) = (&self.waiting[done..], self.length + done as u64);
            match self.file.write_at(rest, place) {
                Ok(0) => break,
                Ok(count) => done += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => break,
            }
        }
        done / ROW_BYTES
    }

    /// In the place of the last row, which is missing from then on.
    fn write_gap(&mut self) -> io::Result<()> {
        self.file.set_len(self.length)?; // a part of a row may be there
        let mut gap = self.gap;
        let is_first = self.length == HEADER;
        let replaces = !self.has_place && !is_first;
        if replaces {
            gap.add(self.last.requests, self.last.end_ns);
        }
        let place = if is_first { HEADER } else { self.length - ROW };
        self.file.write_all_at(&gap.encode(), place)?;
        self.unwritten += u64::from(replaces && self.last.is_row);
        self.length = place + ROW;
        (self.gap, self.has_place) = (gap, true);
        Ok(())
    }

    /// Fails where rows are missing and the file does not say so.
    pub fn end(self) -> io::Result<()> {
        self.failed.map_or(Ok(()), Err)
    }
}

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
        unwritten.store(file.unwritten, Ordering::Relaxed);
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
    use super::super::{Row, read};
    use super::{AccountFile, Recorder, Rounds, write};
    use crate::model::Operation;
    use std::sync::Arc;
    use std::sync::atomic::AtomicU64;
    use std::sync::mpsc::sync_channel;

    fn row(end_ns: u64) -> Row {
        Row {
            operation: Operation::Write,
            offset: 0,
            length: 8192,
            arrival_ns: 1,
            start_ns: 2,
            modelled_end_ns: 3,
            end_ns,
            errno: 0,
        }
    }

    /// Every write fails there as on a full disk, whatever the file already holds.
    #[test]
    fn what_a_file_does_not_take_is_counted_in_the_place_of_its_last_row() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("account");
        let mut account = AccountFile::begin(std::fs::File::create_new(&path).expect("a file"))
            .expect("a header");
        for end_ns in 1..=3 {
            account.row(&row(end_ns));
        }
        account.flush();
        let own = std::mem::replace(
            &mut account.file,
            std::fs::File::options()
                .write(true)
                .open("/dev/full")
                .expect("a full device"),
        );
        account.row(&row(4));
        account.without_room(10);
        account.flush();
        assert!(account.failed.is_some(), "not even the gap has a place");
        account.row(&row(5));
        account.flush();
        account.file = own;
        account.row(&row(6));
        account.flush();
        assert_eq!(account.unwritten, 4);
        account.row(&row(7));
        account.flush();
        account.end().expect("whole");
        let found = read(&path).expect("an account");
        let ends: Vec<u64> = found.rows.iter().map(|row| row.end_ns).collect();
        // The third row gave its place; the sixth came while the gap had none.
        assert_eq!((ends, found.lost, found.is_cut), (vec![1, 2, 7], 14, false));
    }

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

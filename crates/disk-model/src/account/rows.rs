//! Takes a request that ended; returns its bytes in the file of the account, and back: from such a file its rows one by
//! one, or all of them.
//!
//! The file begins with 32 bytes: the magic word, the version, the bytes of a row, and one instant on both
//! clocks, monotonic and since 1970. Rows of 48 bytes follow, all numbers little-endian. A process that is
//! killed leaves a part of a row at the end at most.

use std::fs::File;
use std::io::{BufReader, ErrorKind, Read};
use std::path::{Path, PathBuf};

use crate::error::DiskError;
use crate::model::Operation;

pub const MAGIC: &[u8; 8] = b"ASSAYDSK";
pub const VERSION: u32 = 1;
pub const HEADER_BYTES: usize = 32;
pub const ROW_BYTES: usize = 48;

const READ: u8 = 1;
const WRITE: u8 = 2;
const FLUSH: u8 = 3;
/// A row that says how many rows before it are missing.
const LOST: u8 = 255;

/// A request that ended, with instants of the monotonic clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// What it asked.
    pub operation: Operation,
    /// First byte; 0 for a flush.
    pub offset: u64,
    /// Number of bytes; 0 for a flush.
    pub length: u32,
    /// When it reached the process.
    pub arrival_ns: u64,
    /// When the modelled disk began to work on it.
    pub start_ns: u64,
    /// When the modelled disk ended it.
    pub modelled_end_ns: u64,
    /// When it was answered.
    pub end_ns: u64,
    /// 0, or the error that it was answered with.
    pub errno: u16,
}

/// What 48 bytes of the file say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// A request.
    Row(Row),
    /// Rows that are missing before the next one.
    Lost(Gap),
}

/// Rows that are missing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gap {
    /// How many.
    pub count: u64,
    /// When the first and the last of them were answered; none where rows were too many to look at.
    pub ended_ns: Option<(u64, u64)>,
}

impl Gap {
    /// So many more, answered by then.
    pub(super) fn add(&mut self, count: u64, end_ns: u64) {
        self.count += count;
        let (first, last) = self.ended_ns.unwrap_or((end_ns, end_ns));
        self.ended_ns = Some((first.min(end_ns), last.max(end_ns)));
    }

    pub(super) fn encode(&self) -> [u8; ROW_BYTES] {
        let (first_ns, last_ns) = self.ended_ns.unwrap_or_default();
        encoded([self.count, first_ns, last_ns, 0, 0], 0, LOST, 0)
    }
}

pub fn header(monotonic_ns: u64, realtime_ns: u64) -> [u8; HEADER_BYTES] {
    let mut bytes = [0; HEADER_BYTES];
    bytes[..8].copy_from_slice(MAGIC);
    bytes[8..12].copy_from_slice(&VERSION.to_le_bytes());
    bytes[12..16].copy_from_slice(&48_u32.to_le_bytes());
    bytes[16..24].copy_from_slice(&monotonic_ns.to_le_bytes());
    bytes[24..32].copy_from_slice(&realtime_ns.to_le_bytes());
    bytes
}

fn encoded(numbers: [u64; 5], length: u32, kind: u8, errno: u16) -> [u8; ROW_BYTES] {
    let mut bytes = [0; ROW_BYTES];
    for (place, number) in bytes.chunks_exact_mut(8).zip(numbers) {
        place.copy_from_slice(&number.to_le_bytes());
    }
    bytes[40..44].copy_from_slice(&length.to_le_bytes());
    bytes[44] = kind;
    bytes[46..48].copy_from_slice(&errno.to_le_bytes());
    bytes
}

impl Row {
    pub(super) fn encode(&self) -> [u8; ROW_BYTES] {
        let kind = match self.operation {
            Operation::Read => READ,
            Operation::Write => WRITE,
            Operation::Flush => FLUSH,
        };
        let numbers =
            [self.offset, self.arrival_ns, self.start_ns, self.modelled_end_ns, self.end_ns];
        encoded(numbers, self.length, kind, self.errno)
    }
}

fn number(bytes: &[u8], place: usize) -> u64 {
    let mut word = [0; 8];
    word.copy_from_slice(&bytes[place * 8..place * 8 + 8]);
    u64::from_le_bytes(word)
}

/// None if these bytes are no row.
pub fn decode(bytes: &[u8; ROW_BYTES]) -> Option<Entry> {
    let operation = match bytes[44] {
        READ => Operation::Read,
        WRITE => Operation::Write,
        FLUSH => Operation::Flush,
        LOST => {
            let ended_ns = (number(bytes, 1), number(bytes, 2));
            return Some(Entry::Lost(Gap {
                count: number(bytes, 0),
                ended_ns: (ended_ns != (0, 0)).then_some(ended_ns),
            }));
        }
        _ => return None,
    };
    Some(Entry::Row(Row {
        operation,
        offset: number(bytes, 0),
        arrival_ns: number(bytes, 1),
        start_ns: number(bytes, 2),
        modelled_end_ns: number(bytes, 3),
        end_ns: number(bytes, 4),
        length: u32::from_le_bytes([bytes[40], bytes[41], bytes[42], bytes[43]]),
        errno: u16::from_le_bytes([bytes[46], bytes[47]]),
    }))
}

/// The two instants of a header; an error says what was expected.
pub fn decode_header(bytes: &[u8; HEADER_BYTES]) -> Result<(u64, u64), String> {
    if &bytes[..8] != MAGIC {
        return Err("expected the account of a modelled disk; this is another file".to_owned());
    }
    let version = u32::from_le_bytes([bytes[8], bytes[9], bytes[10], bytes[11]]);
    if version != VERSION {
        return Err(format!(
            "expected version {VERSION} of the account, found {version}"
        ));
    }
    Ok((number(bytes, 2), number(bytes, 3)))
}

/// An account may be larger than the memory.
const BUFFER_BYTES: usize = 1 << 20;

/// What a file says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    /// One instant on the clock of the rows …
    pub monotonic_ns: u64,
    /// … and the same since 1970.
    pub realtime_ns: u64,
    /// In the order in which they were answered, nearly: two threads answer.
    pub rows: Vec<Row>,
    /// Rows that are missing, as the writer counted them.
    pub lost: u64,
    /// Whether the file ends within a row: its process was killed.
    pub is_cut: bool,
}

/// The beginning of an account, and then its rows.
pub struct Rows {
    file: BufReader<File>,
    path: PathBuf,
    /// One instant on the clock of the rows …
    pub monotonic_ns: u64,
    /// … and the same since 1970.
    pub realtime_ns: u64,
    /// Whether the file ended within a row; known at its end.
    pub is_cut: bool,
    number: u64,
}

impl Rows {
    /// # Errors
    ///
    /// The file cannot be read, or is no account.
    pub fn open(path: &Path) -> Result<Self, DiskError> {
        let file = File::open(path).map_err(|error| unreadable(path, error))?;
        let mut file = BufReader::with_capacity(BUFFER_BYTES, file);
        let mut header = [0; HEADER_BYTES];
        file.read_exact(&mut header).map_err(|error| {
            if error.kind() == ErrorKind::UnexpectedEof {
                no_account(
                    path,
                    "expected the account of a modelled disk; the file is too short".to_owned(),
                )
            } else {
                unreadable(path, error)
            }
        })?;
        let (monotonic_ns, realtime_ns) =
            decode_header(&header).map_err(|message| no_account(path, message))?;
        Ok(Self {
            file,
            path: path.to_owned(),
            monotonic_ns,
            realtime_ns,
            is_cut: false,
            number: 0,
        })
    }

    fn read_next(&mut self) -> Result<Option<Entry>, DiskError> {
        let mut bytes = [0; ROW_BYTES];
        let mut filled = 0;
        while filled < ROW_BYTES {
            match self.file.read(&mut bytes[filled..]) {
                Ok(0) => {
                    self.is_cut = filled > 0;
                    return Ok(None);
                }
                Ok(count) => filled += count,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(unreadable(&self.path, error)),
            }
        }
        let found = decode(&bytes).ok_or_else(|| {
            no_account(&self.path, format!("row {} has no known kind", self.number))
        })?;
        self.number += 1;
        Ok(Some(found))
    }
}

impl Iterator for Rows {
    type Item = Result<Entry, DiskError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.read_next().transpose()
    }
}

fn unreadable(path: &Path, error: std::io::Error) -> DiskError {
    DiskError::machine("cannot read the account", path)(error)
}

fn no_account(path: &Path, message: String) -> DiskError {
    DiskError::File {
        path: path.to_owned(),
        message,
    }
}

/// Reads a whole account.
///
/// # Errors
///
/// The file cannot be read, or is no account.
pub fn read(path: &Path) -> Result<Account, DiskError> {
    let mut found = Rows::open(path)?;
    let mut account = Account {
        monotonic_ns: found.monotonic_ns,
        realtime_ns: found.realtime_ns,
        rows: Vec::new(),
        lost: 0,
        is_cut: false,
    };
    for entry in &mut found {
        match entry? {
            Entry::Row(row) => account.rows.push(row),
            Entry::Lost(gap) => account.lost += gap.count,
        }
    }
    account.is_cut = found.is_cut;
    Ok(account)
}

#[cfg(test)]
mod tests {
    use super::super::{Row, Writer};
    use super::read;
    use crate::model::Operation;

    fn row(number: u64) -> Row {
        Row {
            operation: match number % 3 {
                0 => Operation::Read,
                1 => Operation::Write,
                _ => Operation::Flush,
            },
            offset: number << 40,
            length: 8192,
            arrival_ns: number,
            start_ns: number + 1,
            modelled_end_ns: number + 2,
            end_ns: number + 3,
            errno: 5,
        }
    }

    #[test]
    fn rows_come_back_and_none_is_lost_silently() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("account");
        let (recorder, writer) = Writer::start(&path).expect("a file");
        // Faster than the writer looks: some may find no room.
        let count = 300_000;
        for number in 0..count {
            recorder.record(row(number));
        }
        let lost = recorder.lost();
        writer.finish().expect("written");
        let account = read(&path).expect("an account");
        assert_eq!(account.rows.len() as u64 + account.lost, count);
        assert_eq!(account.lost, lost);
        assert!(!account.is_cut);
        assert_eq!(account.rows[..1000], (0..1000).map(row).collect::<Vec<_>>());

        // A process that is killed leaves part of a row.
        let bytes = std::fs::read(&path).expect("readable");
        std::fs::write(&path, &bytes[..32 + 48 * 7 + 5]).expect("writable");
        let account = read(&path).expect("an account");
        assert!(account.is_cut);
        assert_eq!(account.rows.len(), 7);
        std::fs::write(&path, b"something else, long enough for a header").expect("writable");
        let message = read(&path).expect_err("no account").to_string();
        assert!(message.contains("another file"), "{message}");
    }
}

//! Takes the file of an account; gives its rows one by one, or all of them.

use std::fs::File;
use std::io::{BufReader, ErrorKind, Read};
use std::path::{Path, PathBuf};

use super::row::{self, HEADER_BYTES, ROW_BYTES, Row};

pub use super::row::Entry;
use crate::error::DiskError;

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
            row::decode_header(&header).map_err(|message| no_account(path, message))?;
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
        let found = row::decode(&bytes).ok_or_else(|| {
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

//! Takes the file of an account; returns its rows.

use std::fs::File;
use std::io::{BufReader, ErrorKind, Read};
use std::path::Path;

use super::row::{self, Entry, HEADER_BYTES, ROW_BYTES, Row};
use crate::error::DiskError;

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

/// Reads a whole account.
///
/// # Errors
///
/// The file cannot be read, or is no account.
pub fn read(path: &Path) -> Result<Account, DiskError> {
    let unreadable = |error| DiskError::machine("cannot read the account", path)(error);
    let no_account = |message: String| DiskError::File {
        path: path.to_owned(),
        message,
    };
    let mut file = BufReader::new(File::open(path).map_err(unreadable)?);
    let mut header = [0; HEADER_BYTES];
    file.read_exact(&mut header).map_err(|error| {
        if error.kind() == ErrorKind::UnexpectedEof {
            no_account("expected the account of a modelled disk; the file is too short".to_owned())
        } else {
            unreadable(error)
        }
    })?;
    let (monotonic_ns, realtime_ns) = row::decode_header(&header).map_err(no_account)?;
    let mut account = Account {
        monotonic_ns,
        realtime_ns,
        rows: Vec::new(),
        lost: 0,
        is_cut: false,
    };
    let mut rest = Vec::new();
    file.read_to_end(&mut rest).map_err(unreadable)?;
    let (entries, part) = rest.as_chunks::<ROW_BYTES>();
    account.is_cut = !part.is_empty();
    for (number, bytes) in entries.iter().enumerate() {
        match row::decode(bytes) {
            Some(Entry::Row(row)) => account.rows.push(row),
            Some(Entry::Lost(count)) => account.lost += count,
            None => return Err(no_account(format!("row {number} has no known kind"))),
        }
    }
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

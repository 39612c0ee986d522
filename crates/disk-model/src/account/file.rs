//! Takes rows; writes them at the end of a file. Where the file takes no more, it says how many are missing.
//!
//! The disk that the file is on may fill up, and have room again later. What could not be written is counted in a
//! row of its own, which takes the place of the last one that was written: that needs no room.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use super::row::{self, Gap, HEADER_BYTES, ROW_BYTES, Row};
use crate::clock;

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
    unwritten: u64,
}

impl AccountFile {
    /// Fails where not even the header can be written.
    pub fn begin(file: File) -> io::Result<Self> {
        let header = row::header(clock::monotonic_ns(), clock::realtime_ns());
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

    /// Rows that were given and are not in the file.
    pub fn unwritten(&self) -> u64 {
        self.unwritten
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

#[cfg(test)]
mod tests {
    use super::super::{Row, read};
    use super::AccountFile;
    use crate::model::Operation;

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
        assert_eq!(account.unwritten(), 4);
        account.row(&row(7));
        account.flush();
        account.end().expect("whole");
        let found = read(&path).expect("an account");
        let ends: Vec<u64> = found.rows.iter().map(|row| row.end_ns).collect();
        // The third row gave its place; the sixth came while the gap had none.
        assert_eq!((ends, found.lost, found.is_cut), (vec![1, 2, 7], 14, false));
    }
}

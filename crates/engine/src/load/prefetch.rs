//! Takes a source of rows; reads its rows on a thread of its own, ahead of their use.
//!
//! A library runs on the thread that feeds it, so without this a second processor would be idle while rows
//! are generated. A server has its own processors, and the socket lets both sides work at the same time.

use std::sync::mpsc;
use std::sync::mpsc::{Receiver, Sender, SyncSender};

use assay_values::{Row, RowSource, SourceError};

use crate::limits;
use crate::load::barrier::Failure;
use crate::session::no_thread;

/// Rows that are passed together: enough to read the cost of waking a thread per row negligible.
const BATCH_ROWS: usize = 128;
/// Long rows fill a batch earlier.
const BATCH_BYTES: usize = 256 * 1024;
/// Batches that are ready.
const BATCHES: usize = 4;

/// Runs `work` with the rows of `source`, which another thread reads.
///
/// # Errors
/// The errors of `work`; or the machine cannot start another thread.
pub(super) fn prefetch(
    source: LoadSource<'_>,
    work: impl FnOnce(&mut dyn RowSource) -> Result<(), Failure>,
) -> Result<(), Failure> {
    std::thread::scope(|scope| {
        let (ready, next) = mpsc::sync_channel(BATCHES);
        let (spent, empty) = mpsc::channel();
        limits::start(scope, "load-rows", move || read(source, &ready, &empty))
            .map_err(|error| Failure::System(no_thread(&error), None))?;
        // Dropped before the scope waits for the thread, which ends when its rows are no longer received.
        let mut rows = Prefetch { next, spent, batch: Batch::default(), taken: 0 };
        work(&mut rows)
    })
}

#[derive(Default)]
struct Batch {
    /// Only the first `tables.len()` rows are valid; the others keep their memory for reuse.
    rows: Vec<Row>,
    tables: Vec<usize>,
    /// What follows its rows, if not the next batch.
    end: Option<Result<(), SourceError>>,
    bytes_read: u64,
}

fn read(source: LoadSource<'_>, ready: &SyncSender<Batch>, empty: &Receiver<Batch>) {
    loop {
        let mut batch = empty.try_recv().unwrap_or_default();
        batch.tables.clear();
        let mut bytes = 0;
        while batch.end.is_none() && batch.tables.len() < BATCH_ROWS && bytes < BATCH_BYTES {
            let place = batch.tables.len();
            if place == batch.rows.len() {
                batch.rows.push(Row::new());
            }
            match source.next_row(&mut batch.rows[place]) {
                Ok(Some(table)) => {
                    bytes += batch.rows[place].text_bytes();
                    batch.tables.push(table);
                }
                Ok(None) => batch.end = Some(Ok(())),
                Err(error) => batch.end = Some(Err(error)),
            }
        }
        batch.bytes_read = source.bytes_read();
        let is_last = batch.end.is_some();
        if ready.send(batch).is_err() || is_last {
            return;
        }
    }
}

struct Prefetch {
    next: Receiver<Batch>,
    spent: Sender<Batch>,
    batch: Batch,
    /// Rows of the batch that were returned.
    taken: usize,
}

impl RowSource for Prefetch {
    fn next_row(&mut self, row: &mut Row) -> Result<Option<usize>, SourceError> {
        loop {
            if let Some(&table) = self.batch.tables.get(self.taken) {
                std::mem::swap(row, &mut self.batch.rows[self.taken]);
                self.taken += 1;
                return Ok(Some(table));
            }
            if let Some(end) = &self.batch.end {
                return end.clone().map(|()| None);
            }
            let next =
                self.next.recv().expect("the reading thread sends an end, unless it panicked");
            let spent = std::mem::replace(&mut self.batch, next);
            self.taken = 0;
            // A batch with long rows is not reused, or in time all would hold the memory of the longest.
            if spent.tables.len() == BATCH_ROWS {
                // Fails if the last batch has been sent: then it is not needed.
                let _ = self.spent.send(spent);
            }
        }
    }

    fn bytes_read(&self) -> u64 {
        self.batch.bytes_read
    }
}

/// A source of rows that may run on another thread.
pub type LoadSource<'s> = &'s mut (dyn RowSource + Send);

#[cfg(test)]
mod tests {
    use super::*;

    /// A source of this many rows of this many bytes, then an end or an error.
    struct Rows {
        left: u64,
        bytes: usize,
        fails: bool,
    }

    impl RowSource for Rows {
        fn next_row(&mut self, row: &mut Row) -> Result<Option<usize>, SourceError> {
            if self.left == 0 {
                return match self.fails {
                    false => Ok(None),
                    true => Err(SourceError {
                        message: "the source failed".to_owned(),
                        file: String::new(),
                        line: 0,
                        column: 0,
                        hint: None,
                    }),
                };
            }
            self.left -= 1;
            row.clear();
            row.push_int(self.left.cast_signed());
            row.push_bytes(&vec![b'x'; self.bytes]);
            Ok(Some(usize::from(self.left < 500)))
        }

        fn bytes_read(&self) -> u64 {
            self.left
        }
    }

    #[test]
    fn rows_come_in_order_and_then_the_end_or_the_error() {
        for (bytes, fails) in [(0, false), (3, true), (10_000, false), (600_000, true)] {
            let mut source = Rows { left: 1000, bytes, fails };
            prefetch(&mut source, |rows| {
                let mut row = Row::new();
                for number in (0..1000_i64).rev() {
                    let table = rows.next_row(&mut row).expect("not yet the end");
                    assert_eq!(table, Some(usize::from(number < 500)));
                    assert_eq!(row.cell(0), assay_values::Cell::Int(number));
                    assert_eq!(row.text_bytes(), bytes);
                }
                assert_eq!(rows.next_row(&mut row).is_err(), fails);
                assert_eq!(rows.bytes_read(), 0);
                Ok(())
            })
            .unwrap_or_else(|_| panic!("nothing fails but the source"));
        }
    }

    #[test]
    fn the_reading_thread_ends_when_no_more_rows_are_received() {
        let mut source = Rows { left: u64::MAX / 2, bytes: 1, fails: false };
        prefetch(&mut source, |rows| {
            let mut row = Row::new();
            assert_eq!(rows.next_row(&mut row), Ok(Some(0)));
            Ok(())
        })
        .unwrap_or_else(|_| panic!("nothing fails"));
    }
}

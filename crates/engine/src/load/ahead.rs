//! Takes a source of rows; makes its rows on a thread of its own, a little before they are asked for.
//!
//! A library works on the thread that feeds it, so without this a second processor would stand idle while
//! rows are made. A server has its own processors, and the socket between lets both sides work at once.

use std::sync::mpsc::{self, Receiver, Sender, SyncSender};

use assay_values::{Row, RowSource, SourceError};

use super::Source;
use super::failure::Failure;
use crate::limits;
use crate::session::no_thread;

/// Rows that are handed over together: enough that waking a thread costs next to nothing for each.
const BATCH_ROWS: usize = 128;
/// Long rows make a batch full before that.
const BATCH_BYTES: usize = 256 * 1024;
/// Batches that wait to be taken.
const BATCHES: usize = 4;

/// Runs `work` with the rows of `source`, which another thread makes.
///
/// # Errors
/// Those of `work`; or where the machine has no room for a thread, and nothing was begun.
pub(super) fn ahead(
    source: Source<'_>,
    work: impl FnOnce(&mut dyn RowSource) -> Result<(), Failure>,
) -> Result<(), Failure> {
    std::thread::scope(|scope| {
        let (made, next) = mpsc::sync_channel(BATCHES);
        let (spent, empty) = mpsc::channel();
        limits::start(scope, "load-rows", move || make(source, &made, &empty))
            .map_err(|error| Failure::System(no_thread(&error), None))?;
        // Dropped before the scope waits for the thread, which ends when nobody takes its rows.
        let mut rows = Ahead {
            next,
            spent,
            batch: Batch::default(),
            taken: 0,
        };
        work(&mut rows)
    })
}

#[derive(Default)]
struct Batch {
    /// Only as many as there are `tables` count, the others lend their memory.
    rows: Vec<Row>,
    tables: Vec<usize>,
    /// What comes behind its rows, where that is not the next batch.
    end: Option<Result<(), SourceError>>,
    bytes_read: u64,
}

fn make(source: Source<'_>, made: &SyncSender<Batch>, empty: &Receiver<Batch>) {
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
        if made.send(batch).is_err() || is_last {
            return;
        }
    }
}

struct Ahead {
    next: Receiver<Batch>,
    spent: Sender<Batch>,
    batch: Batch,
    /// Rows of the batch that were given.
    taken: usize,
}

impl RowSource for Ahead {
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
            let next = self
                .next
                .recv()
                .expect("the thread that makes rows says when they end, unless it panicked");
            let spent = std::mem::replace(&mut self.batch, next);
            self.taken = 0;
            // One with long rows is not used again, or in time all would hold the memory of the longest.
            if spent.tables.len() == BATCH_ROWS {
                // Nobody needs it where the last batch has been made.
                let _ = self.spent.send(spent);
            }
        }
    }

    fn bytes_read(&self) -> u64 {
        self.batch.bytes_read
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// So many rows of so many bytes, then an end or an error.
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
                        message: "told to fail".to_owned(),
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
            let mut source = Rows {
                left: 1000,
                bytes,
                fails,
            };
            ahead(&mut source, |rows| {
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
    fn who_takes_no_more_rows_ends_their_making() {
        let mut source = Rows {
            left: u64::MAX / 2,
            bytes: 1,
            fails: false,
        };
        ahead(&mut source, |rows| {
            let mut row = Row::new();
            assert_eq!(rows.next_row(&mut row), Ok(Some(0)));
            Ok(())
        })
        .unwrap_or_else(|_| panic!("nothing fails"));
    }
}

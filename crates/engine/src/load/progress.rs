//! The progress of a load and its report at the end.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Instant;

use serde::Serialize;

use crate::document::LoadDocument;

/// The progress of a load.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LoadProgress {
    /// The current table; with several sessions, that of the slowest.
    pub table: String,
    /// Rows of all tables so far.
    pub rows: u64,
    /// Bytes of the source's input.
    pub bytes_read: u64,
    /// Bytes sent to the system so far.
    pub bytes_sent: u64,
    /// Since all sessions were connected; before that, since the load was asked for.
    pub elapsed_s: f64,
}

/// The result of a load.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LoadReport {
    /// In the document's order, including tables without rows.
    pub tables: Vec<TableReport>,
    /// From the first statement before to the last one after, without connecting.
    pub elapsed_ns: u64,
    /// In bulk messages; 0 for a library in this process.
    pub bytes_sent: u64,
    /// How many sessions loaded at the same time.
    pub sessions: usize,
}

/// What was loaded into one table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TableReport {
    /// The name of the table.
    pub name: String,
    /// Rows sent.
    pub rows: u64,
    /// Rows that the system reports as loaded.
    pub affected: u64,
    /// In bulk messages; 0 for a library in this process.
    pub bytes: u64,
    /// 16 hexadecimal digits, equal for equal rows in any order; `None` if not requested.
    pub checksum: Option<String>,
}

/// The counters of one session. Only its thread writes them, so plain loads and stores are enough; the thread
/// that reports progress reads them.
pub(super) struct Gauge {
    /// The current table, counted from 1; 0 before the first.
    table: AtomicUsize,
    tables: Box<[Counters]>,
    bytes_read: AtomicU64,
    bytes_sent: AtomicU64,
}

#[derive(Default)]
struct Counters {
    rows: AtomicU64,
    affected: AtomicU64,
    bytes: AtomicU64,
    checksum: AtomicU64,
}

impl Gauge {
    pub fn new(document: &LoadDocument) -> Self {
        let counters = document.tables.iter().map(|_| Counters::default());
        Self {
            table: AtomicUsize::new(0),
            tables: counters.collect(),
            bytes_read: AtomicU64::new(0),
            bytes_sent: AtomicU64::new(0),
        }
    }

    pub fn begin(&self, table: usize) {
        self.table.store(table + 1, Ordering::Relaxed);
    }

    /// Counts a row of the current table and its part of the table's checksum; returns the row's number, from
    /// 1.
    #[inline]
    pub fn count_row(&self, sum: u64) -> u64 {
        let counters = self.current().expect("a table was begun before its rows");
        if sum != 0 {
            add(&counters.checksum, sum);
        }
        add(&counters.rows, 1)
    }

    pub fn count_bytes(&self, read: u64, sent: u64) {
        self.bytes_read.store(read, Ordering::Relaxed);
        self.bytes_sent.store(sent, Ordering::Relaxed);
    }

    /// Ends the current table; the system reports that it loaded this many rows, in this many bytes.
    pub fn end(&self, affected: u64, bytes: u64) {
        if let Some(counters) = self.current() {
            // A source returns to a table only by mistake, but counts must be right even then.
            add(&counters.affected, affected);
            add(&counters.bytes, bytes);
        }
    }

    /// The current table and the rows sent for it, for messages.
    pub fn under_way(&self, document: &LoadDocument) -> String {
        match self.current() {
            Some(counters) => {
                let name = &document.tables[self.table.load(Ordering::Relaxed) - 1].name;
                let rows = counters.rows.load(Ordering::Relaxed);
                format!("loading the table {name}, after {rows} rows")
            }
            None => "loading".to_owned(),
        }
    }

    fn current(&self) -> Option<&Counters> {
        let table = self.table.load(Ordering::Relaxed);
        table.checked_sub(1).map(|table| &self.tables[table])
    }
}

/// Adds to a counter that only this thread writes; returns the sum.
#[inline]
fn add(counter: &AtomicU64, more: u64) -> u64 {
    let sum = counter.load(Ordering::Relaxed).wrapping_add(more);
    counter.store(sum, Ordering::Relaxed);
    sum
}

/// Sums one counter over all sessions.
fn sum<'g>(gauges: &'g [Gauge], counter: impl Fn(&'g Gauge) -> &'g AtomicU64) -> u64 {
    gauges.iter().map(|gauge| counter(gauge).load(Ordering::Relaxed)).fold(0, u64::wrapping_add)
}

pub(super) fn current_progress(
    document: &LoadDocument,
    gauges: &[Gauge],
    begun: Instant,
) -> LoadProgress {
    let behind =
        gauges.iter().filter_map(|gauge| gauge.table.load(Ordering::Relaxed).checked_sub(1)).min();
    let tables = 0..document.tables.len();
    LoadProgress {
        table: behind.map(|table| document.tables[table].name.clone()).unwrap_or_default(),
        rows: tables.map(|table| sum(gauges, |gauge| &gauge.tables[table].rows)).sum(),
        bytes_read: sum(gauges, |gauge| &gauge.bytes_read),
        bytes_sent: sum(gauges, |gauge| &gauge.bytes_sent),
        elapsed_s: begun.elapsed().as_secs_f64(),
    }
}

pub(super) fn report(document: &LoadDocument, gauges: &[Gauge], elapsed_ns: u64) -> LoadReport {
    let table = |(index, table): (usize, &crate::document::TableDocument)| {
        let total = |counter: fn(&Counters) -> &AtomicU64| {
            sum(gauges, |gauge| counter(&gauge.tables[index]))
        };
        let checksum = total(|counters| &counters.checksum);
        TableReport {
            name: table.name.clone(),
            rows: total(|counters| &counters.rows),
            affected: total(|counters| &counters.affected),
            bytes: total(|counters| &counters.bytes),
            checksum: document.checksums.then(|| format!("{checksum:016x}")),
        }
    };
    LoadReport {
        tables: document.tables.iter().enumerate().map(table).collect(),
        elapsed_ns,
        bytes_sent: sum(gauges, |gauge| &gauge.bytes_sent),
        sessions: gauges.len(),
    }
}

//! Takes every request that ended; returns sums that can be read at any time without making a request wait.

use std::sync::atomic::{AtomicU64, Ordering};

use serde::Serialize;

use crate::account::Row;
use crate::model::Operation;

/// Sums since the start.
#[derive(Debug, Default)]
pub struct Counters {
    reads: AtomicU64,
    writes: AtomicU64,
    flushes: AtomicU64,
    discards: AtomicU64,
    read_bytes: AtomicU64,
    written_bytes: AtomicU64,
    failed: AtomicU64,
    modelled_ns: AtomicU64,
    under_way: AtomicU64,
    late_ns: AtomicU64,
    latest_ns: AtomicU64,
    pending: AtomicU64,
    volatile_bytes: AtomicU64,
}

/// What `counters` answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Reads that were answered, failed ones included.
    pub reads: u64,
    /// Writes.
    pub writes: u64,
    /// Flushes.
    pub flushes: u64,
    /// Ranges that were discarded or made zero.
    pub discards: u64,
    /// Bytes that were read without error.
    pub read_bytes: u64,
    /// Bytes that were written without error.
    pub written_bytes: u64,
    /// Requests that were answered with an error.
    pub failed: u64,
    /// Sum of the modelled times of the others, from when they count as having arrived.
    pub modelled_ns: u64,
    /// Sum of how many requests were under way when each of them arrived, itself included.
    pub under_way: u64,
    /// Sum of the time that answers came later than the model ended them.
    pub late_ns: u64,
    /// The largest of these times.
    pub latest_ns: u64,
    /// Requests that are not answered yet.
    pub pending: u64,
    /// Bytes in the write cache that a power cut would lose.
    pub volatile_bytes: u64,
    /// Rows that are missing in the account.
    pub lost_rows: u64,
}

impl Counters {
    pub(crate) fn ended(&self, row: &Row, counted_ns: u64, under_way: usize) {
        let add = |sum: &AtomicU64, count: u64| sum.fetch_add(count, Ordering::Relaxed);
        match row.operation {
            Operation::Read => add(&self.reads, 1),
            Operation::Write => add(&self.writes, 1),
            Operation::Flush => add(&self.flushes, 1),
        };
        if row.errno != 0 {
            add(&self.failed, 1);
            return;
        }
        match row.operation {
            Operation::Read => add(&self.read_bytes, u64::from(row.length)),
            Operation::Write => add(&self.written_bytes, u64::from(row.length)),
            Operation::Flush => 0,
        };
        let modelled_ns = row.modelled_end_ns.saturating_sub(counted_ns);
        add(&self.modelled_ns, modelled_ns);
        add(&self.under_way, under_way as u64);
        let late_ns = row.end_ns.saturating_sub(row.modelled_end_ns);
        add(&self.late_ns, late_ns);
        self.latest_ns.fetch_max(late_ns, Ordering::Relaxed);
    }

    pub(crate) fn discarded(&self) {
        self.discards.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn now(&self, pending: usize, volatile_bytes: u64) {
        self.pending.store(pending as u64, Ordering::Relaxed);
        self.volatile_bytes.store(volatile_bytes, Ordering::Relaxed);
    }

    pub(crate) fn read(&self, lost_rows: u64) -> Counts {
        let get = |sum: &AtomicU64| sum.load(Ordering::Relaxed);
        Counts {
            reads: get(&self.reads),
            writes: get(&self.writes),
            flushes: get(&self.flushes),
            discards: get(&self.discards),
            read_bytes: get(&self.read_bytes),
            written_bytes: get(&self.written_bytes),
            failed: get(&self.failed),
            modelled_ns: get(&self.modelled_ns),
            under_way: get(&self.under_way),
            late_ns: get(&self.late_ns),
            latest_ns: get(&self.latest_ns),
            pending: get(&self.pending),
            volatile_bytes: get(&self.volatile_bytes),
            lost_rows,
        }
    }
}

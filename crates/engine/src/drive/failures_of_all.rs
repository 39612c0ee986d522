//! Takes the permanent failures of all clients of this process; returns whether none of its transactions can work.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

/// Failures must have gone on for this long: another program may create the missing object.
pub const LEAST_NS: u64 = 1_000_000_000;

/// Of the clients of all groups. A client writes here when its first transaction ends, and when one fails permanently.
#[derive(Debug)]
pub struct FailuresOfAll {
    // Relaxed: they guard no other memory.
    clients_left: AtomicU32,
    /// By transaction type: whether one of it has failed.
    types_failed: Box<[AtomicBool]>,
    since_ns: AtomicU64,
    has_hope: AtomicBool,
}

impl FailuresOfAll {
    #[must_use]
    pub fn new(clients: u32, types: usize) -> Self {
        Self {
            clients_left: AtomicU32::new(clients),
            types_failed: (0..types).map(|_| AtomicBool::new(false)).collect(),
            since_ns: AtomicU64::new(u64::MAX),
            has_hope: AtomicBool::new(false),
        }
    }

    /// A transaction ended in another way than by a permanent failure.
    pub fn not_permanent(&self) {
        self.has_hope.store(true, Ordering::Relaxed);
    }

    /// A transaction of this type failed permanently; `is_first`: its client has had no other. Returns whether all
    /// clients and types do, and nothing else was seen.
    pub fn failed(&self, transaction_type: u32, is_first: bool, now_ns: u64) -> bool {
        if self.has_hope.load(Ordering::Relaxed) {
            return false;
        }
        self.types_failed[transaction_type as usize].store(true, Ordering::Relaxed);
        let since_ns = self.since_ns.fetch_min(now_ns, Ordering::Relaxed);
        if is_first {
            self.clients_left.fetch_sub(1, Ordering::Relaxed);
        }
        now_ns.saturating_sub(since_ns) >= LEAST_NS
            && self.clients_left.load(Ordering::Relaxed) == 0
            && (self.types_failed.iter()).all(|has_failed| has_failed.load(Ordering::Relaxed))
    }
}

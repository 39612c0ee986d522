//! Counts that one thread shows to others while it works.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A single thread sets it: that is a store, as for a plain number.
#[derive(Debug, Default)]
pub struct LiveCount(AtomicU64);

impl LiveCount {
    #[inline]
    pub fn set(&self, number: u64) {
        // Relaxed: the count guards no other memory.
        self.0.store(number, Ordering::Relaxed);
    }

    #[must_use]
    #[inline]
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// The measured transactions of each client that works or is done, by its number.
#[derive(Debug, Default)]
pub struct ClientCounts(Mutex<BTreeMap<u32, Arc<LiveCount>>>);

impl ClientCounts {
    /// That of a client that begins.
    #[must_use]
    pub fn begun(&self, client: u32) -> Arc<LiveCount> {
        self.each().entry(client).or_default().clone()
    }

    /// `is_done`: it has not ended before it was to.
    pub fn ended(&self, client: u32, transactions: u64, is_done: bool) {
        let mut each = self.each();
        if is_done {
            each.entry(client).or_default().set(transactions);
        } else {
            each.remove(&client);
        }
    }

    pub fn each(&self) -> MutexGuard<'_, BTreeMap<u32, Arc<LiveCount>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

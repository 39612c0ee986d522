//! The busy handler of a session: waits for other sessions' locks as the library's busy timeout does,
//! with the same pauses, but can be cancelled, and reports whether the wait was in vain.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Milliseconds between two tries, as in the library's `sqliteDefaultBusyCallback`.
const PAUSES_MS: [u64; 12] = [1, 2, 5, 10, 15, 20, 25, 25, 25, 50, 50, 100];

pub(super) struct BusyHandler {
    limit: Duration,
    is_cancelled: AtomicBool,
    is_exhausted: AtomicBool,
}

impl BusyHandler {
    pub(super) fn new(limit: Duration) -> Arc<Self> {
        Arc::new(Self {
            limit,
            is_cancelled: AtomicBool::new(false),
            is_exhausted: AtomicBool::new(false),
        })
    }

    /// A request begins: the state of the last one is reset.
    pub(super) fn begin(&self) {
        self.is_cancelled.store(false, Ordering::Relaxed);
        self.is_exhausted.store(false, Ordering::Relaxed);
    }

    /// Ends a current wait soon.
    pub(super) fn cancel(&self) {
        self.is_cancelled.store(true, Ordering::Relaxed);
    }

    /// Whether the wait ended without the lock. SQLITE_BUSY without such a wait is a deadlock: the
    /// library does not call the busy handler where waiting would never end.
    pub(super) fn is_exhausted(&self) -> bool {
        self.is_exhausted.load(Ordering::Relaxed)
    }

    /// The busy handler: waits for the `tries`-th time and returns whether to try again.
    pub(super) fn wait(&self, tries: i32) -> bool {
        let tries = usize::try_from(tries).unwrap_or(usize::MAX);
        let left = self
            .limit
            .saturating_sub(Duration::from_millis(waited_ms(tries)));
        if left.is_zero() || self.is_cancelled.load(Ordering::Relaxed) {
            self.is_exhausted.store(true, Ordering::Relaxed);
            return false;
        }
        std::thread::sleep(left.min(Duration::from_millis(pause_ms(tries))));
        true
    }
}

fn pause_ms(tries: usize) -> u64 {
    PAUSES_MS[tries.min(PAUSES_MS.len() - 1)]
}

/// The sum of the pauses before the `tries`-th try.
fn waited_ms(tries: usize) -> u64 {
    let listed = tries.min(PAUSES_MS.len());
    let beyond = (tries - listed) as u64;
    PAUSES_MS[..listed].iter().sum::<u64>() + beyond * PAUSES_MS[PAUSES_MS.len() - 1]
}

//! Takes an instant; waits until it is reached or the wait is cancelled.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Waits until that instant; returns false if cancelled before.
///
/// A sleeping thread wakes up some 60 µs late: it sleeps until shortly before, then polls the clock and
/// yields in between.
pub(super) fn wait_until(instant: Instant, is_cancelled: &AtomicBool) -> bool {
    const WOKEN_LATE: Duration = Duration::from_micros(100);
    const LONGEST_SLEEP: Duration = Duration::from_millis(20);
    loop {
        let left = instant.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return true;
        }
        if is_cancelled.load(Ordering::Relaxed) {
            return false;
        }
        match left.checked_sub(WOKEN_LATE) {
            Some(asleep) => std::thread::sleep(asleep.min(LONGEST_SLEEP)),
            None => std::thread::yield_now(),
        }
    }
}

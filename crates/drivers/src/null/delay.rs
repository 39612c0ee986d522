//! Waiting for just so long.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Waits until that instant; false if it was cancelled before.
///
/// A sleeping thread is woken some 60 µs late: it sleeps until shortly before, and then asks the clock
/// again and again, letting others run in between.
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

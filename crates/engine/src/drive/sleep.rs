//! Takes an instant; puts a thread to sleep until then, to some 30 µs.

use std::time::Duration;

use crate::clock::Clock;

/// Lets the kernel wake this thread when it has asked to be woken. Otherwise it may gather timers of 50 µs,
/// which a client's pauses and arrivals would all be late by.
pub fn be_punctual() {
    // SAFETY: the call takes plain numbers. Where it fails, pauses are as punctual as they were.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1_u64, 0_u64, 0_u64, 0_u64) };
}

/// Sleeps until `until_ns` on `clock`, but at most for `most`.
pub fn until(clock: Clock, until_ns: u64, most: Duration) {
    let left_ns = until_ns.saturating_sub(clock.now_ns());
    std::thread::sleep(Duration::from_nanos(left_ns).min(most));
}

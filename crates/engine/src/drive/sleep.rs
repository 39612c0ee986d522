//! Takes an instant; puts a thread to sleep until then, with an error of about 30 µs.

use std::time::Duration;

use crate::clock::Clock;

/// Sets this thread's timer slack to the minimum. By default the kernel may delay timers by 50 µs, and so a
/// client's pauses and arrivals.
pub fn set_timer_slack() {
    // SAFETY: the call takes plain numbers. If it fails, the timer slack stays as it was.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1_u64, 0_u64, 0_u64, 0_u64) };
}

/// Sleeps until `until_ns` on `clock`, but at most for `most`.
pub fn until(clock: Clock, until_ns: u64, most: Duration) {
    let left_ns = until_ns.saturating_sub(clock.now_ns());
    std::thread::sleep(Duration::from_nanos(left_ns).min(most));
}

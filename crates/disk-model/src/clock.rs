//! Returns the nanoseconds of the monotonic clock, as other processes of this machine read them.

use rustix::time::{ClockId, clock_gettime};

/// Now, by `CLOCK_MONOTONIC`.
pub fn monotonic_ns() -> u64 {
    nanoseconds(ClockId::Monotonic)
}

/// Now, since 1970.
pub fn realtime_ns() -> u64 {
    nanoseconds(ClockId::Realtime)
}

fn nanoseconds(clock: ClockId) -> u64 {
    let now = clock_gettime(clock);
    // Both clocks are past their origin.
    let seconds = u64::try_from(now.tv_sec).unwrap_or(0);
    seconds * 1_000_000_000 + u64::try_from(now.tv_nsec).unwrap_or(0)
}

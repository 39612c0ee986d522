//! Takes nothing; gives nanoseconds since the run's beginning, by a clock that never goes back.

use std::time::Instant;

#[derive(Clone, Copy, Debug)]
pub struct Clock {
    origin: Instant,
}

impl Clock {
    #[must_use]
    pub fn start() -> Self {
        Self {
            origin: Instant::now(),
        }
    }

    #[must_use]
    #[inline]
    pub fn now_ns(&self) -> u64 {
        u64::try_from(self.origin.elapsed().as_nanos()).expect("584 years have not passed")
    }
}

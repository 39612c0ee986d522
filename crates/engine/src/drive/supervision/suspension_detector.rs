//! Takes a clock; returns the times in which this whole process was suspended: stopped by a signal, frozen
//! with its control group, or without a processor.
//!
//! A thread of its own only sleeps for a tenth of a second at a time. If it wakes much too late, and the
//! process has had no CPU time meanwhile, no thread of this process has run: the measurements of that
//! time show the machine, not the system under test.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::account::TimeSpan;
use crate::clock::Clock;
use crate::cost;

const TICK_NS: u64 = 100_000_000;
/// A tick that is late by this much counts as a suspension.
const LATE_NS: u64 = 500_000_000;

#[derive(Debug, Default)]
pub struct SuspensionDetector {
    is_over: AtomicBool,
    suspensions: Mutex<Vec<TimeSpan>>,
}

/// Stops the thread when dropped.
pub struct DetectorGuard<'a>(&'a SuspensionDetector, std::thread::Thread);

impl SuspensionDetector {
    /// Starts to tick. If the machine has no thread left, nothing is detected.
    pub fn start<'scope, 'a: 'scope>(
        &'a self,
        scope: &'scope std::thread::Scope<'scope, '_>,
        clock: Clock,
        processors: usize,
    ) -> Option<DetectorGuard<'a>> {
        std::thread::Builder::new()
            .name("detector".to_owned())
            .spawn_scoped(scope, move || self.tick_until_over(clock, processors))
            .ok()
            .map(|handle| DetectorGuard(self, handle.thread().clone()))
    }

    /// The suspensions detected so far, on the run's clock, to a tenth of a second.
    pub fn take(&self) -> Vec<TimeSpan> {
        let mut suspensions = self
            .suspensions
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut suspensions)
    }

    fn tick_until_over(&self, clock: Clock, processors: usize) {
        let mut before = (clock.now_ns(), cost::processor_ns());
        // Relaxed: the flag guards no other memory, and the thread that sets it wakes this thread.
        while !self.is_over.load(Ordering::Relaxed) {
            std::thread::park_timeout(Duration::from_nanos(TICK_NS));
            let now = (clock.now_ns(), cost::processor_ns());
            if is_suspension(now.0 - before.0, now.1.saturating_sub(before.1), processors) {
                self.suspensions
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .push(TimeSpan {
                        from_ns: before.0,
                        to_ns: now.0,
                    });
            }
            before = now;
        }
    }
}

impl Drop for DetectorGuard<'_> {
    fn drop(&mut self) {
        self.0.is_over.store(true, Ordering::Relaxed);
        self.1.unpark();
    }
}

/// Whether a tick that took `passed_ns`, in which all threads together had `processor_ns`, was late because
/// no thread ran: they used at most the time of one tick on each processor, and a tenth of the rest.
fn is_suspension(passed_ns: u64, processor_ns: u64, processors: usize) -> bool {
    let late_ns = passed_ns.saturating_sub(TICK_NS);
    let in_tick_ns = TICK_NS.saturating_mul(processors as u64);
    late_ns >= LATE_NS && processor_ns.saturating_sub(in_tick_ns) <= late_ns / 10
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn a_late_tick_is_a_suspension_only_if_no_thread_ran() {
        assert!(is_suspension(3_100 * MS, 0, 2));
        assert!(is_suspension(3_100 * MS, 200 * MS, 2));
        assert!(!is_suspension(3_100 * MS, 3_000 * MS, 2));
        assert!(!is_suspension(400 * MS, 0, 2));
    }
}

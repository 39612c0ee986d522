//! Takes the time of the next event of the model; sleeps until then and does what is due.
//!
//! A sleep ends late by what the kernel needs to wake a thread, some 10 to 100 µs. The pacer learns how much
//! that is here, sleeps so much less, and spins for the rest: at most a tenth of the time. A disk with more
//! events is answered a few microseconds late instead, as its users need the processor too.

use std::num::NonZeroU64;
use std::sync::PoisonError;
use std::time::Duration;

use super::Device;
use crate::clock::monotonic_ns;

const LEAST_SPIN_NS: u64 = 5_000;
const MOST_SPIN_NS: u64 = 100_000;
/// Spinning that was saved up by sleeping.
const MOST_SAVED_NS: u64 = 2_000_000;
/// Of the time that passes, one part in so many may be spun.
const SPIN_SHARE: u64 = 10;

/// How much before an event to end the sleep: a little more than sleeps end late on average.
#[derive(Debug)]
struct Spin {
    late_ns: u64,
    saved_ns: u64,
    seen_ns: u64,
}

impl Spin {
    /// How long before its event a sleep should end.
    fn lead_ns(&mut self, now_ns: u64) -> u64 {
        let earned_ns = now_ns.saturating_sub(self.seen_ns) / SPIN_SHARE;
        self.saved_ns = (self.saved_ns + earned_ns).min(MOST_SAVED_NS);
        self.seen_ns = now_ns;
        let wanted_ns = (self.late_ns * 3 / 2).clamp(LEAST_SPIN_NS, MOST_SPIN_NS);
        if wanted_ns > self.saved_ns { 0 } else { wanted_ns }
    }

    fn spun(&mut self, duration_ns: u64) {
        self.saved_ns = self.saved_ns.saturating_sub(duration_ns);
    }

    /// A sleep that should have ended at `wanted_ns` ended at `now_ns`.
    fn learn(&mut self, wanted_ns: u64, now_ns: u64) {
        let late_ns = now_ns.saturating_sub(wanted_ns).min(MOST_SPIN_NS);
        self.late_ns = (self.late_ns * 15 + late_ns) / 16;
    }
}

impl Device {
    /// Answers requests when they are due, until `stop`. One thread does this.
    pub fn pace(&self) {
        // By default the kernel may end a sleep 50 µs late to save power. If the call fails, the pacer learns it.
        let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
        let mut spin = Spin { late_ns: 30_000, saved_ns: 0, seen_ns: monotonic_ns() };
        let mut state = self.lock();
        loop {
            if state.is_stopped {
                return;
            }
            state.pacer_wakes_ns = 0;
            let settled = state.advance(monotonic_ns());
            if !settled.is_empty() {
                self.counters.now(state.pending.len(), state.disk.volatile_bytes());
                drop(state);
                self.finish(settled);
                state = self.lock();
                continue;
            }
            let Some(next_ns) = state.disk.next_event_ns() else {
                state.pacer_wakes_ns = u64::MAX;
                state = self.sooner.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            let now_ns = monotonic_ns();
            let wakes_ns = next_ns.saturating_sub(spin.lead_ns(now_ns));
            if wakes_ns > now_ns {
                state.pacer_wakes_ns = next_ns;
                let duration = Duration::from_nanos(wakes_ns - now_ns);
                let (woken, timeout) = self
                    .sooner
                    .wait_timeout(state, duration)
                    .unwrap_or_else(PoisonError::into_inner);
                state = woken;
                if timeout.timed_out() {
                    spin.learn(wakes_ns, monotonic_ns());
                }
                continue;
            }
            drop(state);
            while monotonic_ns() < next_ns {
                std::hint::spin_loop();
            }
            spin.spun(monotonic_ns() - now_ns);
            state = self.lock();
        }
    }
}

//! When the measurement begins and ends, and whether somebody wants it to end earlier.

use std::sync::atomic::{AtomicBool, Ordering};

/// After an interrupt a transaction under way is waited for no longer than this: the user is waiting for
/// the prompt.
pub const INTERRUPT_DRAIN_NS: u64 = 1_000_000_000;

/// Instants on the run's clock, the same for all clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Schedule {
    pub start_ns: u64,
    /// The end of the ramp-up: all clients have begun.
    pub ramped_ns: u64,
    /// The end of the warm-up.
    pub measure_ns: u64,
    /// `u64::MAX` where the clock does not stop the run.
    pub stop_ns: u64,
    /// After the end of the measurement a transaction under way is waited for this long; then it is given
    /// up, and counted as `unknown`.
    pub drain_ns: u64,
}

impl Schedule {
    /// When one of `clients` begins: they are spread evenly over the ramp-up.
    #[must_use]
    pub fn begin_ns(&self, client: u32, clients: u32) -> u64 {
        let ramp_up_ns = u128::from(self.ramped_ns - self.start_ns);
        let share_ns = ramp_up_ns * u128::from(client) / u128::from(clients);
        self.start_ns + u64::try_from(share_ns).expect("it is a part of the ramp-up")
    }
}

/// What one thread may tell all others.
#[derive(Debug, Default)]
pub struct Signals {
    interrupted: AtomicBool,
}

impl Signals {
    // Relaxed: the flag guards no other memory, and a moment's delay is nothing.

    pub fn interrupt(&self) {
        self.interrupted.store(true, Ordering::Relaxed);
    }

    #[must_use]
    #[inline]
    pub fn is_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }
}

/// How long a thread still waits for what is under way. Ask it from time to time.
#[derive(Clone, Copy, Debug, Default)]
pub struct Drain {
    /// None: the run is not stopping.
    until_ns: Option<u64>,
}

/// What [`Drain`] says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Draining {
    No,
    /// Begin nothing, finish what is under way.
    Yes,
    /// Give up what is under way.
    TooLong,
}

impl Drain {
    pub fn look(&mut self, now_ns: u64, schedule: &Schedule, signals: &Signals) -> Draining {
        if now_ns >= schedule.stop_ns {
            self.within(schedule.stop_ns.saturating_add(schedule.drain_ns));
        }
        if signals.is_interrupted() && !self.is_within(now_ns + INTERRUPT_DRAIN_NS) {
            self.within(now_ns + INTERRUPT_DRAIN_NS);
        }
        match self.until_ns {
            None => Draining::No,
            Some(until_ns) if now_ns < until_ns => Draining::Yes,
            Some(_) => Draining::TooLong,
        }
    }

    fn is_within(&self, until_ns: u64) -> bool {
        self.until_ns.is_some_and(|known| known <= until_ns)
    }

    fn within(&mut self, until_ns: u64) {
        self.until_ns = Some(self.until_ns.map_or(until_ns, |known| known.min(until_ns)));
    }
}

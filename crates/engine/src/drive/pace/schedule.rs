//! The instants at which the measurement begins and ends, and the signal that ends it earlier.

use std::sync::atomic::{AtomicBool, Ordering};

/// After an interrupt the current transactions have at most this long: the user is waiting for the prompt.
pub const INTERRUPT_DRAIN_NS: u64 = 1_000_000_000;

/// Instants on the run's clock, the same for all clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Schedule {
    pub start_ns: u64,
    /// The end of the ramp-up: all clients have started.
    pub ramped_ns: u64,
    /// The end of the warm-up.
    pub measure_ns: u64,
    /// `u64::MAX` if no time limit stops the run.
    pub stop_ns: u64,
    /// How long transactions may still take after the end of the measurement; then they are abandoned and
    /// counted as `unknown`.
    pub drain_ns: u64,
}

impl Schedule {
    /// When a client of `clients` starts: they are spread evenly over the ramp-up.
    pub fn begin_ns(&self, client: u32, clients: u32) -> u64 {
        let ramp_up_ns = u128::from(self.ramped_ns - self.start_ns);
        let share_ns = ramp_up_ns * u128::from(client) / u128::from(clients);
        self.start_ns + u64::try_from(share_ns).expect("it is a part of the ramp-up")
    }
}

/// Signals between the threads of a run.
#[derive(Debug, Default)]
pub struct Signals {
    interrupted: AtomicBool,
}

impl Signals {
    // Relaxed: the flag guards no other memory, and a short delay does not matter.

    pub fn interrupt(&self) {
        self.interrupted.store(true, Ordering::Relaxed);
    }

    #[inline]
    pub fn is_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }
}

/// How long a thread still waits for its current transactions.
#[derive(Clone, Copy, Debug, Default)]
pub struct Drain {
    /// `None`: the run is not stopping.
    until_ns: Option<u64>,
}

/// The result of [`Drain::check`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Draining {
    No,
    /// Start nothing, finish current transactions.
    Yes,
    /// Abandon current transactions.
    TooLong,
}

impl Drain {
    pub fn check(&mut self, now_ns: u64, schedule: &Schedule, signals: &Signals) -> Draining {
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
        self.until_ns
            .is_some_and(|earlier_ns| earlier_ns <= until_ns)
    }

    fn within(&mut self, until_ns: u64) {
        self.until_ns = Some(
            self.until_ns
                .map_or(until_ns, |earlier_ns| earlier_ns.min(until_ns)),
        );
    }
}

//! Takes the starts and ends of one client's transactions; returns how it spent the rest of the measurement.

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Worktime {
    /// Time of the measurement between measured transactions, and in pauses that are not part of the latency.
    pub between_ns: u64,
    /// The length of a transaction that began in the warm-up and was still running when the measurement
    /// began: it is not measured.
    pub carried_over_ns: Option<u64>,
    /// The transaction that was running when the measurement ended.
    pub in_flight: Option<RunningTransaction>,
    measure_ns: u64,
    stop_ns: u64,
    /// Since when the client has had no transaction.
    free_since_ns: u64,
}

/// A transaction that was running when the measurement ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunningTransaction {
    pub age_ns: u64,
    pub is_measured: bool,
}

impl Worktime {
    /// For a measurement from `measure_ns` to `stop_ns`, or to the last client's end.
    #[must_use]
    pub fn new(measure_ns: u64, stop_ns: u64) -> Self {
        Self {
            measure_ns,
            stop_ns,
            ..Self::default()
        }
    }

    /// A transaction begins.
    #[inline]
    pub fn begun(&mut self, now_ns: u64, is_measured: bool) {
        if is_measured {
            self.free_until(now_ns);
        }
    }

    /// The transaction that began at `started_ns` has ended; `paused_ns` of it are not part of its latency.
    #[inline]
    pub fn ended(&mut self, now_ns: u64, started_ns: u64, paused_ns: u64, is_measured: bool) {
        self.free_since_ns = now_ns;
        if is_measured {
            self.between_ns += paused_ns;
        } else if now_ns > self.measure_ns {
            self.carried_over_ns = Some(now_ns - started_ns);
        }
        if now_ns > self.stop_ns && started_ns < self.stop_ns {
            self.in_flight = Some(RunningTransaction {
                age_ns: self.stop_ns - started_ns,
                is_measured,
            });
        }
    }

    /// Counts the transaction that began at `started_ns` as never started.
    pub fn retracted(&mut self, started_ns: u64) {
        self.free_since_ns = started_ns;
    }

    /// The client has ended, between two transactions.
    #[must_use]
    pub fn finish(&mut self, now_ns: u64) -> Self {
        self.free_until(now_ns);
        *self
    }

    #[inline]
    fn free_until(&mut self, now_ns: u64) {
        let since_ns = self.free_since_ns.max(self.measure_ns);
        self.between_ns += now_ns.saturating_sub(since_ns);
    }
}

//! Takes what a library counts in its connections; returns how much of it falls into the measured part.

use std::collections::BTreeMap;

use assay_drivers::Blocking as _;
use assay_drivers::registry::AnyBlocking;

use super::schedule::Schedule;
use crate::account::ThreadRecorder;

/// The counters of one client, over all its connections.
#[derive(Debug, Default)]
pub struct Counters {
    is_measuring: bool,
    /// The connection's counters when the measurement began.
    before: BTreeMap<&'static str, u64>,
    sums: BTreeMap<&'static str, u64>,
}

impl Counters {
    /// A connection was opened.
    pub fn opened(&mut self, library: &AnyBlocking, now_ns: u64, schedule: &Schedule) {
        self.is_measuring = false;
        self.check(library, now_ns, schedule);
    }

    /// Called between two calls of the library.
    #[inline]
    pub fn check(&mut self, library: &AnyBlocking, now_ns: u64, schedule: &Schedule) {
        if !self.is_measuring && now_ns >= schedule.measure_ns {
            self.is_measuring = true;
            self.before = library.counters().into_iter().collect();
        }
    }

    /// A connection is about to be closed.
    pub fn closing(&mut self, library: &AnyBlocking) {
        if !self.is_measuring {
            return;
        }
        for (name, count) in library.counters() {
            let before = self.before.get(name).copied().unwrap_or(0);
            *self.sums.entry(name).or_default() += count.saturating_sub(before);
        }
        self.is_measuring = false;
    }

    pub fn record_in(self, recorder: &mut ThreadRecorder) {
        for (name, count) in self.sums {
            *recorder.counters.entry(name).or_default() += count;
        }
    }
}

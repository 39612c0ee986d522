//! One ended transaction (or what else is counted), and the buffer in which a thread gathers them.

use std::sync::{Mutex, PoisonError};

use crate::observation::Outcome;

/// What a sample is of. Numbers are those of transaction types ([`super::Layout`]), statements and groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    Transaction(u32, Outcome),
    /// An arrival that was never begun; its end is when it was due.
    Skipped(u32),
    /// A failed attempt, after which the same transaction is tried again.
    Retry(u32),
    /// Of which only the service time counts.
    Statement(u32),
    /// A pass of a group's client of which every transaction ended `ok`.
    Pass(u32),
}

#[derive(Clone, Copy, Debug)]
pub struct Sample {
    pub unit: Unit,
    /// On the run's clock.
    pub end_ns: u64,
    /// From the intended start.
    pub latency_ns: u64,
    /// From the actual start. What the latency has more is the schedule lag.
    pub service_ns: u64,
}

/// How many samples a thread gathers before it enters them into an aggregator.
const BUFFER_SAMPLES: usize = 1024;

/// Samples of one thread that stand in no aggregator yet.
#[derive(Debug)]
pub struct SampleBuffer {
    samples: Mutex<Vec<Sample>>,
}

impl SampleBuffer {
    #[must_use]
    pub fn new() -> Self {
        Self {
            samples: Mutex::new(Vec::with_capacity(BUFFER_SAMPLES)),
        }
    }

    /// Adds a sample; a buffer that is full with it is emptied through `enter`.
    #[inline]
    pub fn put(&self, sample: Sample, enter: impl FnOnce(&[Sample])) {
        let mut samples = self.samples.lock().unwrap_or_else(PoisonError::into_inner);
        samples.push(sample);
        if samples.len() == BUFFER_SAMPLES {
            enter(&samples);
            samples.clear();
        }
    }

    /// Empties the buffer through `enter`.
    pub fn empty(&self, enter: impl FnOnce(&[Sample])) {
        let mut samples = self.samples.lock().unwrap_or_else(PoisonError::into_inner);
        enter(&samples);
        samples.clear();
    }
}

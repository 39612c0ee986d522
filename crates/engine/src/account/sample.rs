//! One sample (an ended transaction or another counted event), and the buffer of a thread's samples.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::account::LiveCount;
use crate::observation::Outcome;

/// What was sampled. The numbers are those of transaction types ([`super::Layout`]), statements and clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    Transaction(u32, Outcome),
    /// An arrival that was never started; its end is when it was due.
    Skipped(u32),
    /// A failed attempt of a transaction that is retried.
    Retry(u32),
    /// Only the service time counts.
    Statement(u32),
    /// A pass of this client in which every transaction ended `ok`.
    Pass(u32),
}

#[derive(Clone, Copy, Debug)]
pub struct Sample {
    pub unit: Unit,
    /// On the run's clock.
    pub end_ns: u64,
    /// From the intended start.
    pub latency_ns: u64,
    /// From the actual start. The schedule lag is the latency minus this.
    pub service_ns: u64,
}

/// How many samples a thread collects before it adds them to an aggregator, once its clients do not wait for it.
const BUFFER_SAMPLES: usize = 1024;
/// With so many it adds them at once.
const MOST_SAMPLES: usize = 8192;

/// Samples of one thread that are in no aggregator yet, and what else others read of it while it works.
#[derive(Debug)]
pub struct SampleBuffer {
    /// Statements of measured transactions that were answered, when the last one of these ended.
    pub statements: LiveCount,
    // Relaxed: it guards no other memory.
    is_full: AtomicBool,
    samples: Mutex<Vec<Sample>>,
}

impl SampleBuffer {
    #[must_use]
    pub fn new() -> Self {
        Self {
            statements: LiveCount::default(),
            is_full: AtomicBool::new(false),
            samples: Mutex::new(Vec::with_capacity(BUFFER_SAMPLES)),
        }
    }

    /// Whether it is time to empty the buffer.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.is_full.load(Ordering::Relaxed)
    }

    /// Adds a sample; a buffer that was not emptied in time is flushed through `flush`.
    #[inline]
    pub fn put(&self, sample: Sample, flush: impl FnOnce(&[Sample])) {
        let mut samples = self.samples.lock().unwrap_or_else(PoisonError::into_inner);
        samples.push(sample);
        if samples.len() == BUFFER_SAMPLES {
            self.is_full.store(true, Ordering::Relaxed);
        }
        if samples.len() == MOST_SAMPLES {
            flush(&samples);
            samples.clear();
            self.is_full.store(false, Ordering::Relaxed);
        }
    }

    /// Empties the buffer through `flush`.
    pub fn empty(&self, flush: impl FnOnce(&[Sample])) {
        let mut samples = self.samples.lock().unwrap_or_else(PoisonError::into_inner);
        flush(&samples);
        samples.clear();
        self.is_full.store(false, Ordering::Relaxed);
    }
}

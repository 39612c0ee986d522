//! One sample (an ended transaction or another counted event), and the buffer of a thread's samples.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

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

// Counts that one thread shows to others while it works.

/// A single thread sets it: that is a store, as for a plain number.
#[derive(Debug, Default)]
pub struct LiveCount(AtomicU64);

impl LiveCount {
    #[inline]
    pub fn set(&self, number: u64) {
        // Relaxed: the count guards no other memory.
        self.0.store(number, Ordering::Relaxed);
    }

    #[inline]
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// The measured transactions of each client that works or is done, by its number.
#[derive(Debug, Default)]
pub struct ClientCounts(Mutex<BTreeMap<u32, Arc<LiveCount>>>);

impl ClientCounts {
    /// That of a client that begins.
    pub fn begun(&self, client: u32) -> Arc<LiveCount> {
        self.each().entry(client).or_default().clone()
    }

    /// `is_done`: it has not ended before it was to.
    pub fn ended(&self, client: u32, transactions: u64, is_done: bool) {
        let mut each = self.each();
        if is_done {
            each.entry(client).or_default().set(transactions);
        } else {
            each.remove(&client);
        }
    }

    pub fn each(&self) -> MutexGuard<'_, BTreeMap<u32, Arc<LiveCount>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

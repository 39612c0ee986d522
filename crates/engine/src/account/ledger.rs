//! What one executor thread writes down about its clients.

use std::sync::{Arc, Mutex, PoisonError};

use super::{Book, ErrorLog, Outcome, ResultLog, Sample, Tray, Unit};

/// One thread's own account. Only the tray and the book are shared with anybody.
#[derive(Debug)]
pub struct Ledger {
    /// Measured transactions that were begun.
    pub scheduled: u64,
    pub errors: ErrorLog,
    pub results: ResultLog,
    pub ends: Vec<End>,
    tray: Arc<Tray>,
    book: Arc<Mutex<Book>>,
    began_ns: u64,
}

/// How a client's work ended.
#[derive(Clone, Copy, Debug)]
pub struct End {
    pub client: u32,
    /// On the run's clock.
    pub at_ns: u64,
    pub passes: u64,
    pub transactions: u64,
    pub state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    Done,
    Lost,
    /// Its statement took too long; its connection was closed.
    TimedOut,
    Refused,
    Interrupted,
}

impl Ledger {
    #[must_use]
    pub fn new(statements: usize, tray: Arc<Tray>, book: Arc<Mutex<Book>>) -> Self {
        Self {
            scheduled: 0,
            errors: ErrorLog::default(),
            results: ResultLog::new(statements),
            ends: Vec::new(),
            tray,
            book,
            began_ns: 0,
        }
    }

    /// The measurement begins (or will) at this instant.
    pub fn begin(&mut self, at_ns: u64) {
        self.began_ns = at_ns;
    }

    /// A measured transaction has ended.
    #[inline]
    pub fn transaction(&self, script: u32, outcome: Outcome, end_ns: u64, response_ns: u64) {
        self.put(Sample {
            unit: Unit::Transaction(script, outcome),
            end_ns,
            response_ns,
        });
    }

    /// A measured pass has ended, all of it `ok`.
    pub fn pass(&self, end_ns: u64, response_ns: u64) {
        self.put(Sample {
            unit: Unit::Pass,
            end_ns,
            response_ns,
        });
    }

    #[inline]
    fn put(&self, sample: Sample) {
        self.tray.put(sample, |samples| {
            let mut book = self.book.lock().unwrap_or_else(PoisonError::into_inner);
            book.enter(samples, self.began_ns);
        });
    }
}

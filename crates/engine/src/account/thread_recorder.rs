//! Records what the clients of one executor thread do.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::account::{
    Aggregator, AnswerSum, Completed, ErrorLog, Identity, Layout, LoggedTransaction, Sample,
    SampleBuffer, SessionServers, ThreadLog, ThreadStatements, Unit, Waits, Worktime,
};
use crate::observation::{Outcome, Outcomes};

/// The records of one thread. Others share the buffer and the aggregator, and with many threads the statement log.
#[derive(Debug)]
pub struct ThreadRecorder {
    /// Measured transactions that were started, or were due and skipped; by transaction type.
    pub scheduled: Vec<u64>,
    /// Attempts at measured transactions; by transaction type.
    pub attempts: Vec<u64>,
    /// Transactions that began in the warm-up; by transaction type.
    pub warm_up: Vec<Outcomes>,
    /// Statements of measured transactions that were answered.
    pub statements: u64,
    /// The servers that answered the sessions when these were opened.
    pub servers: SessionServers,
    /// Sessions that were lost and reopened.
    pub reconnects: u64,
    pub errors: ErrorLog,
    /// What is counted by statement.
    pub statement_log: ThreadStatements,
    /// By transaction type, where answers are summed.
    pub answer_sums: Vec<AnswerSum>,
    /// By group: the transactions whose answers are compared.
    pub completed: Vec<Completed>,
    pub ends: Vec<End>,
    /// Long waits for answers, including the warm-up.
    pub waits: Waits,
    /// Transactions that were abandoned because they did not end.
    pub abandoned: u64,
    /// How many of these the system has confirmed to be cancelled.
    pub cancelled: u64,
    /// Measured transactions that failed after a part of them was committed.
    pub partly_durable: u64,
    /// How many of these would have been retried otherwise.
    pub not_retried: u64,
    /// Statements that the server no longer accepted as they were prepared, and that were prepared again.
    pub prepared_again: u64,
    /// Counters of the drivers, over the measured part.
    pub counters: BTreeMap<&'static str, u64>,
    /// `None`: single transactions are not written.
    pub transaction_log: Option<ThreadLog>,
    buffer: Arc<SampleBuffer>,
    aggregator: Arc<Mutex<Aggregator>>,
    began_ns: u64,
}

/// How a client ended.
#[derive(Clone, Copy, Debug)]
pub struct End {
    /// Its number among the clients of all groups and processes.
    pub client: u32,
    /// On the run's clock.
    pub at_ns: u64,
    pub passes: u64,
    pub transactions: u64,
    /// One more than the highest number of its transactions; 0: it began none.
    pub next_number: u64,
    pub worktime: Worktime,
    pub state: EndState,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndState {
    Done,
    Lost,
    /// A statement took too long; the connection was closed.
    TimedOut,
    Refused,
    Interrupted,
    /// All its transactions fail, and would do so again.
    Failed,
}

impl ThreadRecorder {
    #[must_use]
    pub fn new(
        layout: &Layout,
        statement_log: ThreadStatements,
        buffer: Arc<SampleBuffer>,
        aggregator: Arc<Mutex<Aggregator>>,
        transaction_log: Option<ThreadLog>,
    ) -> Self {
        Self {
            scheduled: vec![0; layout.types.len()],
            attempts: vec![0; layout.types.len()],
            warm_up: vec![Outcomes::default(); layout.types.len()],
            statements: 0,
            servers: SessionServers::default(),
            reconnects: 0,
            errors: ErrorLog::default(),
            statement_log,
            answer_sums: vec![AnswerSum::default(); layout.types.len()],
            completed: vec![Completed::default(); layout.groups.len()],
            ends: Vec::new(),
            waits: Waits::new(layout.types.len()),
            abandoned: 0,
            cancelled: 0,
            partly_durable: 0,
            not_retried: 0,
            prepared_again: 0,
            counters: BTreeMap::new(),
            transaction_log,
            buffer,
            aggregator,
            began_ns: 0,
        }
    }

    /// The measurement begins, or will begin, at this instant.
    pub fn begin(&mut self, at_ns: u64) {
        self.began_ns = at_ns;
        if let Some(log) = &mut self.transaction_log {
            log.begin(at_ns);
        }
    }

    /// A measured transaction has ended.
    #[inline]
    pub fn transaction(
        &self,
        transaction_type: u32,
        outcome: Outcome,
        end_ns: u64,
        (latency_ns, service_ns): (u64, u64),
    ) {
        self.buffer.statements.set(self.statements);
        self.put(Sample {
            unit: Unit::Transaction(transaction_type, outcome),
            end_ns,
            latency_ns,
            service_ns,
        });
    }

    /// A transaction that began in the warm-up has ended.
    pub fn warmed_up(&mut self, transaction_type: u32, outcome: Outcome) {
        self.warm_up[transaction_type as usize].count(outcome);
    }

    /// A measured arrival, already counted as scheduled, will not be started.
    pub fn skipped(&mut self, transaction_type: u32, identity: Identity, due_ns: u64) {
        self.mark(Unit::Skipped(transaction_type), due_ns, 0);
        if let Some(log) = &mut self.transaction_log {
            let row = LoggedTransaction {
                transaction_type,
                due_ns,
                done: None,
            };
            log.add(identity, row);
        }
    }

    /// A measured transaction is retried.
    pub fn retry(&self, transaction_type: u32, at_ns: u64) {
        self.mark(Unit::Retry(transaction_type), at_ns, 0);
    }

    /// A statement of a measured transaction was answered.
    pub fn statement(&self, statement: u32, end_ns: u64, service_ns: u64) {
        self.mark(Unit::Statement(statement), end_ns, service_ns);
    }

    /// A measured pass of this client has ended, with all transactions `ok`.
    pub fn pass(&self, client: u32, end_ns: u64, latency_ns: u64) {
        self.mark(Unit::Pass(client), end_ns, latency_ns);
    }

    fn mark(&self, unit: Unit, end_ns: u64, duration_ns: u64) {
        self.put(Sample {
            unit,
            end_ns,
            latency_ns: duration_ns,
            service_ns: duration_ns,
        });
    }

    #[inline]
    fn put(&self, sample: Sample) {
        self.buffer.put(sample, |samples| self.flush(samples));
    }

    /// To be called while no client of this thread waits for it: adding the samples takes some 50 µs, and longer where
    /// another thread does the same.
    #[inline]
    pub fn flush_if_full(&self) {
        if self.buffer.is_full() {
            self.buffer.empty(|samples| self.flush(samples));
        }
    }

    #[cold]
    fn flush(&self, samples: &[Sample]) {
        let mut aggregator = self
            .aggregator
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        aggregator.add(samples, self.began_ns);
    }
}

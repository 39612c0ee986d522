//! Records what the clients of one executor thread do.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::account::{
    Aggregator, AnswerSum, Completed, ErrorLog, Identity, Layout, LoggedTransaction, ResultLog,
    Sample, SampleBuffer, StatementAnswers, ThreadLog, Unit, Waits,
};
use crate::observation::{Outcome, Outcomes, ServerReport};

/// The records of one thread. Others share the buffer and the aggregator, and with many threads the statement log.
#[derive(Debug)]
pub struct ThreadRecorder {
    pub counts: Counts,
    /// What is counted by statement.
    pub statement_log: ThreadStatements,
    /// `None`: single transactions are not written.
    pub transaction_log: Option<ThreadLog>,
    buffer: Arc<SampleBuffer>,
    aggregator: Arc<Mutex<Aggregator>>,
    began_ns: u64,
}

/// What is counted of the clients of one thread, or of several.
#[derive(Debug)]
pub struct Counts {
    /// By transaction type: attempts at measured transactions, and how many were started, or were due and skipped.
    pub begun: Vec<Outcomes>,
    /// Transactions that began in the warm-up; by transaction type.
    pub warm_up: Vec<Outcomes>,
    /// Statements of measured transactions that were answered.
    pub statements: u64,
    /// The servers that answered the sessions when these were opened.
    pub servers: SessionServers,
    /// Sessions that were lost and reopened.
    pub reconnects: u64,
    pub errors: ErrorLog,
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
}

impl Counts {
    pub fn new(layout: &Layout) -> Self {
        Self {
            begun: vec![Outcomes::default(); layout.types.len()],
            warm_up: vec![Outcomes::default(); layout.types.len()],
            statements: 0,
            servers: SessionServers::default(),
            reconnects: 0,
            errors: ErrorLog::default(),
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
        }
    }

    /// Adds those of another thread. It names each field, so that none is forgotten.
    pub fn merge(&mut self, other: Self) {
        let Self {
            begun,
            warm_up,
            statements,
            servers,
            reconnects,
            errors,
            answer_sums,
            completed,
            ends,
            waits,
            abandoned,
            cancelled,
            partly_durable,
            not_retried,
            prepared_again,
            counters,
        } = other;
        let sums = [&mut self.begun, &mut self.warm_up].into_iter().flatten();
        for (sum, added) in sums.zip(begun.iter().chain(&warm_up)) {
            sum.add(added);
        }
        for (sum, added) in self.answer_sums.iter_mut().zip(&answer_sums) {
            sum.merge(added);
        }
        for (sum, added) in self.completed.iter_mut().zip(&completed) {
            sum.merge(added);
        }
        for (name, count) in counters {
            *self.counters.entry(name).or_default() += count;
        }
        self.servers.merge(servers);
        self.errors.merge(errors);
        self.waits.merge(waits);
        self.ends.extend(ends);
        self.statements += statements;
        self.reconnects += reconnects;
        self.abandoned += abandoned;
        self.cancelled += cancelled;
        self.partly_durable += partly_durable;
        self.not_retried += not_retried;
        self.prepared_again += prepared_again;
    }
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
    pub fn new(
        layout: &Layout,
        statement_log: ThreadStatements,
        buffer: Arc<SampleBuffer>,
        aggregator: Arc<Mutex<Aggregator>>,
        transaction_log: Option<ThreadLog>,
    ) -> Self {
        Self {
            counts: Counts::new(layout),
            statement_log,
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
        self.buffer.statements.set(self.counts.statements);
        self.put(Sample {
            unit: Unit::Transaction(transaction_type, outcome),
            end_ns,
            latency_ns,
            service_ns,
        });
    }

    /// A transaction that began in the warm-up has ended.
    pub fn warmed_up(&mut self, transaction_type: u32, outcome: Outcome) {
        self.counts.warm_up[transaction_type as usize].count(outcome);
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

// Takes the answers to statements; holds what is counted for each statement, for one thread or for several.
//
// A driver that blocks has a thread for each client. A thousand of them with ten thousand statements would need
// gigabytes, so where there are more threads than processors, there is a log for each processor.

/// What is counted, by statement.
#[derive(Debug, Default)]
pub struct StatementLog {
    pub results: ResultLog,
    /// Where answers are compared with those of other runs; otherwise empty.
    pub answers: Vec<StatementAnswers>,
}

/// A log that other threads may use too.
pub type SharedLog = Arc<Mutex<StatementLog>>;

/// The log that a thread writes to.
#[derive(Debug)]
pub enum ThreadStatements {
    Own(StatementLog),
    Shared(SharedLog),
}

impl StatementLog {
    pub fn new(layout: &Layout) -> Self {
        Self {
            results: ResultLog::new(layout.statements),
            answers: match layout.compares_answers {
                true => vec![StatementAnswers::default(); layout.statements],
                false => Vec::new(),
            },
        }
    }

    /// Adds the counts of a log of the same layout.
    pub fn merge(&mut self, other: &Self) {
        self.results.merge(&other.results);
        for (sum, added) in self.answers.iter_mut().zip(&other.answers) {
            sum.merge(added);
        }
    }
}

impl ThreadStatements {
    #[inline]
    pub fn with(&mut self, act: impl FnOnce(&mut StatementLog)) {
        match self {
            Self::Own(log) => act(log),
            Self::Shared(log) => act(&mut log.lock().unwrap_or_else(PoisonError::into_inner)),
        }
    }
}

// Takes what is known of the server that answers each session; counts the sessions of each server.

/// The server that answers a session.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct SessionServer {
    pub version: String,
    /// As the server reports it; empty where it was not asked, or does not report it.
    pub address: String,
    /// The same.
    pub role: String,
    /// The server has another id for the session than the one that was given at login.
    pub is_behind_pooler: bool,
}

/// Servers, each with its number of sessions.
#[derive(Debug, Default)]
pub struct SessionServers(BTreeMap<SessionServer, u32>);

impl SessionServers {
    pub fn add(&mut self, server: SessionServer) {
        *self.0.entry(server).or_default() += 1;
    }

    pub fn merge(&mut self, other: Self) {
        for (server, sessions) in other.0 {
            *self.0.entry(server).or_default() += sessions;
        }
    }

    pub fn report(self) -> Vec<ServerReport> {
        let reports = self.0.into_iter().map(|(server, sessions)| ServerReport {
            version: server.version,
            address: server.address,
            role: server.role,
            is_behind_pooler: server.is_behind_pooler,
            sessions,
        });
        reports.collect()
    }
}

// Takes the starts and ends of one client's transactions; returns how it spent the rest of the measurement.

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

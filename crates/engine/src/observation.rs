//! What a run was, as the engine saw it: plain data, ready to be written as JSON. All times are of a
//! monotonic clock, except the one that says so.

use assay_histogram::ResponseTimes;
use serde::Serialize;

use crate::account::Outcome;

#[derive(Clone, Debug, Serialize)]
pub struct Observation {
    /// Wall clock at the beginning of the measurement.
    pub started_unix_ns: u64,
    /// From the end of the warm-up to the end of the last client.
    pub elapsed_ns: u64,
    /// From the first connection to the last prepared statement of the last client.
    pub connect_ns: u64,
    pub clients: u32,
    pub threads: u32,
    pub outcomes: Outcomes,
    pub transactions: Vec<TransactionReport>,
    /// None for a mix.
    pub passes: Option<Passes>,
    /// One for each second of the measurement, also for those in which nothing ended.
    pub intervals: Vec<Interval>,
    pub errors: Vec<ErrorReport>,
    pub client_ends: Vec<ClientEnd>,
    /// For each statement without parameters.
    pub results: Vec<ResultReport>,
    pub client_cost: ClientCost,
    /// `stop`, `interrupted`, `refused` (a client was not let in, and nothing was driven), `lost` (every
    /// client lost its connection), or `all clients failed` (every client ended early, not all of them so).
    pub ended_by: &'static str,
}

/// What became of every transaction that the workload asked for:
/// `scheduled = ok + aborted + failed + unknown + skipped`, asserted at the end of every run.
///
/// In a closed loop a transaction is scheduled when its client begins it, so none is ever skipped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Outcomes {
    pub scheduled: u64,
    pub ok: u64,
    /// Rolled back, as the workload asked.
    pub aborted: u64,
    pub failed: u64,
    /// The connection ended, or the wait for it, before the answer came.
    pub unknown: u64,
    /// Too late to start.
    pub skipped: u64,
}

impl Outcomes {
    pub(crate) fn count(&mut self, outcome: Outcome) {
        *match outcome {
            Outcome::Ok => &mut self.ok,
            Outcome::Aborted => &mut self.aborted,
            Outcome::Failed => &mut self.failed,
            Outcome::Unknown => &mut self.unknown,
        } += 1;
    }

    pub(crate) fn add(&mut self, other: &Self) {
        self.scheduled += other.scheduled;
        self.ok += other.ok;
        self.aborted += other.aborted;
        self.failed += other.failed;
        self.unknown += other.unknown;
        self.skipped += other.skipped;
    }

    /// All that have ended, however.
    #[must_use]
    pub fn ended(&self) -> u64 {
        self.ok + self.aborted + self.failed + self.unknown + self.skipped
    }

    /// # Panics
    /// Where a transaction was lost from sight, or seen twice: a bug of the engine, after which no
    /// number of the run can be believed.
    pub(crate) fn assert_identity(&self) {
        assert!(
            self.scheduled == self.ended(),
            "the accounting of transactions is broken; please report this: {self:?}"
        );
    }
}

/// The transactions of one type that ended one way.
#[derive(Clone, Debug, Serialize)]
pub struct TransactionReport {
    pub name: String,
    pub outcome: &'static str,
    pub count: u64,
    pub response_time: ResponseTime,
}

/// Passes of which every transaction ended `ok`.
#[derive(Clone, Debug, Serialize)]
pub struct Passes {
    pub count: u64,
    pub response_time: ResponseTime,
}

/// A distribution. In a closed loop there is no intended start: a transaction starts when its client
/// is free, and its response time is its service time. Pauses of the script that are no part of it
/// (`\keying`, `\think`) are left out.
#[derive(Clone, Debug, Serialize)]
pub struct ResponseTime {
    pub min_ns: u64,
    pub mean_ns: f64,
    pub p50_ns: u64,
    pub p90_ns: u64,
    pub p95_ns: u64,
    pub p99_ns: u64,
    pub p99_9_ns: u64,
    pub max_ns: u64,
    /// How many were longer than the histogram's hour.
    pub overflow: u64,
    /// HDR histogram, V2 deflate, base64.
    pub histogram: String,
}

impl From<&ResponseTimes> for ResponseTime {
    fn from(times: &ResponseTimes) -> Self {
        Self {
            min_ns: times.min_ns(),
            mean_ns: times.mean_ns(),
            p50_ns: times.percentile_ns(50.0),
            p90_ns: times.percentile_ns(90.0),
            p95_ns: times.percentile_ns(95.0),
            p99_ns: times.percentile_ns(99.0),
            p99_9_ns: times.percentile_ns(99.9),
            max_ns: times.max_ns(),
            overflow: times.overflow(),
            histogram: times.encode(),
        }
    }
}

/// One second of the measurement, by the instant at which transactions ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Interval {
    pub second: u64,
    pub ok: u64,
    /// Failed, or of unknown outcome.
    pub failed: u64,
    /// Response times of those that ended `ok`; 0 where there are none.
    pub p50_ns: u64,
    pub p99_ns: u64,
    pub max_ns: u64,
}

/// All errors of one class and code in one transaction type.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ErrorReport {
    pub class: &'static str,
    /// The system's own.
    pub code: String,
    /// Of the first of them.
    pub message: String,
    pub count: u64,
    /// None where no transaction was under way (while connecting).
    pub transaction: Option<String>,
    /// Since the beginning of the measurement, 0 where it was before; where nothing was measured, since
    /// the beginning of the run.
    pub first_at_ns: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ClientEnd {
    pub client: u32,
    /// Since the beginning of the measurement.
    pub elapsed_ns: u64,
    /// Measured ones, whatever became of their transactions.
    pub passes: u64,
    pub transactions: u64,
    /// `done`, `lost`, `refused` or `interrupted`.
    pub state: &'static str,
}

/// How far the answers to one statement agree, over all clients and passes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ResultReport {
    pub transaction: String,
    /// Its number among the statements of its script, from 0.
    pub statement: u32,
    /// Of the first answer.
    pub rows: u64,
    /// Of the first answer, 16 hexadecimal digits; none where answers were only counted.
    pub digest: Option<String>,
    pub answers: u64,
    /// How many were not like the first.
    pub differing: u64,
    pub first_difference: Option<String>,
}

/// What the client's process cost the machine during the measurement, as the kernel counts it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ClientCost {
    pub user_ns: u64,
    pub system_ns: u64,
    /// Of the whole life of the process.
    pub resident_peak_bytes: u64,
    pub voluntary_switches: u64,
    pub involuntary_switches: u64,
}

impl ClientCost {
    /// What has been added since `before`.
    pub(crate) fn since(&self, before: &Self) -> Self {
        Self {
            user_ns: self.user_ns - before.user_ns,
            system_ns: self.system_ns - before.system_ns,
            resident_peak_bytes: self.resident_peak_bytes,
            voluntary_switches: self.voluntary_switches - before.voluntary_switches,
            involuntary_switches: self.involuntary_switches - before.involuntary_switches,
        }
    }
}

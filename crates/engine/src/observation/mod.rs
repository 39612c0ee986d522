//! What a run was, as the engine saw it: plain data, ready to be written as JSON. All times are of a
//! monotonic clock, except the one that says so.

mod cost;
mod outcomes;
mod service;

pub use cost::ClientCost;
pub use outcomes::{Outcomes, TransactionOutcomes};
pub use service::{CarriedOver, InFlight, LittlesLaw, Standstill, TransactionsPerClient};

use std::collections::BTreeMap;

use assay_histogram::LatencyHistogram;
use serde::Serialize;

#[derive(Clone, Debug, Serialize)]
pub struct Observation {
    /// Wall clock at the beginning of the measurement.
    pub started_unix_ns: u64,
    /// From the end of the warm-up to the end of the last client.
    pub elapsed_ns: u64,
    /// The last part of `elapsed_ns`, in which no transaction was begun any more and those under way were
    /// waited for; 0 where the clock did not end the run.
    pub drained_ns: u64,
    /// From the first connection to the last prepared statement of the last client.
    pub connect_ns: u64,
    pub clients: u32,
    pub threads: u32,
    pub arrival: Arrival,
    /// Of every percentile and histogram.
    pub resolution: Resolution,
    pub outcomes: Outcomes,
    /// The same for each transaction type; each line adds up by itself.
    pub outcomes_by_transaction: Vec<TransactionOutcomes>,
    pub transactions: Vec<TransactionReport>,
    pub all_ok: AllOk,
    /// None for a mix, and in an open loop.
    pub passes: Option<Passes>,
    /// The same for each group of clients.
    pub groups: Vec<GroupReport>,
    /// Statements of measured transactions that were answered, those that begin, end or roll back
    /// included.
    pub statements: u64,
    /// In the order of the scripts, where asked for; statements that were never answered are left out.
    pub per_statement: Vec<StatementReport>,
    /// One for each second of the measurement, also for those in which nothing ended.
    pub intervals: Vec<Interval>,
    pub errors: Vec<ErrorReport>,
    pub client_ends: Vec<ClientEnd>,
    pub transactions_per_client: TransactionsPerClient,
    pub in_flight: InFlight,
    pub carried_over: CarriedOver,
    /// None in an open loop, and where nothing was driven.
    pub littles_law: Option<LittlesLaw>,
    /// In which no transaction ended for at least a second, and for ten times the median latency of
    /// those that clients waited for.
    pub stalls: Vec<Standstill>,
    /// In which this process itself stood still for more than half a second, to a tenth of a second.
    pub suspensions: Vec<Standstill>,
    /// Sessions that were lost and opened anew.
    pub reconnects: u64,
    /// In which no client had a session, from the last loss to the first transaction that ended `ok`
    /// again; where clients try to come back, or open a session for each transaction.
    pub outages: Vec<Outage>,
    /// For each statement without parameters.
    pub results: Vec<ResultReport>,
    pub client_cost: ClientCost,
    /// What drivers have counted themselves in the measured part, over all clients (`buffer_hits`, …).
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub driver_counters: BTreeMap<&'static str, u64>,
    /// Transactions that were given up because they did not end; none where there were none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unfinished: Option<Unfinished>,
    /// `stop`, `interrupted`, `refused` (a client was not let in, and nothing was driven), `lost` (every
    /// client lost its connection), or `all clients failed` (every client ended early, not all of them so).
    pub ended_by: &'static str,
}

/// How fine times are told. The cells of a histogram are `lowest_ns` wide up to 2 × 10^digits of them
/// (2,047 ns); from there on they have that many significant digits. Minimum, maximum and mean are exact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Resolution {
    pub lowest_ns: u64,
    pub significant_digits: u8,
    /// What takes longer is counted as `overflow`.
    pub highest_ns: u64,
}

impl Resolution {
    pub const OF_HISTOGRAMS: Self = Self {
        lowest_ns: assay_histogram::LOWEST_NS,
        significant_digits: assay_histogram::SIGNIFICANT_DIGITS,
        highest_ns: assay_histogram::HIGHEST_NS,
    };
}

/// What was given up at the end.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Unfinished {
    /// Measured or not.
    pub transactions: u64,
    /// How many of them the system is known to have ended when it was asked to.
    pub cancelled: u64,
    /// How long they were waited for after the end of the measurement.
    pub limit_s: f64,
}

/// How transactions arrived, as the document said.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Arrival {
    /// `closed`, `constant`, `poisson`, or `mixed` where groups of clients differ.
    pub kind: &'static str,
    /// Over all clients of open loops; none where there is no such.
    pub offered_rate_per_s: Option<f64>,
}

/// The transactions of one type that ended one way.
#[derive(Clone, Debug, Serialize)]
pub struct TransactionReport {
    pub name: String,
    pub outcome: &'static str,
    pub count: u64,
    /// How many of them took longer than the limit; only those that ended `ok` are called late.
    pub late: u64,
    /// From the intended start to the end, all attempts included.
    #[serde(rename = "response_time")]
    pub latency: Latency,
    /// From the actual start to the end, all attempts included.
    pub service_time: Latency,
    /// From the intended start to the actual one; none in a closed loop.
    pub schedule_lag: Option<Latency>,
}

/// The transactions of all types that ended `ok`.
#[derive(Clone, Debug, Serialize)]
pub struct AllOk {
    pub count: u64,
    #[serde(rename = "response_time")]
    pub latency: Latency,
    pub service_time: Latency,
    pub schedule_lag: Option<Latency>,
}

/// One group of clients, over the same measurement as all.
#[derive(Clone, Debug, Serialize)]
pub struct GroupReport {
    /// "" where the document has no groups.
    pub name: String,
    pub clients: u32,
    pub arrival: Arrival,
    /// From the end of the warm-up to the end of its last client.
    pub elapsed_ns: u64,
    pub outcomes: Outcomes,
    pub outcomes_by_transaction: Vec<TransactionOutcomes>,
    pub transactions: Vec<TransactionReport>,
    pub all_ok: AllOk,
    /// None for a mix, a shared list, and in an open loop.
    pub passes: Option<Passes>,
}

/// One statement, wherever it stands.
#[derive(Clone, Debug, Serialize)]
pub struct StatementReport {
    pub transaction: String,
    /// Its number among the statements of its script, from 0.
    pub statement: u32,
    pub line: u32,
    pub text: String,
    /// How often it was answered in measured transactions, failures included.
    pub count: u64,
    /// From the sending to the end of the answer.
    pub service_time: Latency,
}

/// Passes of which every transaction ended `ok`.
#[derive(Clone, Debug, Serialize)]
pub struct Passes {
    pub count: u64,
    #[serde(rename = "response_time")]
    pub latency: Latency,
}

/// A distribution of durations. In a closed loop there is no intended start: a transaction starts when
/// its client is free, and its latency is its service time. Pauses of the script that are no part
/// of it (`\keying`, `\think`) are left out.
#[derive(Clone, Debug, Serialize)]
pub struct Latency {
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

impl From<&LatencyHistogram> for Latency {
    fn from(times: &LatencyHistogram) -> Self {
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

/// One second of the measurement, by the instant at which transactions ended (of skipped ones: were due;
/// of retries: the attempt before failed).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Interval {
    pub second: u64,
    pub ok: u64,
    pub aborted: u64,
    pub failed: u64,
    pub unknown: u64,
    /// Of those that ended `ok`.
    pub late: u64,
    pub skipped: u64,
    pub retries: u64,
    /// The fewest that were seen in it; ten looks a second.
    pub clients_connected: u32,
    /// Latencies of those that ended `ok`; 0 where there are none.
    pub p50_ns: u64,
    pub p99_ns: u64,
    pub max_ns: u64,
    /// Of all that ended, however; none in a closed loop, and where none did.
    pub schedule_lag_p99_ns: Option<u64>,
    /// How much of it belongs to `stalls`.
    pub stalled_ns: u64,
    /// How much of it belongs to `suspensions`.
    pub suspended_ns: u64,
}

/// A time in which nobody was served, since the beginning of the measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Outage {
    pub from_ns: u64,
    pub to_ns: u64,
}

/// All errors of one class and code in one transaction type.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ErrorReport {
    pub class: &'static str,
    /// The system's own.
    pub code: String,
    /// Of the first of them.
    pub message: String,
    /// `undone`, or `unknown` where what was asked for may have been done. One class can have both.
    pub certainty: &'static str,
    pub count: u64,
    /// How many of these were followed by another attempt at the same transaction.
    pub retried: u64,
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
    /// `done`, `lost` (and did not come back), `refused` or `interrupted`.
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

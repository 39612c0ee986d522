//! The results of a run, as measured by the engine: plain data, ready to be written as JSON. All times are of
//! a monotonic clock, except `started_unix_ns`.

mod client;
mod cost;
mod group;
mod latency;
mod outcomes;
mod service;
mod transactions;

pub use client::{ClientEnd, ClientState, EndedBy, Outage, ServerReport, Unfinished};
pub use cost::{ClientCost, LogReport};
pub use group::{Arrival, ArrivalKind, EndpointReport, GroupReport};
pub use latency::{Interval, Latency, Resolution};
pub use outcomes::{
    Certainty, ErrorReport, Outcome, Outcomes, TransactionOutcomes, WarmUpOutcomes,
};
pub use service::{CarriedOver, InFlight, LittlesLaw, Standstill, TransactionsPerClient};
pub use transactions::{
    AllOk, AnswerReport, AnswerSumReport, BegunLevelReport, FirstAnswersReport, FirstExecution,
    PassTime, Passes, ResultReport, StatementReport, TransactionReport,
};

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use crate::document::SharedNumbersDocument;

/// The version of the format of an [`Observation`]. A change of a key's meaning raises it;
/// `python/assay/contracts/observation` reads all versions.
pub const VERSION: u32 = 3;

/// What a run of clients came to.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Observation {
    /// The version of the format of this document: [`VERSION`].
    pub version: u32,
    /// Wall clock at the beginning of the measurement.
    pub started_unix_ns: u64,
    /// From the end of the warm-up to the end of the last client.
    pub elapsed_ns: u64,
    /// The last part of `elapsed_ns`, in which no transaction was started and running ones were waited for; 0
    /// if no time limit ended the run.
    pub drained_ns: u64,
    /// From the first connection to the last prepared statement of the last client.
    pub connect_ns: u64,
    /// Clients of all groups in this process.
    pub clients: u32,
    /// OS threads that drove them.
    pub threads: u32,
    /// Over all groups.
    pub arrival: Arrival,
    /// The resolution of every percentile and histogram.
    pub resolution: Resolution,
    /// The outcomes of all measured transactions.
    pub outcomes: Outcomes,
    /// The same for each transaction type; the numbers of each type add up.
    pub outcomes_by_transaction: Vec<TransactionOutcomes>,
    /// Of the transactions that began in the warm-up, by type; empty without a warm-up.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warm_up: Vec<WarmUpOutcomes>,
    /// Transactions by group, type and outcome.
    pub transactions: Vec<TransactionReport>,
    /// Transactions of all types that ended `ok`.
    pub all_ok: AllOk,
    /// Of the groups that have passes; null for a mix, a shared list, and in an open loop.
    pub passes: Option<Passes>,
    /// The passes that ended first, in this order, at most 10,000; of groups with several scripts, or that end after
    /// a number of passes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pass_times: Vec<PassTime>,
    /// How many more passes these groups made.
    #[serde(skip_serializing_if = "is_zero")]
    pub pass_times_left_out: u64,
    /// Statements of measured transactions that were answered, including those that begin, end or roll back a
    /// transaction.
    pub statements: u64,
    /// In the order of the scripts, if requested; statements that were never answered are left out.
    pub per_statement: Vec<StatementReport>,
    /// In the order of the document; the keys above are totals over the groups.
    pub groups: Vec<GroupReport>,
    /// One for each second of the measurement and each group, including those in which nothing ended.
    pub intervals: Vec<Interval>,
    /// The errors of failed transactions, by class and code.
    pub errors: Vec<ErrorReport>,
    /// How each client ended, in the order of their numbers.
    pub client_ends: Vec<ClientEnd>,
    /// How evenly the transactions were spread over the clients.
    pub transactions_per_client: TransactionsPerClient,
    /// Transactions that were running when the measurement ended.
    pub in_flight: InFlight,
    /// Transactions that were running when the measurement began.
    pub carried_over: CarriedOver,
    /// Null in an open loop, and if no transaction was run.
    pub littles_law: Option<LittlesLaw>,
    /// Times in which no transaction ended for at least a second, and for ten times the median latency of the
    /// transactions that clients waited for.
    pub stalls: Vec<Standstill>,
    /// Times in which this process itself was suspended for more than half a second, to a tenth of a second.
    pub suspensions: Vec<Standstill>,
    /// The servers that answered the clients' sessions when these were opened, before the measurement.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub servers: Vec<ServerReport>,
    /// Sessions that were lost and reopened.
    pub reconnects: u64,
    /// Measured transactions that failed after a part of them was committed: in a statement outside a transaction, or by
    /// a commit before the failure. They are counted as `unknown`, and never retried.
    #[serde(skip_serializing_if = "is_zero")]
    pub partly_durable: u64,
    /// How many of these would have been retried otherwise.
    #[serde(skip_serializing_if = "is_zero")]
    pub not_retried: u64,
    /// How often a statement was prepared again, since the server no longer accepted it as it was prepared.
    #[serde(skip_serializing_if = "is_zero")]
    pub prepared_again: u64,
    /// Times in which no client had a session, from the last loss to the first transaction that ended `ok`
    /// again; if clients reconnect, or open a session for each transaction.
    pub outages: Vec<Outage>,
    /// For each statement without parameters.
    pub results: Vec<ResultReport>,
    /// For each script, if requested.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub answer_sums: Vec<AnswerSumReport>,
    /// For each statement that was answered, if requested.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub answers: Vec<AnswerReport>,
    /// What the run cost this process.
    pub client_cost: ClientCost,
    /// Counters of the drivers in the measured part, over all clients (`buffer_hits`, …).
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub driver_counters: BTreeMap<&'static str, u64>,
    /// The log of single transactions; absent: there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log: Option<LogReport>,
    /// Transactions that were abandoned because they did not end; null if there were none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unfinished: Option<Unfinished>,
    /// Above the numbers that its transactions had (`:transaction_number`).
    #[serde(skip_serializing_if = "is_zero")]
    pub next_transaction: u64,
    /// How far the numbers came that its clients share.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub shared_numbers: Vec<SharedNumbersDocument>,
    /// The `\begin`s with an isolation level that clients executed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub begun_levels: Vec<BegunLevelReport>,
    /// Why the run ended.
    pub ended_by: EndedBy,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "the form that serde asks for"
)]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// The JSON Schema of an [`Observation`]. The structs of this module are its only source.
pub fn schema() -> serde_json::Value {
    let settings = schemars::generate::SchemaSettings::draft2020_12().for_serialize();
    settings
        .into_generator()
        .into_root_schema_for::<Observation>()
        .to_value()
}

//! The results of one group of clients, in the measurement that all groups share.

use schemars::JsonSchema;
use serde::Serialize;

use crate::observation::{
    AllOk, ErrorReport, Outcomes, Passes, TransactionOutcomes, TransactionReport,
};

/// How transactions arrived, as the document defines.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Arrival {
    /// Closed, deferred, or the distribution of an open loop's arrivals.
    pub kind: ArrivalKind,
    /// Over all clients of open loops; null if there are none.
    pub offered_rate_per_s: Option<f64>,
}

/// When transactions begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ArrivalKind {
    /// A client's next transaction begins after its last has ended.
    Closed,
    /// At a constant rate.
    Constant,
    /// As a Poisson process: with exponential gaps.
    Poisson,
    /// When a script of another group queues them.
    Deferred,
    /// The transactions of the groups arrive in different ways.
    Mixed,
}

impl ArrivalKind {
    /// The word of documents, records and reports.
    pub fn word(self) -> &'static str {
        match self {
            Self::Closed => "closed",
            Self::Constant => "constant",
            Self::Poisson => "poisson",
            Self::Deferred => "deferred",
            Self::Mixed => "mixed",
        }
    }
}

/// Clients that run the same scripts at the same pace.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct GroupReport {
    /// Empty for the only group of a document without `groups`.
    pub name: String,
    /// The group's clients in this process.
    pub clients: u32,
    /// When its transactions began.
    pub arrival: Arrival,
    /// From the start of the measurement to the end of the group's last client.
    pub elapsed_ns: u64,
    /// Transactions that ended `ok`, per second of `elapsed_ns`; 0 if no time passed.
    pub throughput_per_s: f64,
    /// The outcomes of its transactions.
    pub outcomes: Outcomes,
    /// The same for each transaction type; the numbers of each type add up.
    pub outcomes_by_transaction: Vec<TransactionOutcomes>,
    /// Its transactions by type and outcome.
    pub transactions: Vec<TransactionReport>,
    /// Its transactions of all types that ended `ok`.
    pub all_ok: AllOk,
    /// Of a group that runs deferred scripts: the most that waited in the queue at once, in the measurement.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub longest_queue: Option<u64>,
    /// Null for a mix, a shared list, and in an open loop.
    pub passes: Option<Passes>,
    /// Errors of its transactions; errors while connecting are only in the list of all groups.
    pub errors: Vec<ErrorReport>,
    /// The same by the endpoints that its clients use; absent where the run has one endpoint.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub endpoints: Vec<EndpointReport>,
}

/// What the clients of one group did at one of several endpoints.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct EndpointReport {
    /// `HOST:PORT`, or the path of a socket, as the drive document calls it.
    pub name: String,
    /// Whether it repeats what another one does.
    pub is_replica: bool,
    /// The group's clients in this process that use it.
    pub clients: u32,
    /// Transactions that ended `ok` there, per second of the group's `elapsed_ns`.
    pub throughput_per_s: f64,
    /// Transactions that ended there, by outcome.
    pub ok: u64,
    /// Rolled back as their scripts say.
    pub aborted: u64,
    /// Ended by an error.
    pub failed: u64,
    /// Whether they were committed is not known.
    pub unknown: u64,
    /// Of those that ended `ok`, the ones that took longer than the latency limit.
    pub late: u64,
    /// Further attempts.
    pub retries: u64,
    /// Its transactions of all types that ended `ok`. Arrivals that were skipped are of no endpoint.
    pub all_ok: AllOk,
    /// Errors of its transactions.
    pub errors: Vec<ErrorReport>,
}

//! One second of one group of clients.

use assay_histogram::EncodedHistogram;
use schemars::JsonSchema;
use serde::Serialize;

/// One second of the measurement in one group, by the instant at which transactions ended (skipped: were due;
/// retries: the previous attempt failed).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Interval {
    /// The number of the second since the start of the measurement, from 0.
    pub second: u64,
    /// The group's name.
    pub group: String,
    /// Transactions that ended `ok`.
    pub ok: u64,
    /// Transactions that the workload aborted.
    pub aborted: u64,
    /// Transactions that failed.
    pub failed: u64,
    /// Transactions whose effect cannot be known.
    pub unknown: u64,
    /// Of the `ok` transactions.
    pub late: u64,
    /// Arrivals of an open loop that were too late to begin.
    pub skipped: u64,
    /// Further attempts at failed transactions.
    pub retries: u64,
    /// The lowest number in this second, sampled ten times a second.
    pub clients_connected: u32,
    /// Of the `ok` transactions; null if there were none.
    pub latency: Option<EncodedHistogram>,
    /// Of all transactions that ended, with any outcome; null in a closed loop, and if there were none.
    pub schedule_lag: Option<EncodedHistogram>,
    /// Of `latency`; 0 if that is null.
    pub p50_ns: u64,
    /// The 99th percentile of the same.
    pub p99_ns: u64,
    /// The longest of the same.
    pub max_ns: u64,
    /// Of `schedule_lag`.
    pub schedule_lag_p99_ns: Option<u64>,
    /// How much of the second is part of the run's `stalls`.
    pub stalled_ns: u64,
    /// How much of the second is part of the run's `suspensions`.
    pub suspended_ns: u64,
}

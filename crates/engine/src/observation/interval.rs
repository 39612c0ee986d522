//! One second of one group of clients.

use assay_histogram::EncodedHistogram;
use schemars::JsonSchema;
use serde::Serialize;

/// One second of the measurement in one group, by the instant at which transactions ended (skipped: were due;
/// retries: the previous attempt failed).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Interval {
    pub second: u64,
    /// The group's name.
    pub group: String,
    pub ok: u64,
    pub aborted: u64,
    pub failed: u64,
    pub unknown: u64,
    /// Of the `ok` transactions.
    pub late: u64,
    pub skipped: u64,
    pub retries: u64,
    /// The lowest number in this second, sampled ten times a second.
    pub clients_connected: u32,
    /// Of the `ok` transactions; null if there were none.
    pub latency: Option<EncodedHistogram>,
    /// Of all transactions that ended, with any outcome; null in a closed loop, and if there were none.
    pub schedule_lag: Option<EncodedHistogram>,
    /// Of `latency`; 0 if that is null.
    pub p50_ns: u64,
    pub p99_ns: u64,
    pub max_ns: u64,
    /// Of `schedule_lag`.
    pub schedule_lag_p99_ns: Option<u64>,
    /// How much of the second is part of the run's `stalls`.
    pub stalled_ns: u64,
    /// How much of the second is part of the run's `suspensions`.
    pub suspended_ns: u64,
}

//! One second of one group of clients.

use assay_histogram::EncodedHistogram;
use schemars::JsonSchema;
use serde::Serialize;

/// One second of the measurement in one group, by the instant at which transactions ended (of skipped
/// ones: were due; of retries: the attempt before failed).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Interval {
    pub second: u64,
    /// The group's name.
    pub group: String,
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
    /// Of those that ended `ok`; none where none did.
    pub latency: Option<EncodedHistogram>,
    /// Of all that ended, however; none in a closed loop, and where none did.
    pub schedule_lag: Option<EncodedHistogram>,
    /// Of `latency`; 0 where there is none.
    pub p50_ns: u64,
    pub p99_ns: u64,
    pub max_ns: u64,
    /// Of `schedule_lag`.
    pub schedule_lag_p99_ns: Option<u64>,
    /// How much of the second belongs to `stalls` of the whole run.
    pub stalled_ns: u64,
    /// How much of the second belongs to `suspensions`.
    pub suspended_ns: u64,
}

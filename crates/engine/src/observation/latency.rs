//! A distribution of durations: common percentiles, and a histogram that can be merged exactly.

use assay_histogram::{EncodedHistogram, LatencyHistogram};
use schemars::JsonSchema;
use serde::Serialize;

/// A distribution of durations. In a closed loop there is no intended start: a transaction starts when its
/// client is free, and its latency is its service time. Pauses of the script outside the latency (`\keying`,
/// `\think`) are left out.
///
/// Minimum, maximum, sum and mean are of the samples; percentiles are of all that was due. A percentile is null
/// where its rank is among what was never answered: no time is so long.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Latency {
    /// The whole distribution; histograms of several processes can be added.
    #[serde(flatten)]
    pub encoded: EncodedHistogram,
    /// The mean.
    pub mean_ns: f64,
    /// The median.
    pub p50_ns: Option<u64>,
    /// The 90th percentile.
    pub p90_ns: Option<u64>,
    /// The 95th percentile.
    pub p95_ns: Option<u64>,
    /// The 99th percentile.
    pub p99_ns: Option<u64>,
    /// The 99.9th percentile.
    pub p99_9_ns: Option<u64>,
}

impl From<&LatencyHistogram> for Latency {
    fn from(times: &LatencyHistogram) -> Self {
        Self {
            encoded: EncodedHistogram::from(times),
            mean_ns: times.mean_ns(),
            p50_ns: times.percentile_ns(50.0),
            p90_ns: times.percentile_ns(90.0),
            p95_ns: times.percentile_ns(95.0),
            p99_ns: times.percentile_ns(99.0),
            p99_9_ns: times.percentile_ns(99.9),
        }
    }
}

/// Count, minimum, maximum and sum are those of the encoded histogram.
impl std::ops::Deref for Latency {
    type Target = EncodedHistogram;

    fn deref(&self) -> &EncodedHistogram {
        &self.encoded
    }
}

/// The resolution of times. The buckets of a histogram are `lowest_ns` wide up to 2 × 10^digits of them (2,047
/// ns); longer times have that many significant digits. Minimum, maximum and sum are exact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Resolution {
    /// The shortest time that differs from 0.
    pub lowest_ns: u64,
    /// To how many significant decimal digits times are kept.
    pub significant_digits: u8,
    /// Longer times are counted as `overflow`.
    pub highest_ns: u64,
}

impl Resolution {
    /// The resolution of all histograms of this program.
    pub const OF_HISTOGRAMS: Self = Self {
        lowest_ns: assay_histogram::LOWEST_NS,
        significant_digits: assay_histogram::SIGNIFICANT_DIGITS,
        highest_ns: assay_histogram::HIGHEST_NS,
    };
}

// One second of one group of clients.

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

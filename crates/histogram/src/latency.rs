//! Takes durations or other histograms; returns the distribution of all of them.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer as _, V2DeflateSerializer};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The width of the narrowest buckets. They end at 2,047 ns; longer times are in buckets narrower than a
/// thousandth of them.
pub const LOWEST_NS: u64 = 1;
/// One hour. Longer times are counted as one hour, and again in [`LatencyHistogram::overflow`].
pub const HIGHEST_NS: u64 = 3_600_000_000_000;
/// Times are kept to so many significant decimal digits.
pub const SIGNIFICANT_DIGITS: u8 = 3;

/// The distribution of latencies (or service times, or lags), in nanoseconds.
///
/// Percentiles are exact to three digits; `min_ns`, `max_ns` and `mean_ns` are exact, except after
/// [`LatencyHistogram::decode`], when they have the precision of the encoded histogram.
#[derive(Clone, Debug)]
pub struct LatencyHistogram {
    buckets: Histogram<u64>,
    min_ns: u64,
    max_ns: u64,
    sum_ns: u128,
    overflow: u64,
    unanswered: u64,
}

impl LatencyHistogram {
    /// An empty histogram.
    pub fn new() -> Self {
        Self {
            buckets: empty_buckets(),
            min_ns: u64::MAX,
            max_ns: 0,
            sum_ns: 0,
            overflow: 0,
            unanswered: 0,
        }
    }

    /// Records one duration in nanoseconds. Never fails and never allocates.
    pub fn record(&mut self, duration_ns: u64) {
        self.buckets.saturating_record(duration_ns.min(HIGHEST_NS));
        self.overflow += u64::from(duration_ns > HIGHEST_NS);
        self.min_ns = self.min_ns.min(duration_ns);
        self.max_ns = self.max_ns.max(duration_ns);
        self.sum_ns += u128::from(duration_ns);
    }

    /// Counts what was due and has no duration, because it was never answered: its time is above all others,
    /// whatever they are.
    pub fn add_unanswered(&mut self, count: u64) {
        self.unanswered += count;
    }

    /// Adds all samples of `other`. Merging is exact: the order and the grouping do not matter.
    pub fn merge(&mut self, other: &Self) {
        self.buckets
            .add(&other.buckets)
            .expect("all histograms here have the same bounds and digits");
        self.overflow += other.overflow;
        self.unanswered += other.unanswered;
        self.min_ns = self.min_ns.min(other.min_ns);
        self.max_ns = self.max_ns.max(other.max_ns);
        self.sum_ns += other.sum_ns;
    }

    /// Removes all samples and keeps the memory.
    pub fn clear(&mut self) {
        self.buckets.reset();
        self.overflow = 0;
        self.unanswered = 0;
        self.min_ns = u64::MAX;
        self.max_ns = 0;
        self.sum_ns = 0;
    }

    /// The number of samples, including those beyond one hour.
    pub fn count(&self) -> u64 {
        self.buckets.len()
    }

    /// How many samples were longer than one hour.
    pub fn overflow(&self) -> u64 {
        self.overflow
    }

    /// What was due and was never answered. It is no sample, but has a rank: the highest.
    pub fn unanswered(&self) -> u64 {
        self.unanswered
    }

    /// The shortest sample, 0 if there is none.
    pub fn min_ns(&self) -> u64 {
        if self.count() == 0 { 0 } else { self.min_ns }
    }

    /// The longest sample, 0 if there is none.
    pub fn max_ns(&self) -> u64 {
        self.max_ns
    }

    /// The sum of all samples.
    pub fn sum_ns(&self) -> u64 {
        u64::try_from(self.sum_ns).unwrap_or(u64::MAX)
    }

    /// The arithmetic mean, 0 if there is no sample.
    #[expect(
        clippy::cast_precision_loss,
        reason = "a mean needs no more than 53 bits"
    )]
    pub fn mean_ns(&self) -> f64 {
        if self.count() == 0 {
            0.0
        } else {
            self.sum_ns as f64 / self.count() as f64
        }
    }

    /// The smallest time that at least `percent` per cent of all that was due do not exceed (nearest rank), to
    /// three digits; 0 if nothing was due. `None` if the rank is among what was never answered: no time is so
    /// long. If the rank is among the samples beyond one hour, the result is one hour: a lower bound, see
    /// [`LatencyHistogram::overflow`].
    pub fn percentile_ns(&self, percent: f64) -> Option<u64> {
        let rank = self.rank(percent);
        if rank > self.count() {
            return (self.unanswered == 0).then_some(0);
        }
        Some(self.at_rank(rank))
    }

    /// The sample of this rank, from 1 to their count.
    #[expect(clippy::cast_precision_loss, reason = "counts stay far below 2^52")]
    fn at_rank(&self, rank: u64) -> u64 {
        // The middle of the rank. A bucket reports its upper edge, which may be beyond the longest sample.
        self.buckets
            .value_at_quantile((rank as f64 - 0.5) / self.count() as f64)
            .clamp(self.min_ns, self.max_ns)
    }

    /// The rank, from 1, among all that was due. It is computed in integers, because 99.9 / 100 × 1000 is a little
    /// more than 999 in floating point, which would be the next rank.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a percentage in millionths is small and positive"
    )]
    fn rank(&self, percent: f64) -> u64 {
        const WHOLE: u128 = 100_000_000;
        let parts = (percent.clamp(0.0, 100.0) * 1e6).round() as u128;
        let due = u128::from(self.count()) + u128::from(self.unanswered);
        u64::try_from((parts * due).div_ceil(WHOLE).max(1)).unwrap_or(u64::MAX)
    }

    /// The standard interchange format: HDR histogram “V2 deflate”, in base64 (begins with `HISTF`).
    pub fn encode(&self) -> String {
        let mut bytes = Vec::new();
        V2DeflateSerializer::new()
            .serialize(&self.buckets, &mut bytes)
            .expect("writing to memory is infallible, and counts stay far below 2^63");
        BASE64.encode(bytes)
    }

    /// Decodes the text of [`LatencyHistogram::encode`]. It does not contain the exact minimum and maximum, the
    /// overflow, and what was never answered: the first two are restored to three digits, the overflow as the
    /// count of the last bucket.
    ///
    /// # Errors
    /// If the text is not base64, not a V2 histogram, or has other bounds.
    pub fn decode(text: &str) -> Result<Self, HistogramError> {
        let bytes = BASE64
            .decode(text.trim())
            .map_err(|error| HistogramError(format!("expected base64: {error}")))?;
        let read: Histogram<u64> = Deserializer::new()
            .deserialize(&mut bytes.as_slice())
            .map_err(|error| HistogramError(format!("expected an HDR histogram V2: {error}")))?;
        let mut buckets = empty_buckets();
        let mut sum_ns = 0;
        for bucket in read.iter_recorded() {
            let (time_ns, count) = (bucket.value_iterated_to(), bucket.count_at_value());
            if time_ns > HIGHEST_NS && !buckets.equivalent(time_ns, HIGHEST_NS) {
                let found = format!("expected times of at most one hour, found {time_ns} ns");
                return Err(HistogramError(found));
            }
            // Its buckets may be wider than these. A percentile is the upper edge of its bucket.
            buckets.saturating_record_n(read.highest_equivalent(time_ns).min(HIGHEST_NS), count);
            sum_ns += u128::from(read.median_equivalent(time_ns)) * u128::from(count);
        }
        Ok(Self {
            min_ns: if read.is_empty() {
                u64::MAX
            } else {
                read.min()
            },
            max_ns: if read.is_empty() {
                0
            } else {
                read.max().min(HIGHEST_NS)
            },
            sum_ns,
            overflow: buckets.count_at(HIGHEST_NS),
            unanswered: 0,
            buckets,
        })
    }
}

impl LatencyHistogram {
    /// Sets the values that the interchange format does not contain.
    pub(crate) fn set_exact(&mut self, min_ns: u64, max_ns: u64, sum_ns: u64, overflow: u64) {
        self.min_ns = if self.count() == 0 { u64::MAX } else { min_ns };
        self.max_ns = max_ns;
        self.sum_ns = u128::from(sum_ns);
        self.overflow = overflow;
    }
}

impl Default for LatencyHistogram {
    fn default() -> Self {
        Self::new()
    }
}

fn empty_buckets() -> Histogram<u64> {
    Histogram::new_with_bounds(LOWEST_NS, HIGHEST_NS, SIGNIFICANT_DIGITS)
        .expect("the bounds are constants that the crate accepts")
}

/// Why a text is not a valid histogram.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistogramError(String);

impl HistogramError {
    pub(crate) fn new(message: String) -> Self {
        Self(message)
    }

    /// The same, for one of several parts; `number` counts from 0.
    pub(crate) fn of_part(self, number: usize) -> Self {
        Self(format!("part {}: {}", number + 1, self.0))
    }
}

impl std::fmt::Display for HistogramError {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "invalid latency histogram: {}", self.0)
    }
}

impl std::error::Error for HistogramError {}

/// A distribution of durations as plain data. Merging several of them equals recording all samples in one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EncodedHistogram {
    /// The number of samples.
    pub count: u64,
    /// The shortest sample, exact; 0 if there is none.
    pub min_ns: u64,
    /// The longest sample, exact; 0 if there is none.
    pub max_ns: u64,
    /// The sum of all samples, exact.
    pub sum_ns: u64,
    /// How many samples were longer than one hour, the histogram's maximum.
    pub overflow: u64,
    /// What was due and was never answered: in an open loop, transactions that were skipped and those of unknown
    /// outcome. It is no sample, but counts in percentiles, above all of them; left out: none.
    #[serde(default, skip_serializing_if = "is_none")]
    pub unanswered: u64,
    /// HDR histogram, V2 deflate, base64.
    pub histogram: String,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde calls it with a reference"
)]
fn is_none(count: &u64) -> bool {
    *count == 0
}

impl From<&LatencyHistogram> for EncodedHistogram {
    fn from(times: &LatencyHistogram) -> Self {
        Self {
            count: times.count(),
            min_ns: times.min_ns(),
            max_ns: times.max_ns(),
            sum_ns: times.sum_ns(),
            overflow: times.overflow(),
            unanswered: times.unanswered(),
            histogram: times.encode(),
        }
    }
}

impl EncodedHistogram {
    /// Decodes the histogram.
    ///
    /// # Errors
    /// If the text is not a histogram, or the exact values contradict it.
    pub fn decode(&self) -> Result<LatencyHistogram, HistogramError> {
        let mut times = LatencyHistogram::decode(&self.histogram)?;
        let expect = |what: &str, stated: u64, found: u64| {
            if stated == found {
                return Ok(());
            }
            let message = format!("expected the {what} {stated}, found {found} in its buckets");
            Err(HistogramError::new(message))
        };
        expect("count", self.count, times.count())?;
        if self.overflow > times.overflow() || self.min_ns > self.max_ns {
            let found = format!(
                "overflow {}, min_ns {}, max_ns {} contradict its buckets",
                self.overflow, self.min_ns, self.max_ns
            );
            return Err(HistogramError::new(found));
        }
        times.set_exact(self.min_ns, self.max_ns, self.sum_ns, self.overflow);
        times.add_unanswered(self.unanswered);
        Ok(times)
    }
}

/// Merges all samples of `parts` into one histogram.
///
/// # Errors
/// If a part cannot be decoded; the message contains its number.
pub fn merge_encoded(parts: &[EncodedHistogram]) -> Result<LatencyHistogram, HistogramError> {
    let mut merged = LatencyHistogram::new();
    for (number, part) in parts.iter().enumerate() {
        let times = part.decode().map_err(|error| error.of_part(number))?;
        merged.merge(&times);
    }
    Ok(merged)
}

//! Takes a histogram; returns it as plain data, with the exact values that the interchange format lacks;
//! decodes it and merges several without loss.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{HistogramError, LatencyHistogram};

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

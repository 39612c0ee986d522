//! Takes a histogram; gives it as plain data, with the exact parts that the interchange text has no place
//! for; reads it back and merges several without a loss.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{HistogramError, LatencyHistogram};

/// A distribution of durations as plain data. Merging several of them gives what one recorder of all the
/// samples would have given.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EncodedHistogram {
    /// How many samples there are.
    pub count: u64,
    /// The shortest sample, exact; 0 where there is none.
    pub min_ns: u64,
    /// The longest sample, exact; 0 where there is none.
    pub max_ns: u64,
    /// Of all samples, exact.
    pub sum_ns: u64,
    /// How many were longer than the histogram's hour.
    pub overflow: u64,
    /// HDR histogram, V2 deflate, base64.
    pub histogram: String,
}

impl From<&LatencyHistogram> for EncodedHistogram {
    fn from(times: &LatencyHistogram) -> Self {
        Self {
            count: times.count(),
            min_ns: times.min_ns(),
            max_ns: times.max_ns(),
            sum_ns: times.sum_ns(),
            overflow: times.overflow(),
            histogram: times.encode(),
        }
    }
}

impl EncodedHistogram {
    /// The histogram that was encoded.
    ///
    /// # Errors
    /// If the text is no histogram, or the exact parts do not fit it.
    pub fn decode(&self) -> Result<LatencyHistogram, HistogramError> {
        let mut times = LatencyHistogram::decode(&self.histogram)?;
        let expect = |what: &str, stated: u64, found: u64| {
            if stated == found {
                return Ok(());
            }
            let message = format!("its {what} is stated as {stated}, its cells hold {found}");
            Err(HistogramError::new(message))
        };
        expect("count", self.count, times.count())?;
        if self.overflow > times.overflow() || self.min_ns > self.max_ns {
            let found = format!(
                "overflow {}, min_ns {}, max_ns {} do not fit its cells",
                self.overflow, self.min_ns, self.max_ns
            );
            return Err(HistogramError::new(found));
        }
        times.set_exact(self.min_ns, self.max_ns, self.sum_ns, self.overflow);
        Ok(times)
    }
}

/// All samples of `parts` in one histogram.
///
/// # Errors
/// If one of them cannot be decoded; the message says which.
pub fn merge_encoded(parts: &[EncodedHistogram]) -> Result<LatencyHistogram, HistogramError> {
    let mut merged = LatencyHistogram::new();
    for (number, part) in parts.iter().enumerate() {
        let times = part.decode().map_err(|error| error.of_part(number))?;
        merged.merge(&times);
    }
    Ok(merged)
}

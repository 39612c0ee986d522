//! Takes latencies in nanoseconds; gives their count, extremes, mean and percentiles in
//! constant memory, and the standard interchange text.
//!
//! The histogram is Gil Tene's HDR histogram (the `hdrhistogram` crate, the field's standard), so
//! that any tool that reads its «V2 deflate» text can read ours. A unit of 1 ns and 3 significant digits,
//! up to 1 hour, cost 264 KiB of address space, whatever the number of samples; memory is taken up for
//! the cells that are used.

mod encoded;
mod latency;

pub use encoded::{EncodedHistogram, merge_encoded};
pub use latency::{HIGHEST_NS, HistogramError, LOWEST_NS, LatencyHistogram, SIGNIFICANT_DIGITS};

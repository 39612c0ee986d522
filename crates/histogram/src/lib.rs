//! Takes latencies in nanoseconds; returns their count, minimum, maximum, mean and percentiles in constant
//! memory, and the standard interchange format.
//!
//! The histogram is Gil Tene's HDR histogram (the `hdrhistogram` crate, the field's standard), so that other
//! tools can read its “V2 deflate” format. With a unit of 1 ns and 3 significant digits up to 1 hour it needs
//! 264 KiB of address space for any number of samples; memory is used only for the buckets in use.

mod latency;

pub use latency::{
    EncodedHistogram, HIGHEST_NS, HistogramError, LOWEST_NS, LatencyHistogram, SIGNIFICANT_DIGITS,
    merge_encoded,
};

//! Takes response times in nanoseconds; gives their count, extremes, mean and percentiles in
//! constant memory, and the standard interchange text.
//!
//! The histogram is Gil Tene's HDR histogram (the `hdrhistogram` crate, the field's standard), so
//! that any tool that reads its «V2 deflate» text can read ours. 1 µs to 1 hour at 3 significant
//! digits cost about 190 KiB, whatever the number of samples.

mod response_times;

pub use response_times::{HistogramError, ResponseTimes};

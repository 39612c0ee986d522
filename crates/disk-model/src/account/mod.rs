//! Takes every request that ended; keeps it in a file, one row each, for the record of a run.

mod rows;
mod seconds;
mod writer;

pub use rows::{Account, Entry, Gap, Row, Rows, read};
pub use seconds::{Period, Second, seconds};
pub use writer::{Recorder, Writer};

//! Takes every request that ended; keeps it in a file, one row each, for the record of a run.

mod file;
mod reader;
mod row;
mod seconds;
mod writer;

pub use reader::{Account, Rows, read};
pub use row::{Entry, Gap, Row};
pub use seconds::{Period, Second, seconds};
pub use writer::{Recorder, Writer};

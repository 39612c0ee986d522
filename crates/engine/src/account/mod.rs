//! Takes what became of each transaction; gives counts, distributions, intervals, errors, results.
//!
//! ```text
//!   client ──► ledger ──► tray ──────────► book ──────────────► observation
//!              (thread's  (1,024 samples;  (histograms;
//!               own)       its lock is     one for each
//!                          nobody else's   processor)
//!                          but 10 × a s)
//! ```
//!
//! A transaction costs one sample of 32 bytes in its thread's tray. A full tray is entered into a book by
//! its own thread; ten times a second the supervisor empties all trays, so that progress and intervals
//! are right also while every client waits. Histograms thus stand once for each processor, not once for
//! each of a thousand client threads, and nothing that two threads write is touched for a transaction.

mod book;
mod errors;
mod intervals;
mod ledger;
mod outages;
mod results;
mod sample;
mod silences;
mod stalls;
mod times;
mod worktime;

pub use book::{Book, Form};
pub use errors::ErrorLog;
pub use intervals::Series;
pub use ledger::{End, Ledger, State};
pub use outages::Outages;
pub use results::{Agreement, ResultLog};
pub use sample::{Outcome, Sample, Tray, Unit};
pub use silences::{Stretch, while_asked};
pub use stalls::Waits;
pub use times::Times;
pub use worktime::Worktime;

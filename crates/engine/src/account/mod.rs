//! Takes the outcome of each transaction; returns counts, histograms, intervals, errors and result checks.
//!
//! ```text
//!   client ──► thread recorder ──► sample buffer ──► aggregator ──► observation
//!              (one a thread)      (1,024 samples;   (histograms;
//!                                  locked by others  one for each
//!                                  10 times a s)     processor)
//! ```
//!
//! A transaction costs one sample of 32 bytes in its thread's buffer. When the buffer is full, its thread
//! adds it to an aggregator; ten times a second the supervisor empties all buffers, so that progress and
//! intervals are right even while every client waits. So there are histograms for each processor, not for
//! each of a thousand client threads, and a transaction writes no memory that two threads share; what is counted by
//! statement too, unless there are more threads than processors (`StatementLog`).

mod aggregator;
mod completion_gaps;
mod durations;
mod errors;
mod intervals;
mod layout;
mod outages;
mod results;
mod sample;
mod second;
mod stalls;
mod statement_answers;
mod thread_recorder;
mod transaction_log;

pub use aggregator::Aggregator;
pub use completion_gaps::{TimeSpan, before_stop};
pub use durations::Durations;
pub use errors::ErrorLog;
pub use intervals::Series;
pub use layout::{GroupLayout, Layout, TypeLayout};
pub use outages::Outages;
pub use results::{Agreement, ResultLog};
pub use sample::{ClientCounts, LiveCount, Sample, SampleBuffer, Unit};
pub use stalls::Waits;
pub use statement_answers::{
    AnswerSum, Answered, COMPARED_CLIENTS, COMPARED_ROWS, COMPARED_TRANSACTIONS, Completed,
    StatementAnswers, rows_of, stages,
};
pub use thread_recorder::{
    Counts, End, EndState, SessionServer, SessionServers, SharedLog, StatementLog, ThreadRecorder,
    ThreadStatements, Worktime,
};
pub use transaction_log::{
    DoneTransaction, Identity, LoggedTransaction, ThreadLog, TransactionLog,
};

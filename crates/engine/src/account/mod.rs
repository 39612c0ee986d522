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
//! statement too, unless there are more threads than processors (`statement_log`).

mod aggregator;
mod answer_sums;
mod completion_gaps;
mod durations;
mod errors;
mod intervals;
mod layout;
mod live_count;
mod outages;
mod pass_times;
mod results;
mod sample;
mod second;
mod session_servers;
mod stalls;
mod statement_answers;
mod statement_log;
mod thread_recorder;
mod transaction_log;
mod worktime;

pub use aggregator::Aggregator;
pub use answer_sums::{AnswerSum, Answered};
pub use completion_gaps::{TimeSpan, before_stop};
pub use durations::Durations;
pub use errors::ErrorLog;
pub use intervals::Series;
pub use layout::{GroupLayout, Layout, TypeLayout};
pub use live_count::{ClientCounts, LiveCount};
pub use outages::Outages;
pub use pass_times::PassTimes;
pub use results::{Agreement, ResultLog};
pub use sample::{Sample, SampleBuffer, Unit};
pub use session_servers::{SessionServer, SessionServers};
pub use stalls::Waits;
pub use statement_answers::{
    COMPARED_CLIENTS, COMPARED_ROWS, COMPARED_TRANSACTIONS, Completed, StatementAnswers, rows_of,
    stages,
};
pub use statement_log::{SharedLog, StatementLog, ThreadStatements};
pub use thread_recorder::{End, EndState, ThreadRecorder};
pub use transaction_log::{
    DoneTransaction, Identity, LoggedTransaction, ThreadLog, TransactionLog,
};
pub use worktime::Worktime;

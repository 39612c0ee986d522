//! One transaction of a client, from its beginning to its end.

use assay_drivers::{Answer, SystemError};

use super::script_selector::NextScript;
use crate::observation::Outcome;

/// A transaction that has begun and has not ended.
pub struct Transaction {
    pub script: NextScript,
    /// Where values follow it: in an open loop, and in a shared list.
    pub number: Option<u64>,
    pub is_measured: bool,
    pub step: TransactionStep,
    pub has_executed: bool,
    /// The system's words for the failure of the last statement, if it failed.
    pub error: Option<SystemError>,
    /// When the last request was sent.
    pub asked_ns: u64,
    /// Attempts beside the first.
    pub retries: u32,
    /// Class and code of the failure after which it is to be tried again.
    pub failed_as: Option<(&'static str, String)>,
    pub due_ns: u64,
    pub started_ns: u64,
    /// Pauses outside the latency.
    pub paused_ns: u64,
}

/// What a transaction is in the middle of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransactionStep {
    /// Its session is being opened.
    Connecting,
    Running,
    /// For the answer to this statement.
    Waiting {
        statement: u32,
        is_pipelined: bool,
    },
    /// This statement is being put into the pipeline.
    Queueing {
        statement: u32,
    },
    /// For the answer to the `next`-th statement of the pipeline, or its end.
    Syncing {
        next: usize,
    },
    /// The pipeline's answers are there, and the script is to have them.
    Delivering,
    /// As the script asked, inside the latency or outside.
    Paused {
        since_ns: u64,
        is_inside: bool,
    },
    /// The script has ended, and the session is brought out of its transaction.
    RollingBack {
        then: Then,
    },
    /// The script is to begin the same transaction again.
    Retrying,
}

/// What follows the end of a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Then {
    Ended(Outcome),
    Again,
}

/// A statement in a pipeline, with its answer where it has been executed by itself.
pub struct Queued {
    pub statement: u32,
    pub answer: Answer,
    pub error: Option<SystemError>,
}

impl Transaction {
    /// Whether an answer is owed.
    #[must_use]
    #[inline]
    pub fn is_waiting(&self) -> bool {
        matches!(
            self.step,
            TransactionStep::Waiting { .. }
                | TransactionStep::RollingBack { .. }
                | TransactionStep::Syncing { .. }
        )
    }

    /// Ends a pause of the script; gives how long it was, if it is no part of the latency.
    pub fn resume(&mut self, now_ns: u64) -> Option<u64> {
        let TransactionStep::Paused {
            since_ns,
            is_inside,
        } = self.step
        else {
            return None;
        };
        self.step = TransactionStep::Running;
        if is_inside {
            return None;
        }
        let paused_ns = now_ns - since_ns;
        self.paused_ns += paused_ns;
        Some(paused_ns)
    }

    /// It is tried again, as it was begun.
    pub fn try_again(&mut self) {
        self.step = TransactionStep::Retrying;
        self.error = None;
        self.retries += 1;
    }

    /// Its latency and its service time, if it ends now.
    #[must_use]
    #[inline]
    pub fn times_ns(&self, now_ns: u64) -> (u64, u64) {
        (
            now_ns - self.due_ns - self.paused_ns,
            now_ns - self.started_ns - self.paused_ns,
        )
    }
}

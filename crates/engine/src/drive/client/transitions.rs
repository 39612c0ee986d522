//! The phases of a client, in a transaction or between two, and the state of one transaction from its start to its end.

use crate::account::{Answered, EndState};
use crate::drive::plan::script_selector::NextScript;
use crate::observation::Outcome;
use assay_drivers::{Answer, Keep, SystemError};

/// What a client is doing.
pub enum Phase {
    Between,
    /// Pauses before its next transaction.
    Thinking {
        until_ns: u64,
    },
    /// The pause has ended.
    Ready,
    /// Pauses after a connection was refused.
    RetryPause,
    /// Waits for an arrival.
    Idle,
    /// Lost its session at this instant and tries to reconnect.
    Reconnecting {
        since_ns: u64,
        state: EndState,
        /// An attempt to reconnect failed.
        was_refused: bool,
    },
    /// A transaction is running.
    InTransaction(Transaction),
    Ended,
}

/// What a client needs before its script can continue.
pub enum BeforeScript {
    /// The transaction has begun.
    Begin,
    Pause {
        until_ns: u64,
    },
    Connect,
    Arrival,
    Done,
}

/// A transaction that has started and not ended; first what every statement needs, as in [`ClientState`].
///
/// [`ClientState`]: crate::drive::client::state::ClientState
#[repr(C)]
pub struct Transaction {
    pub step: TransactionStep,
    /// When the last request was sent; until then, when it was made.
    pub sent_ns: u64,
    pub script: NextScript,
    pub is_measured: bool,
    pub has_executed: bool,
    /// The current statement was prepared again, and is executed once more.
    pub is_second_execution: bool,
    /// Its number among those whose answers are compared with other runs'; `None`: they are only counted.
    pub compared_number: Option<u8>,
    /// The error of the last statement, if it failed.
    pub error: Option<SystemError>,
    pub due_ns: u64,
    pub started_ns: u64,
    /// Pauses that are not part of the latency.
    pub paused_ns: u64,
    /// Its number in an open loop or a shared list; its random values follow from it.
    pub number: Option<u64>,
    /// Attempts after the first.
    pub retries: u32,
    /// What was answered to its statements, where answers are summed.
    pub answered: Answered,
    /// Class and code of the failure that is retried.
    pub failed_as: Option<(&'static str, String)>,
}

/// What a transaction is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransactionStep {
    /// Its session is being opened.
    Connecting,
    /// It goes to one of the client's sessions.
    Routing,
    Running,
    /// Waits for the answer to this statement.
    Waiting {
        statement: u32,
        is_pipelined: bool,
    },
    /// The server no longer accepts this statement as it was prepared: it is prepared again.
    Unprepared {
        statement: u32,
        is_pipelined: bool,
    },
    /// Waits for the answer to its preparation.
    Preparing {
        statement: u32,
        is_pipelined: bool,
    },
    /// It is executed once more.
    Prepared {
        statement: u32,
        is_pipelined: bool,
    },
    /// This statement is being added to the pipeline.
    Queueing {
        statement: u32,
    },
    /// Waits for the answer to the `next`-th statement of the pipeline, or for its end.
    Syncing {
        next: usize,
    },
    /// The pipeline's answers have arrived and are passed to the script.
    Delivering,
    /// A pause of the script, inside the latency or outside.
    Paused {
        since_ns: u64,
        is_inside: bool,
    },
    /// The script has ended, and the session's transaction is being rolled back.
    RollingBack {
        then: AfterScript,
    },
    /// Nothing of it is open any more.
    Closed {
        then: AfterScript,
    },
    /// A statement that the server no longer accepts is prepared again, for the transactions that follow.
    PreparingForNext {
        then: AfterScript,
    },
    /// The script will start the same transaction again.
    Retrying,
}

/// What follows the end of a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AfterScript {
    Ended(Outcome),
    /// The pauses after an abort.
    Rest,
    Again,
}

/// A statement in a pipeline, with its answer if it was executed separately.
pub struct Queued {
    pub statement: u32,
    pub answer: Answer,
    pub error: Option<SystemError>,
}

impl Transaction {
    /// What is kept of an answer to a statement of which the script needs this much.
    #[must_use]
    #[inline]
    pub fn keep(&self, needed: Keep) -> Keep {
        match needed {
            Keep::Count if self.compared_number.is_some() => Keep::Compare,
            needed => needed,
        }
    }

    /// Whether the client waits for an answer.
    #[must_use]
    #[inline]
    pub fn is_waiting(&self) -> bool {
        matches!(
            self.step,
            TransactionStep::Waiting { .. }
                | TransactionStep::Preparing { .. }
                | TransactionStep::PreparingForNext { .. }
                | TransactionStep::RollingBack { .. }
                | TransactionStep::Syncing { .. }
        )
    }

    /// Whether its script has ended, and its outcome is decided.
    #[must_use]
    pub fn is_ending(&self) -> bool {
        matches!(
            self.step,
            TransactionStep::RollingBack { .. }
                | TransactionStep::Closed { .. }
                | TransactionStep::PreparingForNext { .. }
        )
    }

    /// Ends a pause of the script; returns its length if it is not part of the latency.
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

    /// Retries the transaction from its start.
    pub fn try_again(&mut self) {
        self.step = TransactionStep::Retrying;
        self.error = None;
        self.answered = Answered::default();
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

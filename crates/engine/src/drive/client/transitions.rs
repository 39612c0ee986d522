//! Takes what a client is doing and what has happened; returns what it does then. Every change of a phase, and of a step of a
//! transaction, is a function of this file.
//!
//! ```text
//! phase                    event                                   phase after it
//! any between two          it must think first                     Thinking
//! Between                  arrivals say when it begins             Idle
//! Thinking                 the pause is over, or the run stops     Ready
//! any between two          begins                                  InTransaction
//! InTransaction            has ended, or is taken back             Between
//! any, without a session   was refused: the next one connects      RetryPause ─ pause over ─► Between
//! any, session lost        will try to reconnect                   Reconnecting ─ session open ─► Between
//! any                      the client has finished                 Ended
//!
//! step of a transaction    event                                   step after it
//! (begins)                 with a session of its own; of several   Connecting; Routing
//! Connecting, Routing      session open; route in use              Running
//! Running                  statement sent                          Waiting ─ answer ─► Running
//! Running                  statement to be put into the pipeline   Queueing ─ queued ─► Running
//! Running                  pipeline sent                           Syncing ─ each answer ─► Syncing ─ end ─► Running
//! Running                  pipeline executed one by one            Delivering ─ delivered ─► Running
//! Running                  pause of the script                     Paused ─ time ─► Running
//! Running                  command of the script                   InCommand ─ its end ─► Running
//! Waiting                  no longer accepted as it was prepared   Unprepared ─► Preparing ─► Prepared ─► Waiting
//! Running                  script ended, something is open         RollingBack ─ answer ─► Closed, or again
//! Running, Closed          nothing open, statements to prepare     PreparingForNext ─ answer ─► Closed
//! Running, Closed          nothing open: again; makes its pauses   Retrying ─ rewound ─► Running; Running
//! any                      outcome known                           (ended)
//! ```

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
    step: TransactionStep,
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
    /// A command of the script runs.
    InCommand,
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

impl Phase {
    pub fn waits_for_arrival(&mut self) {
        *self = Self::Idle;
    }

    pub fn thinks(&mut self, until_ns: u64) {
        *self = Self::Thinking { until_ns };
    }

    #[inline]
    pub fn begins(&mut self, transaction: Transaction) {
        *self = Self::InTransaction(transaction);
    }

    /// A transaction has ended, or a session is open again.
    #[inline]
    pub fn is_over(&mut self) {
        *self = Self::Between;
    }

    /// The transaction that was running, which counts as never started.
    pub fn is_retracted(&mut self) -> Option<Transaction> {
        match std::mem::replace(self, Self::Between) {
            Self::InTransaction(transaction) => Some(transaction),
            _ => None,
        }
    }

    /// A pause has ended; returns its length if it was the script's and is not part of the latency.
    pub fn resumes(&mut self, now_ns: u64) -> Option<u64> {
        match self {
            Self::InTransaction(transaction) => return transaction.resume(now_ns),
            Self::Thinking { .. } => *self = Self::Ready,
            Self::RetryPause => *self = Self::Between,
            _ => {}
        }
        None
    }

    pub fn was_refused(&mut self) {
        *self = Self::RetryPause;
    }

    pub fn reconnects(&mut self, since_ns: u64, state: EndState, was_refused: bool) {
        *self = Self::Reconnecting {
            since_ns,
            state,
            was_refused,
        };
    }

    pub fn ends(&mut self) {
        *self = Self::Ended;
    }
}

impl Transaction {
    /// One that begins with this step, was due and started at these times.
    #[inline]
    pub fn new(
        first: TransactionStep,
        script: NextScript,
        number: Option<u64>,
        compared_number: Option<u8>,
        is_measured: bool,
        (due_ns, started_ns): (u64, u64),
    ) -> Self {
        Self {
            step: first,
            sent_ns: 0,
            script,
            is_measured,
            has_executed: false,
            is_second_execution: false,
            compared_number,
            error: None,
            due_ns,
            started_ns,
            paused_ns: 0,
            number,
            retries: 0,
            answered: Answered::default(),
            failed_as: None,
        }
    }

    #[inline]
    pub fn step(&self) -> TransactionStep {
        self.step
    }

    /// Its script continues.
    #[inline]
    pub fn goes_on(&mut self) {
        self.step = TransactionStep::Running;
    }

    #[inline]
    pub fn waits_for(&mut self, statement: u32, is_pipelined: bool) {
        self.step = TransactionStep::Waiting {
            statement,
            is_pipelined,
        };
    }

    #[inline]
    pub fn queues(&mut self, statement: u32) {
        self.step = TransactionStep::Queueing { statement };
    }

    /// The `next`-th answer of the pipeline is awaited, or its end.
    #[inline]
    pub fn syncs(&mut self, next: usize) {
        self.step = TransactionStep::Syncing { next };
    }

    pub fn delivers(&mut self) {
        self.step = TransactionStep::Delivering;
    }

    pub fn runs_command(&mut self) {
        self.step = TransactionStep::InCommand;
    }

    pub fn pauses(&mut self, since_ns: u64, is_inside: bool) {
        self.step = TransactionStep::Paused {
            since_ns,
            is_inside,
        };
    }

    pub fn is_unprepared(&mut self, statement: u32, is_pipelined: bool) {
        self.step = TransactionStep::Unprepared {
            statement,
            is_pipelined,
        };
    }

    pub fn prepares(&mut self, statement: u32, is_pipelined: bool) {
        self.step = TransactionStep::Preparing {
            statement,
            is_pipelined,
        };
    }

    pub fn is_prepared(&mut self, statement: u32, is_pipelined: bool) {
        self.step = TransactionStep::Prepared {
            statement,
            is_pipelined,
        };
    }

    pub fn rolls_back(&mut self, then: AfterScript) {
        self.step = TransactionStep::RollingBack { then };
    }

    pub fn is_closed(&mut self, then: AfterScript) {
        self.step = TransactionStep::Closed { then };
    }

    pub fn prepares_for_next(&mut self, then: AfterScript) {
        self.step = TransactionStep::PreparingForNext { then };
    }

    /// What is kept of an answer to a statement of which the script needs this much.
    #[inline]
    pub fn keep(&self, needed: Keep) -> Keep {
        match needed {
            Keep::Count if self.compared_number.is_some() => Keep::Compare,
            needed => needed,
        }
    }

    /// Whether the client waits for an answer.
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

    /// What follows, where its script has ended and its outcome is decided.
    pub fn then(&self) -> Option<AfterScript> {
        match self.step {
            TransactionStep::RollingBack { then }
            | TransactionStep::Closed { then }
            | TransactionStep::PreparingForNext { then } => Some(then),
            _ => None,
        }
    }

    /// Ends a pause of the script; returns its length if it is not part of the latency.
    fn resume(&mut self, now_ns: u64) -> Option<u64> {
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
    #[inline]
    pub fn times_ns(&self, now_ns: u64) -> (u64, u64) {
        (
            now_ns - self.due_ns - self.paused_ns,
            now_ns - self.started_ns - self.paused_ns,
        )
    }
}

//! What a client can be in the middle of, as plain data.

use assay_drivers::{Answer, SystemError};

use crate::account::State;
use crate::observation::Outcome;

/// What a client is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    Between,
    /// Pauses before its next transaction.
    Resting,
    Rested,
    /// Pauses after it was not let in.
    Recovering,
    /// Waits for an arrival.
    Idle,
    /// The transaction has begun, and its session is being opened.
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
    /// The pipeline's answers are there, and the script is to hear them.
    Delivering,
    /// By the script's wish, inside the latency or outside.
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
    /// The session was lost at this instant; the client tries to come back.
    Away {
        since_ns: u64,
        state: State,
    },
    Over,
}

/// What follows the end of a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Then {
    Ended(Outcome),
    Again,
}

/// What a client does before its script can go on.
pub enum Before {
    /// The transaction has begun.
    Begin,
    Pause {
        until_ns: u64,
    },
    Connect,
    Arrival,
    Done,
}

/// A statement in a pipeline, with its answer where it has been executed by itself.
pub struct Queued {
    pub statement: u32,
    pub answer: Answer,
    pub error: Option<SystemError>,
}

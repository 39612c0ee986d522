//! What a client does: a transaction, or one of the things between two of them.

use super::transaction::Transaction;
use crate::account::State;

/// What a client is doing.
pub enum Phase {
    Between,
    /// Pauses before its next transaction.
    Resting,
    Rested,
    /// Pauses after it was not let in.
    Recovering,
    /// Waits for an arrival.
    Idle,
    /// The session was lost at this instant; the client tries to come back.
    Away {
        since_ns: u64,
        state: State,
    },
    /// A transaction is under way.
    In(Transaction),
    Over,
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

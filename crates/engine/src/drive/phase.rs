//! The phases of a client: in a transaction, or between two.

use super::transaction::Transaction;
use crate::account::EndState;

/// What a client is doing.
pub enum Phase {
    Between,
    /// Pauses before its next transaction.
    Resting,
    Rested,
    /// Pauses after a connection was refused.
    Recovering,
    /// Waits for an arrival.
    Idle,
    /// Lost its session at this instant and tries to reconnect.
    Reconnecting {
        since_ns: u64,
        state: EndState,
    },
    /// A transaction is running.
    In(Transaction),
    Over,
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

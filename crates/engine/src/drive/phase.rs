//! The phases of a client: in a transaction, or between two.

use super::transaction::Transaction;
use crate::account::EndState;

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

//! Takes nothing; names where the transaction of a session can stand, as the system itself reports it.

/// The state of a session's transaction after an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TransactionStatus {
    /// None is open: each statement is a transaction of its own.
    #[default]
    None,
    /// A transaction is open and can be committed.
    Open,
    /// After an error it can only be rolled back.
    Failed,
    /// The system did not say: it may be open.
    Unknown,
}

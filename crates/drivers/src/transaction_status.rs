//! The states of a session's transaction, as the system reports them.

/// The state of a session's transaction after an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TransactionStatus {
    /// No transaction is open: each statement commits on its own.
    #[default]
    None,
    /// A transaction is open and can be committed.
    Open,
    /// It had an error and can only be rolled back.
    Failed,
    /// The system did not report it: it may be open.
    Unknown,
}

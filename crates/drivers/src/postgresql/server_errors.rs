//! The errors with which the null server answers a client's mistakes.

use super::message::Message;
use crate::{ErrorClass, SystemError};

/// The error of statements in a transaction that has had an error.
pub(super) fn aborted() -> SystemError {
    let message = "current transaction is aborted, commands ignored until end of transaction block";
    SystemError::new(ErrorClass::Other, "25P02", message)
}

/// The client violated the protocol.
pub(super) fn refused_client(expected: &str, found: &str) -> SystemError {
    let message = format!("expected {expected}, the client sent {found}");
    SystemError::new(ErrorClass::Protocol, "08P01", message)
}

/// A message that has no place where the session stands.
pub(super) fn unexpected(message: Message<'_>) -> SystemError {
    let found = format!("message '{}'", message.tag.escape_ascii());
    refused_client("a request", &found)
}

//! The tags of a client's messages, and the errors with which the null server answers its mistakes.

use crate::postgresql::message::Message;
use crate::{ErrorClass, SystemError};

pub(crate) const BIND: u8 = b'B';
pub(crate) const CLOSE: u8 = b'C';
pub(crate) const COPY_DATA: u8 = b'd';
pub(crate) const COPY_DONE: u8 = b'c';
pub(crate) const COPY_FAIL: u8 = b'f';
pub(crate) const DESCRIBE: u8 = b'D';
pub(crate) const EXECUTE: u8 = b'E';
pub(crate) const FLUSH: u8 = b'H';
pub(crate) const FUNCTION_CALL: u8 = b'F';
pub(crate) const PARSE: u8 = b'P';
pub(crate) const QUERY: u8 = b'Q';
pub(crate) const SYNC: u8 = b'S';
pub(crate) const TERMINATE: u8 = b'X';

pub(crate) const IS_TAG: [bool; 256] = crate::postgresql::message::table_of(b"BCdcfDEHFPQSXp");

/// The error of statements in a transaction that has had an error.
pub(crate) fn aborted() -> SystemError {
    let message = "current transaction is aborted, commands ignored until end of transaction block";
    SystemError::new(ErrorClass::Other, "25P02", message)
}

/// The client violated the protocol.
pub(crate) fn refused_client(expected: &str, found: &str) -> SystemError {
    let message = format!("expected {expected}, the client sent {found}");
    SystemError::new(ErrorClass::Protocol, "08P01", message)
}

/// A message that has no place where the session stands.
pub(crate) fn unexpected(message: Message<'_>) -> SystemError {
    let found = format!("message '{}'", message.tag.escape_ascii());
    refused_client("a request", &found)
}

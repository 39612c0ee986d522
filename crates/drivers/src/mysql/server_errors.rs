//! What is wrong with the bytes that a client sent.

use crate::{ErrorClass, SystemError};

/// What came in the place of what was expected.
pub(super) fn malformed(expected: &str, payload: &[u8]) -> SystemError {
    let start = &payload[..payload.len().min(16)];
    let message = format!(
        "expected {expected}, the client sent {} bytes: {start:02x?}",
        payload.len()
    );
    SystemError::new(ErrorClass::Protocol, "", message)
}

/// An error of the packets: they speak of the server, and it was the client.
pub(super) fn of_client(error: SystemError) -> SystemError {
    let message = error.message.replace("the server sent", "the client sent");
    SystemError { message, ..error }
}

//! The errors for bytes of a client that violate the protocol.

use crate::{ErrorClass, SystemError};

/// The client sent something other than `expected`.
pub(super) fn malformed(expected: &str, payload: &[u8]) -> SystemError {
    let start = &payload[..payload.len().min(16)];
    let message = format!(
        "expected {expected}, the client sent {} bytes: {start:02x?}",
        payload.len()
    );
    SystemError::new(ErrorClass::Protocol, "", message)
}

/// An error of [`Packets`], whose message names the server where the client sent the bytes.
pub(super) fn of_client(error: SystemError) -> SystemError {
    let message = error.message.replace("the server sent", "the client sent");
    SystemError { message, ..error }
}

//! Takes what a client says seldom; appends its bytes.

use bytes::BytesMut;
use postgres_protocol::message::frontend;

use super::message;
use crate::{ErrorClass, SystemError};

/// Appends a simple query.
#[inline]
pub(super) fn query(text: &str, out: &mut Vec<u8>) -> Result<(), SystemError> {
    let length = message::length_of(text, 5)?;
    out.push(b'Q');
    out.extend_from_slice(&length.to_be_bytes());
    out.extend_from_slice(text.as_bytes());
    out.push(0);
    Ok(())
}

/// Appends CopyFail; a zero byte in the reason would end it early.
pub(super) fn copy_fail(reason: &str, out: &mut Vec<u8>) {
    let reason = reason.replace('\0', " ");
    cold(out, |buffer| frontend::copy_fail(&reason, buffer)).expect("it holds no zero byte");
}

/// Appends what the protocol crate builds in a buffer of its own kind; for what happens once a session.
pub(super) fn cold(
    out: &mut Vec<u8>,
    build: impl FnOnce(&mut BytesMut) -> std::io::Result<()>,
) -> Result<(), SystemError> {
    let mut buffer = BytesMut::new();
    build(&mut buffer).map_err(|error| {
        SystemError::new(
            ErrorClass::Data,
            "",
            format!("the request cannot be expressed: {error}"),
        )
    })?;
    out.extend_from_slice(&buffer);
    Ok(())
}

pub(super) fn refused(message: &str) -> SystemError {
    SystemError::new(ErrorClass::Other, "", message)
}

//! Takes the contents of infrequent client messages; appends their bytes.

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

/// Appends a message that the protocol crate builds in its own buffer; for messages off the hot path.
pub(super) fn cold(
    out: &mut Vec<u8>,
    build: impl FnOnce(&mut BytesMut) -> std::io::Result<()>,
) -> Result<(), SystemError> {
    let mut buffer = BytesMut::new();
    build(&mut buffer).map_err(|error| {
        SystemError::new(
            ErrorClass::Data,
            "",
            format!("the protocol cannot express the request: {error}"),
        )
    })?;
    out.extend_from_slice(&buffer);
    Ok(())
}

pub(super) fn refused(message: &str) -> SystemError {
    SystemError::new(ErrorClass::Other, "", message)
}

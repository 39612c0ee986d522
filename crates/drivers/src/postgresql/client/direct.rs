//! Takes statements that are not prepared; appends the messages that execute them: one statement with
//! bound values, or several statements in one text.

use assay_values::{Piece, Value};

use crate::postgresql::client::parameter::ParameterType;
use crate::postgresql::client::statement;
use crate::postgresql::message;
use crate::postgresql::message::{LARGEST_BYTES, query, too_large};
use crate::{ErrorClass, Result, SystemError};

/// The end of Bind, without result format codes (all text); then Describe and Execute of the unnamed portal,
/// without a row limit.
const TAIL: &[u8] = b"\0\0D\0\0\0\x06P\0E\0\0\0\x09\0\0\0\0\0";
/// Bytes of the tail that belong to Bind.
const TAIL_IN_BIND_BYTES: usize = 2;

/// Appends Parse and Bind of the unnamed statement, Describe and Execute, without Sync. Values are sent as
/// text without types, as pgbench does: the server treats each as a quoted literal.
///
/// # Errors
/// Where the number of values differs from the number of placeholders, or a message would exceed the
/// server's limit; `out` is then unchanged.
pub(crate) fn write(pieces: &[Piece], parameters: &[Value], out: &mut Vec<u8>) -> Result<()> {
    let (text, count) = statement::spelled(pieces);
    write_text(&text, count, parameters, out)
}

/// The same for a text with `count` placeholders.
///
/// # Errors
/// As [`write`].
pub(crate) fn write_text(
    text: &str,
    count: usize,
    parameters: &[Value],
    out: &mut Vec<u8>,
) -> Result<()> {
    let counted = u16::try_from(count)
        .ok()
        .filter(|_| count == parameters.len());
    let Some(counted) = counted else {
        let found = parameters.len();
        let message =
            format!("the statement has {count} values (at most 65535), {found} were given");
        return Err(SystemError::new(ErrorClass::Data, "", message));
    };
    // The length itself, the empty name and the text, each with a zero byte, and the count of types.
    let length = message::length_of(text, 4 + 1 + 1 + 2)?;
    let start = out.len();
    out.push(b'P');
    out.extend_from_slice(&length.to_be_bytes());
    out.push(0);
    out.extend_from_slice(text.as_bytes());
    out.extend_from_slice(b"\0\0\0");
    let bind = out.len();
    // The unnamed statement to the unnamed portal; no format codes: all values are text.
    out.extend_from_slice(b"B\0\0\0\0\0\0\0\0");
    out.extend_from_slice(&counted.to_be_bytes());
    for value in parameters {
        ParameterType::Text.write(value, out);
    }
    let length = out.len() + TAIL_IN_BIND_BYTES - bind - 1;
    if length > LARGEST_BYTES {
        out.truncate(start);
        return Err(too_large(length));
    }
    let length = u32::try_from(length).expect("it is below 1 GiB");
    out[bind + 1..bind + 5].copy_from_slice(&length.to_be_bytes());
    out.extend_from_slice(TAIL);
    Ok(())
}

/// Several statements in one text, which the server executes as one transaction and answers in order.
#[derive(Default)]
pub(crate) struct BatchedSend {
    /// Where in the pipeline's bytes the message begins.
    query_at: Option<usize>,
}

impl BatchedSend {
    pub fn is_open(&self) -> bool {
        self.query_at.is_some()
    }

    /// Appends a statement to the message, which begins with the first statement.
    ///
    /// # Errors
    /// Where the message would exceed the server's limit; `out` is then unchanged.
    pub fn add(&mut self, text: &str, out: &mut Vec<u8>) -> Result<()> {
        let Some(query_at) = self.query_at else {
            let start = out.len();
            query(text, out)?;
            self.query_at = Some(start);
            return Ok(());
        };
        // Length and text without the tag byte; `;` replaces the zero byte that ended the text.
        let length = message::length_of(text, out.len() - query_at - 1 + 1)?;
        out.pop();
        out.push(b';');
        out.extend_from_slice(text.as_bytes());
        out.push(0);
        out[query_at + 1..query_at + 5].copy_from_slice(&length.to_be_bytes());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_in_one_text_are_one_message() {
        let mut out = b"before".to_vec();
        let mut batched_send = BatchedSend::default();
        batched_send.add("A", &mut out).expect("it is short");
        batched_send.add("BC", &mut out).expect("it is short");
        assert_eq!(out, b"beforeQ\0\0\0\x09A;BC\0");
    }

    #[test]
    fn a_statement_is_parsed_bound_and_executed() {
        let pieces = [Piece::Text("SELECT ".into()), Piece::Value];
        let mut out = Vec::new();
        write(&pieces, &[Value::Int(42)], &mut out).expect("it is short");
        let parse = b"P\0\0\0\x11\0SELECT $1\0\0\0";
        let bind = b"B\0\0\0\x12\0\0\0\0\0\x01\0\0\0\x0242";
        assert_eq!(out, [&parse[..], bind, TAIL].concat());
        assert!(write(&pieces, &[], &mut out).is_err());
    }
}

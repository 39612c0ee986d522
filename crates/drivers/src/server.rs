//! The server side of a [`Wire`](crate::Wire) protocol as a state machine that uses the same codecs:
//! takes a client's bytes, returns its statements, and writes the answers. It opens no socket and
//! keeps no clock; the caller decides what to answer and when.

use crate::SystemError;
use crate::null::{ResultSize, Statement};

/// What the bytes read so far require next.
#[derive(Debug)]
pub enum ServerEvent<'a> {
    /// Read more bytes; what was written may be sent.
    More,
    /// Execute a statement: call [`WireServer::answer`] or [`WireServer::fail`] next.
    Execute(&'a Statement),
    /// This many rows were loaded into a table; the client has its answer already.
    Loaded {
        /// The name of the table.
        table: &'a str,
        /// The number of rows.
        rows: u64,
    },
    /// The session ends once what was written has been sent.
    Over,
}

/// The server side of a network protocol. Everything but statements (the opening of a session,
/// Prepare and Describe, rows of a load) is answered by the state machine itself, immediately.
pub trait WireServer: Send {
    /// A client has connected: appends the server's first message, if the server sends first. Then
    /// [`WireServer::receive`] is called, even without any bytes.
    fn connected(&mut self, out: &mut Vec<u8>);

    /// Reads what the client sent. Consumes whole messages only; returns how many bytes it used (the
    /// caller keeps the rest and appends to it) and the demand. After an answer it is called again
    /// with the rest: one message can hold several statements.
    ///
    /// # Errors
    /// Where the client violated the protocol: the session has ended.
    fn receive<'a>(
        &'a mut self,
        input: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(usize, ServerEvent<'a>), SystemError>;

    /// Answers the current statement. Appends rows up to about [`PIECE_BYTES`], subtracts them from
    /// `given`, and returns whether the answer is complete; otherwise it is called again.
    fn answer(&mut self, given: &mut ResultSize, out: &mut Vec<u8>) -> bool;

    /// Answers the current statement with an error. Where that ends the session, the next demand is
    /// [`ServerEvent::Over`].
    fn fail(&mut self, error: &SystemError, out: &mut Vec<u8>);
}

/// An answer is written in pieces of about this size.
pub(crate) const PIECE_BYTES: usize = 64 * 1024;

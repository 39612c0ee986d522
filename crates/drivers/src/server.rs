//! The other side of a [`Wire`](crate::Wire): a server's part of a protocol as a state machine, made of
//! the same pieces. It opens no socket and keeps no clock: it says what a client wants, and is told
//! what to answer, by whoever knows when.

use crate::SystemError;
use crate::null::{Given, Statement};

/// What a client wants, as far as the bytes read so far tell.
#[derive(Debug)]
pub enum Demand<'a> {
    /// The client owes more bytes; what was written may go out.
    More,
    /// A statement is to be executed: [`WireServer::answer`] or [`WireServer::fail`] comes next.
    Execute(&'a Statement),
    /// So many rows have been loaded into a table, and that is answered already.
    Loaded {
        /// The name of the table.
        table: &'a str,
        /// How many rows came.
        rows: u64,
    },
    /// The session is over once what was written has gone out.
    Over,
}

/// A network protocol as a server speaks it. Everything that is no statement (the opening of a
/// session, Prepare and Describe, rows of a load) is answered by the server itself, at once.
pub trait WireServer: Send {
    /// A client has connected: writes what the server says first, if the server speaks first. Then
    /// [`WireServer::receive`] is asked, also without any bytes.
    fn connected(&mut self, out: &mut Vec<u8>);

    /// Reads what the client sent. Consumes whole messages only; says how many bytes it used (the
    /// caller keeps the rest and appends to it) and what is wanted. After an answer it is asked
    /// again with the rest: one message can hold several statements.
    ///
    /// # Errors
    /// Where the client spoke against the protocol: the session is over.
    fn receive<'a>(
        &'a mut self,
        input: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(usize, Demand<'a>), SystemError>;

    /// Answers the statement under way. Writes as many rows as make a good piece, counts them off
    /// in `given`, and says whether the answer is complete; otherwise it is called again.
    fn answer(&mut self, given: &mut Given, out: &mut Vec<u8>) -> bool;

    /// Answers the statement under way with an error. Where that ends the session, the next demand
    /// is [`Demand::Over`].
    fn fail(&mut self, error: &SystemError, out: &mut Vec<u8>);
}

/// An answer is cut into pieces of about this size.
pub(crate) const PIECE_BYTES: usize = 64 * 1024;

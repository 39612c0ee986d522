//! Takes the engine's requests; returns bytes for a server, or calls a library, and returns the
//! answers. One folder per driver; none of them opens a socket.
//!
//! There are two kinds. A [`Wire`] driver is a sans-IO state machine for a network protocol: bytes
//! in, bytes out, so it can be tested from recorded bytes and fuzzed, and its codecs also serve the
//! null server (a [`WireServer`]). A [`Blocking`] driver calls a library that answers before it returns, and needs an
//! OS thread per client.

mod answer;
pub mod cassandra;
pub mod dbapi;
pub mod duckdb;
mod error;
pub mod first_bytes;
mod lexer;
pub mod mongodb;
pub mod msql;
pub mod mysql;
pub mod null;
pub mod null_documents;
mod pbkdf2;
pub mod postgresql;
pub mod registry;
mod request;
mod scan;
pub mod servers;
pub mod sqlite;

pub use answer::{Answer, Keep, TransactionStatus};
pub use assay_values::ErrorClass;
pub use error::WrongOption;
pub use error::{Certainty, SystemError};
pub use request::{BulkForm, ConnectOptions, LocalOptions, Request, Sender};

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use assay_values::Row;

use crate::null::{ResultSize, Statement};

/// A value, or the error of the system under test.
pub type Result<T, E = SystemError> = std::result::Result<T, E>;
/// How many of the bytes are used, and what the caller must do.
pub type Received = Result<(usize, Progress)>;

/// What the caller of a wire driver does next, after some bytes have been read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// The answer is incomplete: read more bytes.
    NeedMore,
    /// The bytes written so far must be sent unencrypted; then TLS begins on this socket, and the
    /// driver continues inside it ([`Wire::secured`]).
    StartTls,
    /// Connected and authenticated, or the request's answer is complete: the next request may be sent.
    Ready,
    /// The server waits for bulk rows ([`Wire::bulk_row`], then [`Wire::bulk_end`]).
    BulkReady,
    /// The answer to the oldest request of a pipeline is complete. At least the pipeline's end
    /// ([`Progress::Ready`]) follows: it is no answer but may hold an error, since it commits statements
    /// outside an explicit transaction. Clear the answer and read on.
    Answered,
}

/// A network protocol as a state machine. At most one request is under way at a time.
///
/// An error of a *statement* (a constraint, a deadlock) is not an `Err`: it is put into the answer
/// ([`Answer::error`]) and the connection continues. `Err` means that the connection has ended.
/// With [`Progress::Ready`] the answer holds the state of the session's transaction.
pub trait Wire: Send {
    /// Whether the driver knows the options of a deployment document, asked before any session.
    ///
    /// # Errors
    /// Where an option is unknown, or has a value that it cannot have.
    fn check_options(_options: &BTreeMap<String, String>) -> Result<(), WrongOption>
    where
        Self: Sized,
    {
        Ok(())
    }

    /// Who sends these as the first bytes of a connection, where they are those of a server of this protocol.
    /// All drivers are asked when the one in use cannot read them.
    fn sender_of(first: &[u8]) -> Option<Sender>
    where
        Self: Sized;

    /// Whether an encrypted session begins with TLS, before any message of the protocol. Elsewhere the driver
    /// asks the server for it ([`Progress::StartTls`]).
    fn begins_with_tls(&self) -> bool {
        false
    }

    /// The socket is connected: appends the client's first message, if the client sends first. Not called where
    /// the session begins with TLS.
    fn connected(&mut self, _out: &mut Vec<u8>) {}

    /// TLS is established: appends the next message. Called once, after [`Progress::StartTls`] or where the
    /// session begins with TLS.
    fn secured(&mut self, out: &mut Vec<u8>);

    /// Starts a request by appending its bytes to `out`. Appends nothing where the answer needs no server (the
    /// protocol sends the beginning of a transaction with its first statement, say): then the caller asks
    /// [`Wire::receive`] at once, without any bytes, which returns the complete answer.
    ///
    /// # Errors
    /// Where the protocol cannot express the request (too many parameters, say).
    fn request(&mut self, request: &Request<'_>, out: &mut Vec<u8>) -> Result<()>;

    /// Reads what the server sent. Consumes whole messages only; returns how many bytes it used (the
    /// caller keeps the rest and appends to it) and what comes next. Stops after the message
    /// that makes it `Ready`, `BulkReady`, `StartTls` or `Answered`. May append to `out`
    /// (authentication).
    ///
    /// # Errors
    /// Where the server refused the connection or violated the protocol.
    fn receive(&mut self, input: &[u8], out: &mut Vec<u8>, answer: &mut Answer) -> Received;

    /// Whether several requests may be sent before the first answer ([`Wire::queue`]).
    fn pipelines(&self) -> bool {
        false
    }

    /// Appends one request of a pipeline: either [`Request::Execute`] and [`Request::Direct`], or only
    /// [`Request::Text`] of one statement each, which are sent as one text; in both, begin, commit and
    /// rollback. No answer comes before [`Wire::sync`]. A [`Wire::request`] instead discards the
    /// pipeline, whose bytes must then not be sent.
    ///
    /// # Errors
    /// Where the protocol cannot express the request, or has no pipelines. Nothing was appended.
    fn queue(&mut self, _request: &Request<'_>, _out: &mut Vec<u8>) -> Result<()> {
        Err(SystemError::refused(
            "this protocol answers one request at a time",
        ))
    }

    /// Ends the pipeline: the answers arrive in order, each as [`Progress::Answered`]; after an answer
    /// with an error the server skips the remaining requests without an answer. `Ready` comes last.
    fn sync(&mut self, _out: &mut Vec<u8>) {}

    /// Appends one row of the current bulk load to the send buffer, in the protocol's form. The caller
    /// sends `out` whenever it has grown beyond 64 KiB.
    ///
    /// Breaks where the protocol cannot express the row: `out` then aborts the load, and the answer from
    /// [`Wire::receive`] holds the error.
    fn bulk_row(&mut self, row: &Row, out: &mut Vec<u8>) -> ControlFlow<()>;

    /// Whether the server must answer before it gets more rows: the caller sends what was written, and reads
    /// until this changes. False for protocols in which TCP alone holds the client back.
    fn bulk_is_full(&self) -> bool {
        false
    }

    /// Ends the bulk load; the answer then arrives through [`Wire::receive`]. With `abort`, the load is
    /// aborted and the answer holds an error.
    fn bulk_end(&mut self, abort: Option<&str>, out: &mut Vec<u8>);

    /// Appends the message that ends the session.
    fn terminate(&mut self, out: &mut Vec<u8>);

    /// The server's name and version, as sent while connecting.
    fn server_version(&self) -> &str;

    /// The server's id of this session (process id, connection id); 0 where the protocol does not number sessions.
    fn session_id(&self) -> u64 {
        0
    }

    /// How to cancel the request this session is running; `None` where the server has no way.
    fn cancel(&self) -> Option<Cancel> {
        None
    }
}

/// How a running request is cancelled from outside its session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cancel {
    /// By these bytes on a separate connection, which the server then closes.
    Message(Vec<u8>),
    /// By this statement in another session of the same user.
    Statement(String),
}

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

/// The server side of a network protocol as a state machine that uses the same codecs as its [`Wire`]: takes a client's
/// bytes, returns its statements, and writes the answers. It opens no socket and keeps no clock; the caller decides what
/// to answer and when. Everything but statements (the opening of a session,
/// Prepare and Describe, rows of a load) is answered by the state machine itself, immediately.
pub trait WireServer: Send {
    /// A client has connected: appends the server's first message, if the server sends first. Then
    /// [`WireServer::receive`] is called, even without any bytes.
    fn connected(&mut self, _out: &mut Vec<u8>) {}

    /// Reads what the client sent. Consumes whole messages only; returns how many bytes it used (the
    /// caller keeps the rest and appends to it) and the demand. After an answer it is called again
    /// with the rest: one message can hold several statements.
    ///
    /// # Errors
    /// Where the client violated the protocol: the session has ended.
    fn receive(&mut self, input: &[u8], out: &mut Vec<u8>) -> Result<(usize, ServerEvent<'_>)>;

    /// Answers the current statement. Appends rows up to about [`PIECE_BYTES`], subtracts them from
    /// `given`, and returns whether the answer is complete; otherwise it is called again.
    fn answer(&mut self, given: &mut ResultSize, out: &mut Vec<u8>) -> bool;

    /// Answers the current statement with an error. Where that ends the session, the next demand is
    /// [`ServerEvent::Over`].
    fn fail(&mut self, error: &SystemError, out: &mut Vec<u8>);
}

/// An answer is written in pieces of about this size.
pub(crate) const PIECE_BYTES: usize = 64 * 1024;

/// A library that answers before it returns: one OS thread per client.
pub trait Blocking: Send {
    /// # Errors
    /// Where the connection has ended; an error of the statement is put into `answer`.
    fn request(&mut self, request: &Request<'_>, answer: &mut Answer) -> Result<()>;

    /// Appends one row of the bulk load begun by [`Request::Bulk`]. Errors of the rows are reported by
    /// [`Blocking::bulk_end`] at the latest.
    ///
    /// # Errors
    /// Where the connection has ended.
    fn bulk_row(&mut self, row: &Row) -> Result<()>;

    /// # Errors
    /// Where the connection has ended; an error of the rows is put into `answer`.
    fn bulk_end(&mut self, abort: Option<&str>, answer: &mut Answer) -> Result<()>;

    /// The library's name and version, for the record.
    fn server_version(&self) -> &str;

    /// The library's counters of this session, by name (`buffer_hits`: pages found in its cache;
    /// `buffer_misses`: pages it had to read); empty where it has none.
    fn counters(&self) -> Vec<(&'static str, u64)> {
        Vec::new()
    }

    /// A function that another thread may call to make the current call return early with an error (at
    /// a deadline, on Ctrl-C); `None` where the library cannot be interrupted.
    fn canceller(&self) -> Option<Canceller> {
        None
    }
}

/// Runs the session statements of a session that was just opened.
pub(crate) fn run_session_statements(
    session: &mut impl Blocking,
    statements: &[String],
) -> Result<()> {
    let mut answer = Answer::default();
    for statement in statements {
        answer.clear(Keep::Count);
        session.request(&Request::Text(statement), &mut answer)?;
        if let Some(error) = answer.error.take() {
            let message = format!("session statement {statement:?}: {}", error.message);
            return Err(SystemError { message, ..error });
        }
    }
    Ok(())
}

/// Cancels the current call of a [`Blocking`] connection; does nothing where there is none.
pub type Canceller = Box<dyn Fn() + Send + Sync>;

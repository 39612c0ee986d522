//! Takes requests in the engine's words; gives bytes for a server, or calls of a library, and the
//! answers that came back. One file per driver; none of them opens a socket.
//!
//! There are two shapes. A [`Wire`] driver is a sans-IO state machine for a network protocol: bytes
//! in, bytes out, so it can be tested from recorded bytes, fuzzed, and turned round into a null
//! server. A [`Blocking`] driver calls a library that answers before it returns, and gets an OS
//! thread per client.

mod answer;
mod error;
mod lexis;
pub mod mysql;
pub mod null;
pub mod null_documents;
pub mod postgresql;
pub mod registry;
mod request;
mod server;
pub mod servers;
pub mod sqlite;
mod transaction_status;

pub use answer::{Answer, Keep};
pub use error::{Certainty, ErrorClass, SystemError};
pub use request::{BulkForm, ConnectOptions, LocalOptions, Request};
pub use server::{Demand, WireServer};
pub use transaction_status::TransactionStatus;

use std::ops::ControlFlow;

use assay_values::Row;

/// What a wire driver wants after it has read some bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// The server owes more bytes.
    NeedMore,
    /// The bytes written so far must be sent in the clear; then TLS begins on this socket, and the
    /// driver goes on inside it ([`Wire::secured`]).
    StartTls,
    /// Connected and authenticated, or the request's answer is complete: the next request may come.
    Ready,
    /// The server waits for bulk rows ([`Wire::bulk_row`], then [`Wire::bulk_end`]).
    BulkReady,
    /// The answer to the oldest request of a pipeline is complete; more is to come, at least the
    /// pipeline's end ([`Progress::Ready`]), which is no answer but may hold an error (the end of the
    /// pipeline commits what has no transaction of its own). Clear the answer and read on.
    Answered,
}

/// A network protocol as a state machine. At most one request is under way at a time.
///
/// An error that a *statement* gets (a constraint, a deadlock) is not an `Err`: it is put into the
/// answer ([`Answer::error`]) and the connection goes on. `Err` means that the connection is over.
/// With [`Progress::Ready`] the driver has put into the answer where the session's transaction stands.
pub trait Wire: Send {
    /// The socket is connected: writes what the client says first, if the client speaks first.
    fn connected(&mut self, out: &mut Vec<u8>);

    /// TLS is up: writes what comes next. Called once, after [`Progress::StartTls`].
    fn secured(&mut self, out: &mut Vec<u8>);

    /// Begins a request by appending its bytes to `out`.
    ///
    /// # Errors
    /// Where the request cannot be expressed (more parameters than the protocol allows, say).
    fn request(&mut self, request: &Request<'_>, out: &mut Vec<u8>) -> Result<(), SystemError>;

    /// Reads what the server sent. Consumes whole messages only; says how many bytes it used (the
    /// caller keeps the rest and appends to it) and what it wants next. Stops after the message
    /// that makes it `Ready`, `BulkReady`, `StartTls` or `Answered`. May append to `out`
    /// (authentication).
    ///
    /// # Errors
    /// Where the server refused the connection, or spoke against the protocol.
    fn receive(
        &mut self,
        input: &[u8],
        out: &mut Vec<u8>,
        answer: &mut Answer,
    ) -> Result<(usize, Progress), SystemError>;

    /// Whether several requests may be sent before the first answer ([`Wire::queue`]).
    fn pipelines(&self) -> bool {
        false
    }

    /// Appends one request of a pipeline: [`Request::Execute`] and [`Request::Direct`]; or [`Request::Text`]
    /// alone, each with one statement, which are sent as one text; and what begins, commits or rolls back. Nothing is answered before [`Wire::sync`]; a [`Wire::request`] instead forgets the pipeline,
    /// whose bytes must not be sent then.
    ///
    /// # Errors
    /// Where the request cannot be expressed, or the protocol has no pipelines. Nothing was appended.
    fn queue(&mut self, _request: &Request<'_>, _out: &mut Vec<u8>) -> Result<(), SystemError> {
        Err(SystemError::new(
            ErrorClass::Other,
            "",
            "this protocol answers one request at a time",
        ))
    }

    /// Ends the pipeline: the answers arrive in order, each as [`Progress::Answered`]; after one with
    /// an error the server passes over the rest, which get no answer. At last comes `Ready`.
    fn sync(&mut self, _out: &mut Vec<u8>) {}

    /// Appends one row of the bulk load under way, in the form the protocol wants, straight into
    /// the send buffer. The caller sends `out` whenever it has grown beyond 64 KiB.
    ///
    /// Breaks where the row cannot be expressed: the load is then given up in `out`, and the answer that
    /// [`Wire::receive`] gives holds the error.
    fn bulk_row(&mut self, row: &Row, out: &mut Vec<u8>) -> ControlFlow<()>;

    /// Ends the bulk load; the answer then arrives through [`Wire::receive`]. With `abort`, the
    /// server is told to give up and the answer will hold an error.
    fn bulk_end(&mut self, abort: Option<&str>, out: &mut Vec<u8>);

    /// Writes what a polite client says before it closes.
    fn goodbye(&mut self, out: &mut Vec<u8>);

    /// What the server said of itself while connecting (name and version), for the record.
    fn server_version(&self) -> &str;

    /// The server's id of this session (process id, connection id), 0 where there is none.
    fn session_id(&self) -> u64;

    /// How to break off what the server does for this session; none where it has no way.
    fn cancel(&self) -> Option<Cancel> {
        None
    }
}

/// How a request under way is broken off from outside its session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cancel {
    /// By these bytes on a connection of their own, which the server then closes.
    Message(Vec<u8>),
    /// By this statement in another session of the same user.
    Statement(String),
}

/// A library that answers before it returns: one OS thread per client.
pub trait Blocking: Send {
    /// # Errors
    /// Where the connection is over; an error of the statement alone is put into `answer`.
    fn request(&mut self, request: &Request<'_>, answer: &mut Answer) -> Result<(), SystemError>;

    /// Appends one row of the bulk load begun by [`Request::Bulk`]. Errors of the rows come out of
    /// [`Blocking::bulk_end`] at the latest.
    ///
    /// # Errors
    /// Where the connection is over.
    fn bulk_row(&mut self, row: &Row) -> Result<(), SystemError>;

    /// # Errors
    /// Where the connection is over; an error of the rows is put into `answer`.
    fn bulk_end(&mut self, abort: Option<&str>, answer: &mut Answer) -> Result<(), SystemError>;

    /// The library's name and version, for the record.
    fn server_version(&self) -> &str;

    /// What the library has counted in this session so far, by name (`buffer_hits`: pages found in its
    /// memory; `buffer_misses`: pages it had to read); empty where it counts nothing.
    fn counters(&self) -> Vec<(&'static str, u64)> {
        Vec::new()
    }

    /// What another thread may call to make the call under way return early with an error (a
    /// deadline, Ctrl-C); `None` where the library has nothing of the kind.
    fn canceller(&self) -> Option<Canceller> {
        None
    }
}

/// Breaks off the call that a [`Blocking`] connection is in; does nothing where it is in none.
pub type Canceller = Box<dyn Fn() + Send + Sync>;

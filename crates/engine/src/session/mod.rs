//! Takes a site; gives sessions with it: [`Session`] for schema, settings and questions, and
//! [`Connection`], of which an event loop holds many.

mod blocking_connection;
mod bulk;
mod cancellation;
mod connect_errors;
mod connection;
mod local;
mod probe;
mod scratch;
mod security;
mod site;

pub use blocking_connection::BlockingConnection;
pub use cancellation::{Cancellation, Halt, LOOK_UP_EVERY};
pub use connect_errors::{RETRY_AFTER, lost, no_thread, out_of_resources, too_late, unreachable};
pub use connection::Connection;
pub use probe::{Probe, ProbeError, probe};
pub use scratch::Scratch;
pub use site::{Endpoints, LocalSite, Site, WireSite, driver_names, endpoint_of};

use std::ops::ControlFlow;

use assay_drivers::registry::AnyBlocking;
use assay_drivers::{Answer, Blocking as _, Keep, Request, TransactionStatus};
use assay_values::ColumnType;

use crate::EngineError;
use crate::document::SiteDocument;

/// One session that waits for its answers. Not for measuring.
pub struct Session {
    end: End,
    state: State,
    transaction: TransactionStatus,
}

/// What is at the other end.
enum End {
    Server(Box<BlockingConnection>),
    Library(Box<AnyBlocking>),
}

/// What may be asked of a session next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    Idle,
    /// It takes the rows of a bulk load.
    Bulk,
    /// The caller has stopped waiting for an answer that is still owed.
    Busy,
    Over,
}

impl Session {
    /// # Errors
    /// Where the document is wrong, or the system cannot be reached or refuses.
    pub fn open(document: &SiteDocument) -> Result<Self, EngineError> {
        Self::open_while(document, &mut || ControlFlow::Continue(()))
    }

    /// The same, asking `go_on` ten times a second whether to wait any longer.
    ///
    /// # Errors
    /// As [`Session::open`], or where `go_on` broke.
    pub fn open_while(
        document: &SiteDocument,
        go_on: &mut dyn FnMut() -> ControlFlow<()>,
    ) -> Result<Self, EngineError> {
        let site = Site::of(document)?;
        Self::at(&site, &mut Cancellation::new(go_on))
            .map_err(|halt| in_context(halt, "opening a session"))
    }

    pub(crate) fn at(site: &Site, cancellation: &mut Cancellation<'_>) -> Result<Self, Halt> {
        let end = match site {
            Site::Wire(site) => {
                End::Server(Box::new(BlockingConnection::open(site, cancellation)?))
            }
            Site::Local(site) => End::Library(Box::new(site.open()?)),
        };
        Ok(Self {
            end,
            state: State::Idle,
            transaction: TransactionStatus::None,
        })
    }

    /// Executes one statement and keeps its rows.
    ///
    /// # Errors
    /// Where the system refuses the statement, or the session is over.
    pub fn execute(&mut self, statement: &str) -> Result<Answer, EngineError> {
        let mut answer = self.ask(statement, Keep::Rows)?;
        match answer.error.take() {
            Some(error) => Err(EngineError::System(error, executing(statement))),
            None => Ok(answer),
        }
    }

    /// Executes one statement; an error of the statement is in the answer.
    ///
    /// # Errors
    /// Where the session is over.
    pub fn ask(&mut self, statement: &str, keep: Keep) -> Result<Answer, EngineError> {
        self.ask_while(statement, keep, &mut || ControlFlow::Continue(()))
    }

    /// The same, asking `go_on` ten times a second whether to wait any longer.
    ///
    /// # Errors
    /// Where the session is over, or `go_on` broke; the session is of no use after either.
    pub fn ask_while(
        &mut self,
        statement: &str,
        keep: Keep,
        go_on: &mut dyn FnMut() -> ControlFlow<()>,
    ) -> Result<Answer, EngineError> {
        self.run(statement, keep, &mut Cancellation::new(go_on))
            .map_err(|halt| in_context(halt, &executing(statement)))
    }

    /// Executes one statement and digests its rows as values of these types, whatever their order: equal
    /// rows of two systems have one digest.
    ///
    /// # Errors
    /// As [`Session::ask_while`].
    pub fn digest_while(
        &mut self,
        statement: &str,
        types: Vec<ColumnType>,
        go_on: &mut dyn FnMut() -> ControlFlow<()>,
    ) -> Result<Answer, EngineError> {
        let request = Request::Text(statement);
        self.run_comparing(&request, Keep::Digest, types, &mut Cancellation::new(go_on))
            .map_err(|halt| in_context(halt, &executing(statement)))
    }

    /// The same for any request; `statement` is what messages say was under way.
    ///
    /// # Errors
    /// As [`Session::ask_while`].
    pub(crate) fn request(
        &mut self,
        request: &Request<'_>,
        keep: Keep,
        statement: &str,
        go_on: &mut dyn FnMut() -> ControlFlow<()>,
    ) -> Result<Answer, EngineError> {
        self.run_request(request, keep, &mut Cancellation::new(go_on))
            .map_err(|halt| in_context(halt, &executing(statement)))
    }

    pub(crate) fn run(
        &mut self,
        statement: &str,
        keep: Keep,
        cancellation: &mut Cancellation<'_>,
    ) -> Result<Answer, Halt> {
        self.run_request(&Request::Text(statement), keep, cancellation)
    }

    fn run_request(
        &mut self,
        request: &Request<'_>,
        keep: Keep,
        cancellation: &mut Cancellation<'_>,
    ) -> Result<Answer, Halt> {
        self.run_comparing(request, keep, Vec::new(), cancellation)
    }

    fn run_comparing(
        &mut self,
        request: &Request<'_>,
        keep: Keep,
        types: Vec<ColumnType>,
        cancellation: &mut Cancellation<'_>,
    ) -> Result<Answer, Halt> {
        let answer = match &mut self.end {
            End::Server(connection) => {
                connection.compare_as(types);
                connection.request(request, keep, cancellation)
            }
            End::Library(library) => {
                let mut answer = Answer::new(keep);
                answer.compare_as(types);
                local::request(library, request, &mut answer, cancellation).map(|()| answer)
            }
        };
        self.state = match &answer {
            Ok(_) => State::Idle,
            Err(halt) => self.state_after(halt),
        };
        self.transaction = status_after(&answer);
        answer
    }

    /// Where the session's transaction stands, as the system reported it last.
    pub(crate) fn transaction(&self) -> TransactionStatus {
        self.transaction
    }

    /// Where a session stands after waiting for an answer has ended without one.
    fn state_after(&self, halt: &Halt) -> State {
        match (halt, &self.end) {
            (Halt::System(_), _) => State::Over,
            (Halt::Interrupted, End::Server(_)) => State::Busy,
            // The library's call was broken off, and has returned.
            (Halt::Interrupted, End::Library(_)) => State::Idle,
        }
    }

    pub(crate) fn state(&self) -> State {
        self.state
    }

    /// What the system said of itself: name and version.
    #[must_use]
    pub fn server_version(&self) -> &str {
        match &self.end {
            End::Server(connection) => connection.server_version(),
            End::Library(library) => library.server_version(),
        }
    }
}

fn status_after(answer: &Result<Answer, Halt>) -> TransactionStatus {
    answer
        .as_ref()
        .map_or(TransactionStatus::Unknown, |answer| answer.transaction)
}

fn in_context(halt: Halt, context: &str) -> EngineError {
    match halt {
        Halt::System(error) => EngineError::System(error, context.to_owned()),
        Halt::Interrupted => EngineError::Interrupted,
    }
}

/// What was under way, with the statement's beginning.
fn executing(statement: &str) -> String {
    let line = statement.split_whitespace().collect::<Vec<_>>().join(" ");
    let beginning: String = line.chars().take(80).collect();
    let rest = if beginning.len() < line.len() {
        " …"
    } else {
        ""
    };
    format!("executing `{beginning}{rest}`")
}

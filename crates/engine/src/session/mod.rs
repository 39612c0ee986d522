//! Takes a deployment; returns sessions: [`Session`] for schema, settings and queries, and [`Connection`], of which
//! an event loop holds many.

mod blocking_connection;
mod bulk;
mod connect_errors;
mod connection;
mod deployment;
mod security;

pub use blocking_connection::{BlockingConnection, CHECK_EVERY, Cancellation, Halt};
pub use connect_errors::{
    RETRY_AFTER, connect_timed_out, no_thread, out_of_resources, unreachable,
};
pub use connection::{Connection, Scratch};
pub use deployment::{
    Deployment, Endpoints, LocalDeployment, WireDeployment, driver_names,
    drivers_with_transactions, expected_of_option,
};

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::RecvTimeoutError;
use std::sync::{Arc, mpsc};

use assay_drivers::registry::AnyBlocking;
use assay_drivers::{Answer, Blocking as _, Keep, Request, SystemError, TransactionStatus};
use assay_values::ColumnType;

use crate::document::DeploymentDocument;
use crate::{EngineError, limits};

/// One session whose calls wait for their answers. Not for measuring.
pub struct Session {
    channel: Channel,
    state: SessionState,
    transaction: TransactionStatus,
}

/// What executes the statements: a server or a library.
enum Channel {
    Server(Box<BlockingConnection>),
    Library(Box<AnyBlocking>),
}

/// Whether a session can take a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SessionState {
    Idle,
    /// It expects the rows of a bulk load.
    Bulk,
    /// The caller has stopped waiting for an answer that has not arrived.
    Busy,
    Over,
}

impl Session {
    /// # Errors
    /// If the document is wrong, or the system cannot be reached or refuses the connection.
    pub fn open(document: &DeploymentDocument) -> Result<Self, EngineError> {
        Self::open_while(document, &mut || ControlFlow::Continue(()))
    }

    /// The same; calls `go_on` ten times a second while it waits.
    ///
    /// # Errors
    /// As [`Session::open`], or if `go_on` broke.
    pub fn open_while(
        document: &DeploymentDocument,
        go_on: &mut dyn FnMut() -> ControlFlow<()>,
    ) -> Result<Self, EngineError> {
        let deployment = Deployment::of(document)?;
        Self::at(&deployment, &mut Cancellation::new(go_on))
            .map_err(|halt| in_context(halt, "opening a session"))
    }

    pub(crate) fn at(
        deployment: &Deployment,
        cancellation: &mut Cancellation<'_>,
    ) -> Result<Self, Halt> {
        let channel = match deployment {
            Deployment::Wire(deployment) => Channel::Server(Box::new(BlockingConnection::open(
                deployment,
                cancellation,
            )?)),
            Deployment::Local(deployment) => {
                Channel::Library(Box::new(open_library(deployment, cancellation)?))
            }
        };
        Ok(Self {
            channel,
            state: SessionState::Idle,
            transaction: TransactionStatus::None,
        })
    }

    /// Executes one statement and keeps its rows.
    ///
    /// # Errors
    /// If the system rejects the statement, or the session has ended.
    pub fn execute(&mut self, statement: &str) -> Result<Answer, EngineError> {
        let mut answer = self.query(statement, Keep::Rows)?;
        match answer.error.take() {
            Some(error) => Err(EngineError::System(error, executing(statement))),
            None => Ok(answer),
        }
    }

    /// Executes one statement; an error of the statement is in the answer.
    ///
    /// # Errors
    /// If the session has ended.
    pub fn query(&mut self, statement: &str, keep: Keep) -> Result<Answer, EngineError> {
        self.query_while(statement, keep, &mut || ControlFlow::Continue(()))
    }

    /// The same; calls `go_on` ten times a second while it waits.
    ///
    /// # Errors
    /// If the session has ended, or `go_on` broke; the session must not be used after either.
    pub fn query_while(
        &mut self,
        statement: &str,
        keep: Keep,
        go_on: &mut dyn FnMut() -> ControlFlow<()>,
    ) -> Result<Answer, EngineError> {
        self.run(statement, keep, &mut Cancellation::new(go_on))
            .map_err(|halt| in_context(halt, &executing(statement)))
    }

    /// Executes one statement and digests its rows as values of these types, in any order: equal rows of two
    /// systems have the same digest.
    ///
    /// # Errors
    /// As [`Session::query_while`].
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

    /// The same for any request; messages name it `statement`.
    ///
    /// # Errors
    /// As [`Session::query_while`].
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
        let answer = match &mut self.channel {
            Channel::Server(connection) => {
                connection.compare_as(types);
                connection.request(request, keep, cancellation)
            }
            Channel::Library(library) => {
                let mut answer = Answer::new(keep);
                answer.compare_as(types);
                request_of_library(library, request, &mut answer, cancellation).map(|()| answer)
            }
        };
        self.state = match &answer {
            Ok(_) => SessionState::Idle,
            Err(halt) => self.state_after(halt),
        };
        self.transaction = status_after(&answer);
        answer
    }

    /// The transaction status that the system reported last.
    pub(crate) fn transaction(&self) -> TransactionStatus {
        self.transaction
    }

    /// The state of a session after a wait ended without an answer.
    fn state_after(&self, halt: &Halt) -> SessionState {
        match (halt, &self.channel) {
            (Halt::System(_), _) => SessionState::Over,
            (Halt::Interrupted, Channel::Server(_)) => SessionState::Busy,
            // The library's call was cancelled and has returned.
            (Halt::Interrupted, Channel::Library(_)) => SessionState::Idle,
        }
    }

    pub(crate) fn state(&self) -> SessionState {
        self.state
    }

    /// The system's name and version, as the server reported them.
    pub fn server_version(&self) -> &str {
        match &self.channel {
            Channel::Server(connection) => connection.server_version(),
            Channel::Library(library) => library.server_version(),
        }
    }

    /// The id of this session that the server gave at login; 0 where there is none.
    pub fn session_id(&self) -> u64 {
        match &self.channel {
            Channel::Server(connection) => connection.session_id(),
            Channel::Library(_) => 0,
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

/// The action for messages, with the beginning of the statement.
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

// Takes a library that answers before it returns; makes its calls cancellable.

/// Opens a session while checking `cancellation`: it may wait for another program's lock.
fn open_library(
    deployment: &LocalDeployment,
    cancellation: &mut Cancellation<'_>,
) -> Result<AnyBlocking, Halt> {
    let stop = Arc::new(AtomicBool::new(false));
    if deployment.is_of_python() {
        return Ok(deployment.open(&stop)?);
    }
    let cancel = || stop.store(true, Ordering::Relaxed);
    while_checking(|| deployment.open(&stop), &cancel, cancellation)
}

/// Executes one request while checking `cancellation`; an error of the statement is in `answer`.
///
/// # Errors
/// If the connection was closed or the caller cancels.
fn request_of_library(
    library: &mut AnyBlocking,
    request: &Request<'_>,
    answer: &mut Answer,
    cancellation: &mut Cancellation<'_>,
) -> Result<(), Halt> {
    let Some(cancel) = library.canceller() else {
        library.request(request, answer)?;
        return cancellation.check();
    };
    while_checking(|| library.request(request, answer), &*cancel, cancellation)
}

/// What the call returns; `cancel` makes it return early.
///
/// It runs on a thread of its own, since it blocks. That costs too much for a measured statement, but
/// not for a schema change or an index.
fn while_checking<T: Send>(
    call: impl FnOnce() -> Result<T, SystemError> + Send,
    cancel: &dyn Fn(),
    cancellation: &mut Cancellation<'_>,
) -> Result<T, Halt> {
    let (ended, end) = mpsc::channel();
    std::thread::scope(|scope| {
        limits::start(scope, "statement", move || ended.send(call()))
            .map_err(|error| no_thread(&error))?;
        let mut go_on = Ok(());
        loop {
            match end.recv_timeout(CHECK_EVERY) {
                Ok(result) => {
                    go_on?;
                    return Ok(result?);
                }
                Err(RecvTimeoutError::Timeout) => {
                    if go_on.is_ok() {
                        go_on = cancellation.check();
                    }
                    // Repeatedly: the first call may fall between two steps of the library.
                    if go_on.is_err() {
                        cancel();
                    }
                }
                Err(RecvTimeoutError::Disconnected) => {
                    panic!("the library's thread ended without a result: it panicked")
                }
            }
        }
    })
}

//! Takes a connection; returns one whose calls wait for their answers. For work outside the measurement:
//! schema, settings, loading, queries.

use std::io;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use assay_drivers::{
    Answer, BulkForm, ErrorClass, Keep, Progress, Request, SystemError, Wire as _,
};
use assay_values::{ColumnType, Row};
use mio::{Events, Poll, Token};

use crate::session::connect_errors::{
    RETRY_AFTER, connect_timed_out, no_answer, out_of_resources, unreachable,
};
use crate::session::{Connection, Scratch, WireDeployment};

/// Bulk rows are collected into messages of about this size (measured: larger ones gain nothing).
const BULK_BYTES: usize = 64 * 1024;

pub struct BlockingConnection {
    connection: Connection,
    poll: Poll,
    events: Events,
    scratch: Scratch,
    /// Bytes of bulk messages sent so far.
    pub bytes_sent: u64,
    /// The answer to the current request or bulk load.
    answer: Answer,
    /// How long to wait for each answer, and the error if it does not arrive.
    limit: Option<(Duration, SystemError)>,
}

impl BlockingConnection {
    /// Opens a session; tries each address in poll_once.
    ///
    /// # Errors
    /// If the server cannot be reached in time or refuses the connection, or the caller cancels.
    pub fn open(
        deployment: &WireDeployment,
        cancellation: &mut Cancellation<'_>,
    ) -> Result<Self, Halt> {
        let deadline = Instant::now() + deployment.connect_timeout;
        let mut refusal = None;
        for place in 0..deployment.address.place_count() {
            match Self::open_place(deployment, place, deadline, cancellation) {
                Err(Halt::System(error)) if error.class == ErrorClass::ConnectionRefused => {
                    refusal = Some(error);
                }
                other => return other,
            }
        }
        Err(Halt::System(
            refusal.expect("an address has at least one place"),
        ))
    }

    fn open_place(
        deployment: &WireDeployment,
        place: usize,
        deadline: Instant,
        cancellation: &mut Cancellation<'_>,
    ) -> Result<Self, Halt> {
        let connection = loop {
            match Connection::begin(deployment, place) {
                Ok(connection) => break connection,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    if Instant::now() >= deadline {
                        return Err(connect_timed_out(deployment).into());
                    }
                    std::thread::sleep(RETRY_AFTER);
                    cancellation.check()?;
                }
                Err(error) => return Err(unreachable(deployment, &error).into()),
            }
        };
        let mut connection = Self {
            connection,
            poll: Poll::new().map_err(|error| out_of_resources(&error))?,
            events: Events::with_capacity(4),
            scratch: Scratch::new(),
            bytes_sent: 0,
            answer: Answer::new(Keep::Count),
            limit: deployment
                .answer_timeout
                .map(|longest| (longest, no_answer(deployment, longest))),
        };
        loop {
            match connection.poll_once(CHECK_EVERY) {
                Ok(Progress::Ready) => return Ok(connection),
                Ok(_) if Instant::now() >= deadline => {
                    return Err(connection.connection.timed_out(deployment).into());
                }
                Ok(_) => cancellation.check()?,
                Err(PollError::Socket(error)) if !connection.connection.is_connected() => {
                    return Err(unreachable(deployment, &error).into());
                }
                Err(error) => return Err(connection.error_before_close(error).into()),
            }
        }
    }

    /// Executes one request. An error of the statement is in the answer.
    ///
    /// # Errors
    /// If the session has ended or the caller cancels; the connection must not be used after either.
    pub fn request(
        &mut self,
        request: &Request<'_>,
        keep: Keep,
        cancellation: &mut Cancellation<'_>,
    ) -> Result<Answer, Halt> {
        self.send_and_wait(request, keep, cancellation)?;
        Ok(std::mem::take(&mut self.answer))
    }

    /// The rows of the next request are digested as values of these types ([`Answer::compare_as`]).
    pub fn compare_as(&mut self, types: Vec<ColumnType>) {
        self.answer.compare_as(types);
    }

    /// Starts a bulk load. If the server rejects it, the answer holds the error.
    ///
    /// # Errors
    /// As [`BlockingConnection::request`].
    pub fn bulk_begin(
        &mut self,
        text: &str,
        form: BulkForm,
        types: &[ColumnType],
        cancellation: &mut Cancellation<'_>,
    ) -> Result<Answer, Halt> {
        let progress = self.send_and_wait(
            &Request::Bulk { text, form, types },
            Keep::Count,
            cancellation,
        )?;
        self.scratch.out.clear();
        if progress == Progress::Ready && self.answer.error.is_none() {
            let error = SystemError::protocol("a request for rows", "the answer of a statement");
            self.answer.error = Some(error);
        }
        Ok(std::mem::take(&mut self.answer))
    }

    /// Appends a row to the current bulk load. Returns the answer, with an error in it, if the server has
    /// ended the load early.
    ///
    /// # Errors
    /// If the session has ended or the caller cancels.
    pub fn bulk_row(
        &mut self,
        row: &Row,
        cancellation: &mut Cancellation<'_>,
    ) -> Result<Option<Answer>, Halt> {
        let taken = self.connection.wire().bulk_row(row, &mut self.scratch.out);
        if taken.is_break() {
            if !self.send_bulk(cancellation)? {
                self.finish(cancellation)?;
            }
        } else {
            let is_full = self.connection.wire().bulk_is_full();
            let is_enough = self.scratch.out.len() >= BULK_BYTES || is_full;
            if !is_enough || !self.send_bulk(cancellation)? {
                return Ok(None);
            }
        }
        let mut answer = std::mem::take(&mut self.answer);
        answer.error.get_or_insert_with(|| {
            SystemError::protocol("an answer after the last row", "one before it")
        });
        Ok(Some(answer))
    }

    /// Ends the bulk load; with `abort`, the server is asked to discard it.
    ///
    /// # Errors
    /// If the session has ended, the caller cancels, or the server does not end the load in time.
    pub fn bulk_end(
        &mut self,
        abort: Option<&str>,
        cancellation: &mut Cancellation<'_>,
    ) -> Result<Answer, Halt> {
        self.connection
            .wire()
            .bulk_end(abort, &mut self.scratch.out);
        if !self.send_bulk(cancellation)? {
            self.finish(cancellation)?;
        }
        Ok(std::mem::take(&mut self.answer))
    }

    pub fn server_version(&self) -> &str {
        self.connection.server_version()
    }

    pub fn session_id(&self) -> u64 {
        self.connection.session_id()
    }

    fn send_and_wait(
        &mut self,
        request: &Request<'_>,
        keep: Keep,
        cancellation: &mut Cancellation<'_>,
    ) -> Result<Progress, Halt> {
        self.answer.clear(keep);
        match self
            .connection
            .request(request, &mut self.scratch, &mut self.answer)
        {
            Ok(Progress::NeedMore) => self.finish(cancellation),
            Ok(answered) => Ok(answered),
            Err(error) if error.class.ends_the_session() => Err(error.into()),
            // It cannot be encoded; nothing was sent.
            Err(error) => {
                self.answer.error = Some(error);
                Ok(Progress::Ready)
            }
        }
    }

    /// Sends the collected rows, and reads whatever the server sends meanwhile: a server may stop reading
    /// after an error, or when its answers are not read. The error and the end of the load may arrive
    /// separately; rows are still sent between them. Returns whether the load has ended.
    fn send_bulk(&mut self, cancellation: &mut Cancellation<'_>) -> Result<bool, Halt> {
        self.bytes_sent += self.scratch.out.len() as u64;
        let sent = self.connection.send(&mut self.scratch);
        self.scratch.out.clear();
        sent.map_err(|error| self.error_before_close(PollError::Socket(error)))?;
        loop {
            let must_wait = self.connection.has_unsent() || self.connection.wire().bulk_is_full();
            let wait = if must_wait {
                CHECK_EVERY
            } else {
                Duration::ZERO
            };
            let progress = self
                .poll_once(wait)
                .map_err(|error| self.error_before_close(error))?;
            if progress == Progress::Ready {
                return Ok(true);
            }
            cancellation.check()?;
            if !self.connection.has_unsent() && !self.connection.wire().bulk_is_full() {
                return Ok(false);
            }
        }
    }

    fn finish(&mut self, cancellation: &mut Cancellation<'_>) -> Result<Progress, Halt> {
        let since = Instant::now();
        loop {
            let progress = self
                .poll_once(CHECK_EVERY)
                .map_err(|error| self.error_before_close(error))?;
            if matches!(progress, Progress::Ready | Progress::BulkReady) {
                return Ok(progress);
            }
            if let Some((longest, no_answer)) = &self.limit
                && since.elapsed() >= *longest
            {
                return Err(no_answer.clone().into());
            }
            cancellation.check()?;
        }
    }

    /// Waits at most `wait` for the socket, then sends and receives what it can.
    fn poll_once(&mut self, wait: Duration) -> Result<Progress, PollError> {
        self.connection
            .watch(self.poll.registry(), Token(0))
            .map_err(PollError::Socket)?;
        match self.poll.poll(&mut self.events, Some(wait)) {
            Err(error) if error.kind() != io::ErrorKind::Interrupted => {
                return Err(PollError::System(out_of_resources(&error)));
            }
            _ => {}
        }
        let mut progress = Progress::NeedMore;
        for event in &self.events {
            let is_closed = event.is_read_closed() || event.is_error();
            if event.is_writable() || !self.connection.is_connected() {
                self.connection
                    .writable(&mut self.scratch)
                    .map_err(PollError::Socket)?;
            }
            if self.connection.is_connected() && (event.is_readable() || is_closed) {
                progress = self
                    .connection
                    .receive(is_closed, &mut self.scratch, &mut self.answer)
                    .map_err(PollError::System)?;
            }
        }
        Ok(progress)
    }

    fn error_before_close(&mut self, error: PollError) -> SystemError {
        match error {
            PollError::Socket(error) => {
                self.connection
                    .error_before_close(&error, &mut self.scratch, &mut self.answer)
            }
            PollError::System(error) => error,
        }
    }
}

impl Drop for BlockingConnection {
    fn drop(&mut self) {
        self.connection.terminate(&mut self.scratch);
    }
}

/// An error while sending or receiving.
enum PollError {
    Socket(io::Error),
    System(SystemError),
}

// Takes a callback that may cancel; calls it ten times a second during a wait.

/// How often a waiting thread checks for cancellation.
pub const CHECK_EVERY: Duration = Duration::from_millis(100);

/// Why a wait ended without its result.
#[derive(Debug)]
pub enum Halt {
    System(SystemError),
    Interrupted,
}

impl From<SystemError> for Halt {
    fn from(error: SystemError) -> Self {
        Self::System(error)
    }
}

/// The caller's callback, called at most ten times a second; a break cancels.
pub struct Cancellation<'a> {
    go_on: &'a mut dyn FnMut() -> ControlFlow<()>,
    next: Instant,
}

impl<'a> Cancellation<'a> {
    pub fn new(go_on: &'a mut dyn FnMut() -> ControlFlow<()>) -> Self {
        Self {
            go_on,
            next: Instant::now() + CHECK_EVERY,
        }
    }

    /// Calls the callback if it is time to.
    ///
    /// # Errors
    /// If the caller cancels.
    pub fn check(&mut self) -> Result<(), Halt> {
        let now = Instant::now();
        if now < self.next {
            return Ok(());
        }
        self.next = now + CHECK_EVERY;
        match (self.go_on)() {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(Halt::Interrupted),
        }
    }
}

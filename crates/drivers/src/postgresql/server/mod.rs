//! Takes a client's bytes; returns the statements in them, and writes the server's answers: the server
//! side of [`PostgresqlWire`](super::PostgresqlWire).
//!
//! It accepts any user, declines TLS, and supports the simple and the extended query protocol and
//! `COPY … FROM STDIN`. It does not support suspended portals (a row limit of Execute is ignored),
//! `COPY … TO`, function calls, and cancel requests.

pub(crate) mod copy;
pub(crate) mod load;
pub(crate) mod messages;
pub(crate) mod portal;
pub(crate) mod reply;
pub(crate) mod request;
pub(crate) mod startup;

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use crate::lexer::Literals;
use crate::null::{ResultSize, Statement, query};
use crate::postgresql::message;
use crate::postgresql::message::{Fields, Message};
use crate::postgresql::server::copy::Copy;
use crate::postgresql::server::messages as tag;
use crate::postgresql::server::messages::{aborted, unexpected};
use crate::postgresql::server::portal::{Portal, Prepared};
use crate::postgresql::server::reply::Status;
use crate::server::{PIECE_BYTES, ServerEvent, WireServer};
use crate::{ErrorClass, SystemError};

/// The server side of one session.
pub struct PostgresqlServer {
    pub(crate) admission: Result<u32, SystemError>,
    pub(crate) phase: Phase,
    pub(crate) status: Status,
    pub(crate) statements: HashMap<Box<[u8]>, Arc<Prepared>>,
    /// The unnamed portal, which most clients use.
    pub(crate) portal: Option<Portal>,
    pub(crate) portals: HashMap<Box<[u8]>, Portal>,
    pub(crate) running: Running,
    /// Statements of a simple query after the running one.
    pub(crate) queue: VecDeque<Statement>,
    /// Rows of the current statement that were sent.
    sent: u64,
    pub(crate) copy: Option<Copy>,
    /// The table of the last load, and the number of its rows.
    pub(crate) loaded: (String, u64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    Opening,
    Open,
    /// An error has ended a batch of the extended protocol: messages up to its Sync are skipped.
    Skipping,
    Over,
}

/// The current statement.
pub(crate) enum Running {
    None,
    /// A statement of a simple query.
    Simple(Statement),
    /// The statement of the unnamed portal.
    Unnamed,
    Named(Box<[u8]>),
}

/// What follows from a message.
pub(crate) enum Step {
    Go,
    Execute,
    Loaded,
    Over,
}

impl PostgresqlServer {
    /// `admission` is the session's number, or the error that refuses it.
    #[must_use]
    pub fn new(admission: Result<u32, SystemError>) -> Self {
        Self {
            admission,
            phase: Phase::Opening,
            status: Status::Idle,
            statements: HashMap::new(),
            portal: None,
            portals: HashMap::new(),
            running: Running::None,
            queue: VecDeque::new(),
            sent: 0,
            copy: None,
            loaded: (String::new(), 0),
        }
    }

    fn message(&mut self, message: Message<'_>, out: &mut Vec<u8>) -> Result<Step, SystemError> {
        if self.copy.is_some() {
            return self.copying(message, out);
        }
        if self.phase == Phase::Skipping && !matches!(message.tag, tag::SYNC | tag::TERMINATE) {
            return Ok(Step::Go);
        }
        let mut fields = Fields(message.body);
        match message.tag {
            tag::BIND => self.bind(fields, out)?,
            tag::EXECUTE => return self.execute(fields.text()?, out),
            tag::SYNC => {
                self.phase = Phase::Open;
                self.portal = None;
                reply::ready(self.status, out);
            }
            tag::QUERY => {
                let text = String::from_utf8_lossy(fields.text()?);
                self.queue
                    .extend(query::statements(&text, Literals::Doubled));
                if self.queue.is_empty() {
                    out.extend_from_slice(b"I\0\0\0\x04");
                    reply::ready(self.status, out);
                }
            }
            tag::PARSE => self.parse(fields, out)?,
            tag::DESCRIBE => self.describe(fields, out)?,
            tag::CLOSE => {
                match (fields.byte()?, fields.text()?) {
                    (b'S', name) => drop(self.statements.remove(name)),
                    (_, b"") => self.portal = None,
                    (_, name) => drop(self.portals.remove(name)),
                }
                out.extend_from_slice(b"3\0\0\0\x04");
            }
            tag::TERMINATE => return Ok(Step::Over),
            // Rows that were sent before the client learned that their load had ended.
            tag::FLUSH | tag::COPY_DATA | tag::COPY_DONE | tag::COPY_FAIL => {}
            tag::FUNCTION_CALL => {
                let error = SystemError::new(
                    ErrorClass::Other,
                    "0A000",
                    "function calls are not supported",
                );
                self.refuse(&error, out);
                self.phase = Phase::Open;
                reply::ready(self.status, out);
            }
            _ => return Err(unexpected(message)),
        }
        Ok(Step::Go)
    }

    /// Starts the next statement of a simple query, if any.
    fn next_of_query(&mut self, out: &mut Vec<u8>) -> Option<Step> {
        let statement = self.queue.pop_front()?;
        if self.status == Status::Failed && !statement.meaning.ends_transaction() {
            self.queue.clear();
            reply::error(&aborted(), false, out);
            reply::ready(self.status, out);
            return Some(Step::Go);
        }
        self.copy = self.begins_copy(&statement, true, out);
        if self.copy.is_some() {
            return Some(Step::Go);
        }
        self.running = Running::Simple(statement);
        Some(Step::Execute)
    }

    fn statement(&self) -> Option<&Statement> {
        match &self.running {
            Running::None => None,
            Running::Simple(statement) => Some(statement),
            Running::Unnamed => self
                .portal
                .as_ref()
                .map(|portal| &portal.prepared.statement),
            Running::Named(name) => {
                (self.portals.get(name)).map(|portal| &portal.prepared.statement)
            }
        }
    }

    /// Answers a message of the extended protocol with an error.
    #[cold]
    pub(crate) fn refuse(&mut self, error: &SystemError, out: &mut Vec<u8>) {
        self.end_with(error, false, out);
    }

    /// Answers the current request with an error.
    pub(crate) fn end_with(&mut self, error: &SystemError, is_simple: bool, out: &mut Vec<u8>) {
        self.queue.clear();
        let is_fatal = error.class.ends_the_session();
        reply::error(error, is_fatal, out);
        if is_fatal {
            self.phase = Phase::Over;
            return;
        }
        self.status = self.status.after_error();
        if is_simple {
            reply::ready(self.status, out);
        } else {
            self.phase = Phase::Skipping;
        }
    }

    fn advance(&mut self, input: &[u8], out: &mut Vec<u8>) -> Result<(usize, Step), SystemError> {
        let mut used = 0;
        if self.phase == Phase::Opening {
            let (size, has_ended) = self.opening(input, out)?;
            used = size;
            if !has_ended {
                return Ok((used, Step::Go));
            }
        }
        loop {
            if self.phase == Phase::Over {
                return Ok((used, Step::Over));
            }
            if self.copy.is_none()
                && let Some(step) = self.next_of_query(out)
            {
                if matches!(step, Step::Execute) {
                    return Ok((used, step));
                }
                continue;
            }
            let Some(message) = message::first_among(&tag::IS_TAG, &input[used..])? else {
                return Ok((used, Step::Go));
            };
            used += message.size();
            match self.message(message, out)? {
                Step::Go => {}
                step => return Ok((used, step)),
            }
        }
    }
}

impl WireServer for PostgresqlServer {
    /// The client sends first.
    fn connected(&mut self, _out: &mut Vec<u8>) {}

    #[inline]
    fn receive<'a>(
        &'a mut self,
        input: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(usize, ServerEvent<'a>), SystemError> {
        let (used, step) = self.advance(input, out)?;
        let demand = match step {
            Step::Go => ServerEvent::More,
            Step::Over => ServerEvent::Over,
            Step::Loaded => ServerEvent::Loaded {
                table: &self.loaded.0,
                rows: self.loaded.1,
            },
            Step::Execute => {
                ServerEvent::Execute(self.statement().expect("Step::Execute has a statement"))
            }
        };
        Ok((used, demand))
    }

    #[inline]
    fn answer(&mut self, given: &mut ResultSize, out: &mut Vec<u8>) -> bool {
        let piece_end = out.len() + PIECE_BYTES;
        let portal = match &self.running {
            Running::Unnamed => self.portal.as_ref(),
            Running::Named(name) => self.portals.get(name),
            Running::Simple(..) | Running::None => None,
        };
        let statement = match (&self.running, portal) {
            (Running::Simple(statement), _) => {
                if self.sent == 0 && !statement.columns.is_empty() {
                    reply::columns(statement, |_| false, out);
                }
                statement
            }
            (_, Some(portal)) => &portal.prepared.statement,
            (_, None) => return true,
        };
        let columns = statement.columns.len();
        let is_binary = |at| portal.is_some_and(|portal| portal.is_binary(at));
        while given.rows > 0 && columns > 0 {
            if out.len() >= piece_end {
                return false;
            }
            reply::row(given.first, columns, is_binary, out);
            given.first += 1;
            given.rows -= 1;
            self.sent += 1;
        }
        let meaning = &statement.meaning;
        reply::end_of(meaning, self.status, self.sent, given.affected, out);
        self.status = self.status.after(meaning);
        let is_simple = matches!(self.running, Running::Simple(_));
        (self.running, self.sent) = (Running::None, 0);
        if is_simple && self.queue.is_empty() {
            reply::ready(self.status, out);
        }
        true
    }

    fn fail(&mut self, error: &SystemError, out: &mut Vec<u8>) {
        let is_simple = matches!(self.running, Running::Simple(_));
        if self
            .statement()
            .is_some_and(|statement| statement.meaning.ends_transaction())
        {
            // A failed COMMIT rolls back.
            self.status = Status::Idle;
        }
        (self.running, self.sent) = (Running::None, 0);
        self.end_with(error, is_simple, out);
    }
}

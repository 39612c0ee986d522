//! Takes a client's bytes; returns the statements in them, and writes the server's answers: the server
//! side of [`PostgresqlWire`](super::PostgresqlWire).
//!
//! It accepts any user, declines TLS, and supports the simple and the extended query protocol and
//! `COPY … FROM STDIN`. It does not support suspended portals (a row limit of Execute is ignored),
//! `COPY … TO`, function calls, and cancel requests.

pub(crate) mod reply;
pub(crate) mod request;
pub(crate) mod startup;

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use crate::lexer::Literals;
use crate::null::{Lines, Meaning, ResultSize, Statement, Tuples, statements_in};
use crate::postgresql::message;
use crate::postgresql::message::{Fields, Message};
use crate::postgresql::server::reply::{INT8, Status};
use crate::{ErrorClass, PIECE_BYTES, Result, ServerEvent, SystemError, WireServer};

/// The server side of one session.
pub struct PostgresqlServer {
    pub(crate) admission: Result<u32>,
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
    pub fn new(admission: Result<u32>) -> Self {
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

    fn message(&mut self, message: Message<'_>, out: &mut Vec<u8>) -> Result<Step> {
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
                self.queue.extend(statements_in(&text, Literals::Doubled));
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

    fn advance(&mut self, input: &[u8], out: &mut Vec<u8>) -> Result<(usize, Step)> {
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
    fn receive(&mut self, input: &[u8], out: &mut Vec<u8>) -> Result<(usize, ServerEvent<'_>)> {
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

pub(crate) struct Copy {
    table: String,
    /// Whether it belongs to a simple query.
    pub(crate) is_simple: bool,
    rows: Rows,
}

enum Rows {
    Text(Lines),
    Binary(Tuples),
}

impl Copy {
    pub(crate) fn new(table: &str, is_binary: bool, is_simple: bool) -> Self {
        Self {
            table: table.to_owned(),
            is_simple,
            rows: if is_binary {
                Rows::Binary(Tuples::default())
            } else {
                Rows::Text(Lines::default())
            },
        }
    }

    pub(crate) fn take(&mut self, bytes: &[u8]) {
        match &mut self.rows {
            Rows::Text(lines) => lines.take(bytes),
            Rows::Binary(tuples) => tuples.take(bytes),
        }
    }

    /// The table and the number of rows.
    pub(crate) fn finish(self) -> (String, u64) {
        let rows = match self.rows {
            Rows::Text(lines) => lines.finish(),
            Rows::Binary(tuples) => tuples.finish(),
        };
        (self.table, rows)
    }
}

impl PostgresqlServer {
    pub(crate) fn begins_copy(
        &self,
        statement: &Statement,
        is_simple: bool,
        out: &mut Vec<u8>,
    ) -> Option<Copy> {
        let Meaning::Load {
            table, is_binary, ..
        } = &statement.meaning
        else {
            return None;
        };
        if self.status == Status::Failed {
            return None;
        }
        reply::copy_in(*is_binary, out);
        Some(Copy::new(table, *is_binary, is_simple))
    }

    /// Reads a message while rows of a load are expected.
    pub(crate) fn copying(&mut self, message: Message<'_>, out: &mut Vec<u8>) -> Result<Step> {
        let Some(copy) = &mut self.copy else {
            return Ok(Step::Go);
        };
        let is_simple = copy.is_simple;
        match message.tag {
            tag::COPY_DATA => copy.take(message.body),
            tag::FLUSH | tag::SYNC => {}
            tag::COPY_DONE => {
                self.loaded = (self.copy.take()).map(Copy::finish).unwrap_or_default();
                reply::complete("COPY ", Some(self.loaded.1), out);
                if is_simple && self.queue.is_empty() {
                    reply::ready(self.status, out);
                }
                return Ok(Step::Loaded);
            }
            tag::COPY_FAIL => {
                let reason = Fields(message.body).text()?;
                let message = format!(
                    "COPY from stdin failed: {}",
                    String::from_utf8_lossy(reason)
                );
                self.copy = None;
                self.end_with(
                    &SystemError::new(ErrorClass::Timeout, "57014", message),
                    is_simple,
                    out,
                );
            }
            tag::TERMINATE => return Ok(Step::Over),
            _ => return Err(unexpected(message)),
        }
        Ok(Step::Go)
    }
}

/// The tags of a client's messages.
pub(crate) mod tag {
    use crate::postgresql::message;

    pub const BIND: u8 = b'B';
    pub const CLOSE: u8 = b'C';
    pub const COPY_DATA: u8 = b'd';
    pub const COPY_DONE: u8 = b'c';
    pub const COPY_FAIL: u8 = b'f';
    pub const DESCRIBE: u8 = b'D';
    pub const EXECUTE: u8 = b'E';
    pub const FLUSH: u8 = b'H';
    pub const FUNCTION_CALL: u8 = b'F';
    pub const PARSE: u8 = b'P';
    pub const QUERY: u8 = b'Q';
    pub const SYNC: u8 = b'S';
    pub const TERMINATE: u8 = b'X';

    pub const IS_TAG: [bool; 256] = message::table_of(b"BCdcfDEHFPQSXp");
}

/// The error of statements in a transaction that has had an error.
pub(crate) fn aborted() -> SystemError {
    let message = "current transaction is aborted, commands ignored until end of transaction block";
    SystemError::new(ErrorClass::Other, "25P02", message)
}

/// The client violated the protocol.
pub(crate) fn refused_client(expected: &str, found: &str) -> SystemError {
    let message = format!("expected {expected}, the client sent {found}");
    SystemError::new(ErrorClass::Protocol, "08P01", message)
}

/// A message that has no place where the session stands.
pub(crate) fn unexpected(message: Message<'_>) -> SystemError {
    let found = format!("message '{}'", message.tag.escape_ascii());
    refused_client("a request", &found)
}

/// A prepared statement.
pub(crate) struct Prepared {
    pub(crate) statement: Statement,
    /// Object ids of the parameter types.
    pub(crate) types: Box<[u32]>,
}

impl Prepared {
    /// `types` are those that the client declares; 0: the server chooses.
    pub(crate) fn new(statement: Statement, parameters: u16, mut types: Vec<u32>) -> Self {
        types.resize(usize::from(parameters).max(types.len()), 0);
        for oid in types.iter_mut().filter(|oid| **oid == 0) {
            *oid = INT8;
        }
        Self {
            statement,
            types: types.into(),
        }
    }
}

/// A statement whose parameters are bound. Their values are ignored.
pub(crate) struct Portal {
    pub(crate) prepared: Arc<Prepared>,
    formats: Formats,
}

/// The format that the client requests for each column.
enum Formats {
    All { is_binary: bool },
    Each(Box<[bool]>),
}

impl Portal {
    /// `fields` are those of Bind after the names.
    ///
    /// # Errors
    /// Where the message ends inside a field.
    #[inline]
    pub(crate) fn bind(prepared: Arc<Prepared>, mut fields: Fields<'_>) -> Result<Self> {
        let parameter_formats = fields.count()?;
        fields.bytes(2 * parameter_formats)?;
        for _ in 0..fields.count()? {
            // −1 is NULL, which has no bytes.
            if let Ok(length) = usize::try_from(fields.int32()?) {
                fields.bytes(length)?;
            }
        }
        let formats = match fields.count()? {
            0 => Formats::All { is_binary: false },
            1 => Formats::All {
                is_binary: fields.int16()? == 1,
            },
            many => Formats::Each(
                (0..many)
                    .map(|_| fields.int16().map(|format| format == 1))
                    .collect::<Result<_, _>>()?,
            ),
        };
        Ok(Self { prepared, formats })
    }

    #[inline]
    pub(crate) fn is_binary(&self, column: usize) -> bool {
        match &self.formats {
            Formats::All { is_binary } => *is_binary,
            Formats::Each(formats) => formats.get(column).copied().unwrap_or(false),
        }
    }
}

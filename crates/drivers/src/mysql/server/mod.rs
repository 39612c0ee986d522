//! Takes a client's packets; returns the statements in them, and writes the server's answers: the
//! server side of [`MysqlWire`](super::MysqlWire).
//!
//! It accepts any user with any password and offers no TLS. Column definitions of a prepared statement
//! are sent once if the client can cache them. It does not support cursors (all rows are sent at once)
//! or commands about tables.

pub(crate) mod command;
pub(crate) mod greeting;
pub(crate) mod reply;

use std::collections::{HashMap, VecDeque};

use crate::mysql::server::reply::{malformed, of_client};
use crate::mysql::shared::constants::{AUTOCOMMIT, IN_TRANSACTION, MORE_RESULTS, head};
use crate::mysql::shared::greeting::Agreement;
use crate::mysql::shared::packet::Packets;
use crate::mysql::shared::results::Format;
use crate::mysql::shared::scan::write_length;
use crate::null::{Lines, Meaning, ResultSize, Statement};
use crate::server::{PIECE_BYTES, ServerEvent, WireServer};
use crate::{ErrorClass, SystemError};

/// The server side of one session.
pub struct MysqlServer {
    admission: Result<u32, SystemError>,
    pub(crate) phase: Phase,
    pub(crate) agreement: Agreement,
    pub(crate) packets: Packets,
    /// The first packets of a long message have been read.
    is_within: bool,
    is_in_transaction: bool,
    pub(crate) statements: HashMap<u32, Statement>,
    pub(crate) last_id: u32,
    pub(crate) running: Running,
    /// Statements of the current text after the running one.
    pub(crate) queue: VecDeque<Statement>,
    /// The column definitions of the current statement have been sent; rows follow.
    is_begun: bool,
    /// The table of the last load, and the number of its rows.
    loaded: (String, u64),
}

pub(crate) enum Phase {
    Greeted,
    /// Any response is accepted as a valid proof.
    MethodRequested,
    Open,
    /// The client sends a file of rows for this table.
    Rows(String, Lines),
    Over,
}

/// The current statement.
pub(crate) enum Running {
    None,
    Text(Statement),
    Prepared(u32),
}

/// What follows from a packet.
pub(crate) enum Step {
    Continue,
    Execute,
    Loaded,
}

impl MysqlServer {
    /// `admission` is the session's number, or the error that refuses it.
    #[must_use]
    pub fn new(admission: Result<u32, SystemError>) -> Self {
        Self {
            admission,
            phase: Phase::Greeted,
            agreement: Agreement::default(),
            packets: Packets::default(),
            is_within: false,
            is_in_transaction: false,
            statements: HashMap::new(),
            last_id: 0,
            running: Running::None,
            queue: VecDeque::new(),
            is_begun: false,
            loaded: (String::new(), 0),
        }
    }

    fn packet(&mut self, payload: &[u8], out: &mut Vec<u8>) -> Result<Step, SystemError> {
        match &mut self.phase {
            Phase::Open => self.command(payload, out),
            Phase::Greeted => {
                let response = greeting::read(payload)
                    .ok_or_else(|| malformed("the response to a greeting", payload))?;
                self.agreement = response.agreement;
                if response.needs_method {
                    self.packets.write(out, greeting::write_method);
                    self.phase = Phase::MethodRequested;
                } else {
                    self.ok(0, out);
                    self.phase = Phase::Open;
                }
                Ok(Step::Continue)
            }
            Phase::MethodRequested => {
                self.ok(0, out);
                self.phase = Phase::Open;
                Ok(Step::Continue)
            }
            Phase::Rows(_, lines) if !payload.is_empty() => {
                lines.take(payload);
                Ok(Step::Continue)
            }
            Phase::Rows(..) => {
                if let Phase::Rows(table, lines) = std::mem::replace(&mut self.phase, Phase::Open) {
                    self.loaded = (table, lines.finish());
                }
                self.ok(self.loaded.1, out);
                Ok(Step::Loaded)
            }
            Phase::Over => Err(malformed("no message", payload)),
        }
    }

    pub(crate) fn status(&self) -> u16 {
        let mut status = AUTOCOMMIT;
        if self.is_in_transaction {
            status |= IN_TRANSACTION;
        }
        if !self.queue.is_empty() {
            status |= MORE_RESULTS;
        }
        status
    }

    pub(crate) fn ok(&mut self, affected: u64, out: &mut Vec<u8>) {
        reply::ok(head::OK, affected, self.status(), &mut self.packets, out);
    }

    #[cold]
    pub(crate) fn refuse(&mut self, number: &str, message: &str, out: &mut Vec<u8>) {
        self.queue.clear();
        let error = SystemError::new(ErrorClass::Other, number, message);
        reply::error(&error, false, &mut self.packets, out);
    }

    fn advance(&mut self, input: &[u8], out: &mut Vec<u8>) -> Result<(usize, Step), SystemError> {
        let mut used = 0;
        loop {
            if !matches!(self.phase, Phase::Rows(..))
                && let Some(step) = self.next_of_query(out)
            {
                if matches!(step, Step::Execute) {
                    return Ok((used, step));
                }
                continue;
            }
            if matches!(self.phase, Phase::Over) {
                return Ok((used, Step::Continue));
            }
            if matches!(self.phase, Phase::Open) && !self.is_within {
                self.packets.begin_command();
            }
            let (size, payload) = self.packets.read(&input[used..]).map_err(of_client)?;
            used += size;
            let Some(payload) = payload else {
                self.is_within |= size > 0;
                return Ok((used, Step::Continue));
            };
            self.is_within = false;
            match self.packet(&payload, out)? {
                Step::Continue => {}
                step => return Ok((used, step)),
            }
        }
    }

    fn statement(&self) -> Option<&Statement> {
        match &self.running {
            Running::None => None,
            Running::Text(statement) => Some(statement),
            Running::Prepared(id) => self.statements.get(id),
        }
    }

    fn end(&mut self, affected: Option<u64>, out: &mut Vec<u8>) {
        match self.statement().map(|statement| &statement.meaning) {
            Some(Meaning::Begin) => self.is_in_transaction = true,
            Some(Meaning::Commit | Meaning::Rollback) => self.is_in_transaction = false,
            _ => {}
        }
        (self.running, self.is_begun) = (Running::None, false);
        match affected {
            Some(affected) => self.ok(affected, out),
            None => reply::end_of_rows(self.agreement, self.status(), &mut self.packets, out),
        }
    }
}

impl WireServer for MysqlServer {
    fn connected(&mut self, out: &mut Vec<u8>) {
        match &self.admission {
            Ok(id) => self.packets.write(out, |out| greeting::write(*id, out)),
            Err(refusal) => {
                reply::error(refusal, true, &mut self.packets, out);
                self.phase = Phase::Over;
            }
        }
    }

    #[inline]
    fn receive<'a>(
        &'a mut self,
        input: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(usize, ServerEvent<'a>), SystemError> {
        let (used, step) = self.advance(input, out)?;
        let demand = match step {
            Step::Continue if matches!(self.phase, Phase::Over) => ServerEvent::Over,
            Step::Continue => ServerEvent::More,
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
        let format = match self.running {
            Running::Prepared(_) => Format::Binary,
            _ => Format::Text,
        };
        let caches = self.agreement.caches_metadata();
        let is_known = caches && format == Format::Binary;
        let status = self.status();
        let statement = match &self.running {
            Running::None => return true,
            Running::Text(statement) => statement,
            Running::Prepared(id) => &self.statements[id],
        };
        let columns = statement.columns.len();
        if columns == 0 {
            self.end(Some(given.affected), out);
            return true;
        }
        if !self.is_begun {
            self.packets.write(out, |out| {
                write_length(out, columns);
                if caches {
                    out.push(u8::from(!is_known));
                }
            });
            if !is_known {
                for name in &statement.columns {
                    reply::definition(name, &mut self.packets, out);
                }
            }
            if !self.agreement.deprecates_eof() {
                reply::end_of_definitions(status, &mut self.packets, out);
            }
            self.is_begun = true;
        }
        while given.rows > 0 {
            if out.len() >= piece_end {
                return false;
            }
            reply::row(given.first, columns, format, &mut self.packets, out);
            given.first += 1;
            given.rows -= 1;
        }
        self.end(None, out);
        true
    }

    fn fail(&mut self, error: &SystemError, out: &mut Vec<u8>) {
        let is_commit =
            (self.statement()).is_some_and(|statement| statement.meaning == Meaning::Commit);
        (self.running, self.is_begun) = (Running::None, false);
        self.queue.clear();
        reply::error(error, false, &mut self.packets, out);
        if error.class.ends_the_session() {
            self.phase = Phase::Over;
        } else if error.class == ErrorClass::Deadlock || is_commit {
            // The whole transaction is rolled back; after other errors it stays open.
            self.is_in_transaction = false;
        }
    }
}

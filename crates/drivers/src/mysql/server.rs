//! Takes the packets a client sends; gives the statements in them, and writes the server's answers: the
//! other side of [`MysqlWire`](super::MysqlWire).
//!
//! It lets everybody in with any password and offers no TLS. Column definitions of a prepared statement
//! are sent once, where the client can keep them. What it cannot do: cursors (all rows come at once), and
//! commands about tables, of which it has none.

use std::collections::{HashMap, VecDeque};

use super::constants::{AUTOCOMMIT, IN_TRANSACTION, MORE_RESULTS, capability, command, head};
use super::greeting::Agreement;
use super::packet::Packets;
use super::results::Format;
use super::scan::{Scan, write_length};
use super::{server_greeting as greeting, server_reply as reply};
use crate::lexis::Literals;
use crate::null::{Given, Lines, Meaning, Statement, query};
use crate::server::{Demand, PIECE_BYTES, WireServer};
use crate::{ErrorClass, SystemError};

const LITERALS: Literals = Literals::Backslash;

/// The server's side of one session.
pub struct MysqlServer {
    admission: Result<u32, SystemError>,
    phase: Phase,
    agreement: Agreement,
    packets: Packets,
    /// The beginning of a message of several packets has been read.
    is_within: bool,
    is_in_transaction: bool,
    statements: HashMap<u32, Statement>,
    last_id: u32,
    running: Running,
    /// Statements of a text behind the one that is running.
    queue: VecDeque<Statement>,
    /// Rows of the statement under way are being sent: its columns are known to the client.
    is_begun: bool,
    /// The table of the load that has just ended, and its rows.
    loaded: (String, u64),
}

enum Phase {
    Greeted,
    /// Whatever comes is the right proof.
    MethodAsked,
    Open,
    /// The client sends a file of rows for this table.
    Rows(String, Lines),
    Over,
}

/// The statement under way.
enum Running {
    None,
    Text(Statement),
    Prepared(u32),
}

/// What a packet comes to.
enum Step {
    Go,
    Execute,
    Loaded,
}

impl MysqlServer {
    /// `admission` is the session's number, or why it is turned away.
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
                    self.phase = Phase::MethodAsked;
                } else {
                    self.ok(0, out);
                    self.phase = Phase::Open;
                }
                Ok(Step::Go)
            }
            Phase::MethodAsked => {
                self.ok(0, out);
                self.phase = Phase::Open;
                Ok(Step::Go)
            }
            Phase::Rows(_, lines) if !payload.is_empty() => {
                lines.take(payload);
                Ok(Step::Go)
            }
            Phase::Rows(..) => {
                if let Phase::Rows(table, lines) = std::mem::replace(&mut self.phase, Phase::Open) {
                    self.loaded = (table, lines.finish());
                }
                self.ok(self.loaded.1, out);
                Ok(Step::Loaded)
            }
            Phase::Over => Err(malformed("silence", payload)),
        }
    }

    fn command(&mut self, payload: &[u8], out: &mut Vec<u8>) -> Result<Step, SystemError> {
        let mut scan = Scan(payload);
        match scan.u8().ok_or_else(|| malformed("a command", payload))? {
            command::STMT_EXECUTE => {
                let id = scan
                    .u32()
                    .ok_or_else(|| malformed("an execution", payload))?;
                if self.statements.contains_key(&id) {
                    self.running = Running::Prepared(id);
                    return Ok(Step::Execute);
                }
                self.refuse(
                    "1243",
                    &format!("Unknown prepared statement handler ({id})"),
                    out,
                );
            }
            command::QUERY => {
                let text = String::from_utf8_lossy(scan.0);
                self.queue.extend(query::statements(&text, LITERALS));
                if self.queue.is_empty() {
                    self.refuse("1065", "Query was empty", out);
                }
            }
            command::STMT_PREPARE => self.prepare(&String::from_utf8_lossy(scan.0), out),
            command::STMT_CLOSE => {
                let id = scan
                    .u32()
                    .ok_or_else(|| malformed("the end of a statement", payload))?;
                self.statements.remove(&id);
            }
            // Values of parameters are passed over; neither has an answer.
            command::STMT_SEND_LONG_DATA => {}
            command::PING
            | command::INIT_DB
            | command::STMT_RESET
            | command::RESET_CONNECTION
            | command::CHANGE_USER => self.ok(0, out),
            command::SET_OPTION => {
                reply::end_of_rows(self.agreement, self.status(), &mut self.packets, out);
            }
            command::STATISTICS => {
                let said = b"A null server: it does nothing, and counts nothing";
                self.packets.append(out, said);
            }
            command::QUIT => self.phase = Phase::Over,
            other => self.refuse("1047", &format!("Unknown command {other:#04x}"), out),
        }
        Ok(Step::Go)
    }

    fn prepare(&mut self, text: &str, out: &mut Vec<u8>) {
        let mut found = query::statements(text, LITERALS);
        let Some(statement) = found.next() else {
            return self.refuse("1065", "Query was empty", out);
        };
        if found.next().is_some() {
            return self.refuse("1064", "one statement at a time can be prepared", out);
        }
        if matches!(statement.meaning, Meaning::Load { .. }) {
            let message = "This command is not supported in the prepared statement protocol yet";
            return self.refuse("1295", message, out);
        }
        let parameters = query::parameters(text, LITERALS);
        let columns = u16::try_from(statement.columns.len()).unwrap_or(u16::MAX);
        self.last_id = self.last_id.wrapping_add(1);
        let id = self.last_id;
        self.packets.write(out, |out| {
            out.push(head::OK);
            out.extend_from_slice(&id.to_le_bytes());
            out.extend_from_slice(&columns.to_le_bytes());
            out.extend_from_slice(&parameters.to_le_bytes());
            out.extend_from_slice(&[0; 3]); // reserved, warnings
        });
        let names = statement.columns.iter().map(|name| &**name);
        self.define(std::iter::repeat_n("?", parameters.into()), out);
        self.define(names.take(columns.into()), out);
        self.statements.insert(id, statement);
    }

    fn define<'n>(&mut self, names: impl Iterator<Item = &'n str>, out: &mut Vec<u8>) {
        let status = self.status();
        let mut is_any = false;
        for name in names {
            is_any = true;
            reply::definition(name, &mut self.packets, out);
        }
        if is_any && !self.agreement.deprecates_eof() {
            reply::end_of_definitions(status, &mut self.packets, out);
        }
    }

    /// Takes the next statement of a text, where one waits.
    fn next_of_query(&mut self, out: &mut Vec<u8>) -> Option<Step> {
        let statement = self.queue.pop_front()?;
        let Meaning::Load { table, file, .. } = statement.meaning else {
            self.running = Running::Text(statement);
            return Some(Step::Execute);
        };
        if self.agreement.has(capability::LOCAL_FILES) {
            self.packets.write(out, |out| {
                out.push(head::LOCAL_FILE);
                out.extend_from_slice(file.as_bytes());
            });
            self.phase = Phase::Rows(table, Lines::default());
        } else {
            self.refuse("1148", "The client has switched off LOCAL INFILE", out);
        }
        Some(Step::Go)
    }

    fn status(&self) -> u16 {
        let mut status = AUTOCOMMIT;
        if self.is_in_transaction {
            status |= IN_TRANSACTION;
        }
        if !self.queue.is_empty() {
            status |= MORE_RESULTS;
        }
        status
    }

    fn ok(&mut self, affected: u64, out: &mut Vec<u8>) {
        reply::ok(head::OK, affected, self.status(), &mut self.packets, out);
    }

    #[cold]
    fn refuse(&mut self, number: &str, message: &str, out: &mut Vec<u8>) {
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
                return Ok((used, Step::Go));
            }
            if matches!(self.phase, Phase::Open) && !self.is_within {
                self.packets.begin_command();
            }
            let (size, payload) = self.packets.read(&input[used..]).map_err(of_client)?;
            used += size;
            let Some(payload) = payload else {
                self.is_within |= size > 0;
                return Ok((used, Step::Go));
            };
            self.is_within = false;
            match self.packet(&payload, out)? {
                Step::Go => {}
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
    ) -> Result<(usize, Demand<'a>), SystemError> {
        let (used, step) = self.advance(input, out)?;
        let demand = match step {
            Step::Go if matches!(self.phase, Phase::Over) => Demand::Over,
            Step::Go => Demand::More,
            Step::Loaded => Demand::Loaded {
                table: &self.loaded.0,
                rows: self.loaded.1,
            },
            Step::Execute => Demand::Execute(self.statement().expect("the step says so")),
        };
        Ok((used, demand))
    }

    #[inline]
    fn answer(&mut self, given: &mut Given, out: &mut Vec<u8>) -> bool {
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
            // The whole transaction is rolled back; after another error it goes on.
            self.is_in_transaction = false;
        }
    }
}

fn malformed(expected: &str, payload: &[u8]) -> SystemError {
    let start = &payload[..payload.len().min(16)];
    let message = format!(
        "expected {expected}, the client sent {} bytes: {start:02x?}",
        payload.len()
    );
    SystemError::new(ErrorClass::Protocol, "", message)
}

/// An error of the packets: they speak of the server, and it was the client.
fn of_client(error: SystemError) -> SystemError {
    let message = error.message.replace("the server sent", "the client sent");
    SystemError { message, ..error }
}

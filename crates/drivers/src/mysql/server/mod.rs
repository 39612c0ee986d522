//! Takes a client's packets; returns the statements in them, and writes the server's answers: the
//! server side of [`MysqlWire`](super::MysqlWire).
//!
//! It accepts any user with any password and offers no TLS. Column definitions of a prepared statement
//! are sent once if the client can cache them. It does not support cursors (all rows are sent at once)
//! or commands about tables.

pub(crate) mod reply;

use std::collections::{HashMap, VecDeque};

use crate::lexer::Literals;
use crate::mysql::constants::{
    AUTOCOMMIT, IN_TRANSACTION, MORE_RESULTS, UTF8MB4_BIN, capability, command, extended, head,
};
use crate::mysql::greeting::{Agreement, REQUESTED};
use crate::mysql::packet::{Packets, write_length};
use crate::mysql::results::Format;
use crate::mysql::server::reply::malformed;
use crate::null::{Lines, Meaning, ResultSize, Statement, parameters_in, statements_in};
use crate::scan::Scan;
use crate::{ErrorClass, PIECE_BYTES, Result, ServerEvent, SystemError, WireServer};

/// The server side of one session.
pub struct MysqlServer {
    admission: Result<u32>,
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
    pub fn new(admission: Result<u32>) -> Self {
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

    fn packet(&mut self, payload: &[u8], out: &mut Vec<u8>) -> Result<Step> {
        match &mut self.phase {
            Phase::Open => self.command(payload, out),
            Phase::Greeted => {
                let response = read_response(payload)
                    .ok_or_else(|| malformed("the response to a greeting", payload))?;
                self.agreement = response.agreement;
                if response.needs_method {
                    self.packets.write(out, write_method);
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

    fn advance(&mut self, input: &[u8], out: &mut Vec<u8>) -> Result<(usize, Step)> {
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
            let (size, payload) = self
                .packets
                .read(&input[used..])
                .map_err(SystemError::of_client)?;
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
            Ok(id) => self.packets.write(out, |out| write_greeting(*id, out)),
            Err(refusal) => {
                reply::error(refusal, true, &mut self.packets, out);
                self.phase = Phase::Over;
            }
        }
    }

    #[inline]
    fn receive(&mut self, input: &[u8], out: &mut Vec<u8>) -> Result<(usize, ServerEvent<'_>)> {
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

const LITERALS: Literals = Literals::Backslash;

impl MysqlServer {
    pub(crate) fn command(&mut self, payload: &[u8], out: &mut Vec<u8>) -> Result<Step> {
        let mut scan = Scan(payload);
        match scan.u8().ok_or_else(|| malformed("a command", payload))? {
            command::STMT_EXECUTE => {
                let id = scan
                    .u32_le()
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
                self.queue.extend(statements_in(&text, LITERALS));
                if self.queue.is_empty() {
                    self.refuse("1065", "Query was empty", out);
                }
            }
            command::STMT_PREPARE => self.prepare(&String::from_utf8_lossy(scan.0), out),
            command::STMT_CLOSE => {
                let id = scan
                    .u32_le()
                    .ok_or_else(|| malformed("the end of a statement", payload))?;
                self.statements.remove(&id);
            }
            // Parameter values are ignored; neither command has an answer.
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
                let statistics = b"Null server: no statistics";
                self.packets.append(out, statistics);
            }
            command::QUIT => self.phase = Phase::Over,
            unknown => self.refuse("1047", &format!("Unknown command {unknown:#04x}"), out),
        }
        Ok(Step::Continue)
    }

    fn prepare(&mut self, text: &str, out: &mut Vec<u8>) {
        let mut found = statements_in(text, LITERALS);
        let Some(statement) = found.next() else {
            return self.refuse("1065", "Query was empty", out);
        };
        if found.next().is_some() {
            return self.refuse(
                "1064",
                "expected one statement to prepare, found several",
                out,
            );
        }
        if matches!(statement.meaning, Meaning::Load { .. }) {
            let message = "This command is not supported in the prepared statement protocol yet";
            return self.refuse("1295", message, out);
        }
        let parameters = parameters_in(text, LITERALS);
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

    /// Starts the next statement of the current text, if any.
    pub(crate) fn next_of_query(&mut self, out: &mut Vec<u8>) -> Option<Step> {
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
            self.refuse("1148", "The client has disabled LOCAL INFILE", out);
        }
        Some(Step::Continue)
    }
}

const METHOD: &[u8] = b"mysql_native_password\0";
/// Any password is accepted, so the nonce need not be random.
const NONCE: &[u8; 20] = b"null-server-any-key!";
/// With the zero byte at its end.
const NONCE_BYTES: u8 = 21;
/// A version for which clients use the same protocol as with a real server.
const VERSION: &str = concat!(
    "5.5.5-11.4.0-MariaDB-Assay-null-",
    env!("CARGO_PKG_VERSION"),
    "\0"
);

/// The capabilities offered. `LONG_PASSWORD` is cleared, which announces extended flags.
const OFFERED: u32 = REQUESTED & !capability::LONG_PASSWORD | capability::CONNECT_WITH_DB;

/// Appends the payload of the greeting (handshake version 10).
pub(crate) fn write_greeting(session_id: u32, out: &mut Vec<u8>) {
    let [a, b, c, d] = OFFERED.to_le_bytes();
    out.push(10);
    out.extend_from_slice(VERSION.as_bytes());
    out.extend_from_slice(&session_id.to_le_bytes());
    out.extend_from_slice(&NONCE[..8]);
    out.push(0);
    out.extend_from_slice(&[a, b]);
    out.push(UTF8MB4_BIN);
    out.extend_from_slice(&AUTOCOMMIT.to_le_bytes());
    out.extend_from_slice(&[c, d]);
    out.push(NONCE_BYTES);
    out.extend_from_slice(&[0; 6]);
    out.extend_from_slice(&extended::CACHE_METADATA.to_le_bytes());
    out.extend_from_slice(&NONCE[8..]);
    out.push(0);
    out.extend_from_slice(METHOD);
}

/// The client's response to the greeting.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Response {
    pub(crate) agreement: Agreement,
    /// It used another authentication method, and waits for a switch request.
    pub(crate) needs_method: bool,
}

/// Reads the response to the greeting; `None` where it ends too early.
pub(crate) fn read_response(payload: &[u8]) -> Option<Response> {
    let mut scan = Scan(payload);
    let flags = scan.u32_le()?;
    scan.take(4 + 1 + 19)?; // largest message, character set, reserved
    let last_reserved = scan.u32_le()?;
    // A client that clears this flag sends extended flags.
    let is_plain = flags & capability::LONG_PASSWORD != 0;
    let agreement = Agreement::of(
        flags & OFFERED,
        if is_plain {
            0
        } else {
            last_reserved & extended::CACHE_METADATA
        },
    );
    scan.until_zero()?; // user
    if agreement.has(capability::PLUGIN_AUTH_LENENC_DATA) {
        scan.text()?;
    } else if agreement.has(capability::SECURE_CONNECTION) {
        let length = scan.u8()?;
        scan.take(length.into())?;
    } else {
        scan.until_zero()?;
    }
    if agreement.has(capability::CONNECT_WITH_DB) {
        scan.until_zero()?;
    }
    let method = if agreement.has(capability::PLUGIN_AUTH) {
        scan.until_zero().unwrap_or(scan.0)
    } else {
        b""
    };
    Some(Response {
        agreement,
        needs_method: !method.is_empty() && METHOD.strip_suffix(b"\0") != Some(method),
    })
}

/// Appends the payload that requests this server's authentication method.
pub(crate) fn write_method(out: &mut Vec<u8>) {
    out.push(head::END);
    out.extend_from_slice(METHOD);
    out.extend_from_slice(NONCE);
    out.push(0);
}

//! Takes the messages a client sends; gives the statements in them, and writes the server's answers: the other
//! side of [`CassandraWire`](super::CassandraWire).
//!
//! It lets everybody in without a password, speaks versions 4 and 5, and compresses where asked to. Every value
//! of a statement is a text, every column of its rows a bigint. What a page leaves out is written into its paging
//! state, so that the server remembers nothing of it. Of the system's tables it has the one that describes the
//! node; the others, and the schema, are empty. What it cannot do: batches.

pub(crate) mod reply;
pub(crate) mod request;

use crate::cassandra::frame_reader::{FrameReader, Message};
use crate::cassandra::frame_writer::FrameWriter;
use crate::cassandra::notation::{RESPONSE, Version, opcode};
use crate::cassandra::server::reply::Page;
use crate::cassandra::server::request::{Asked, Parameters};
use crate::null::{ResultSize, Statement};
use crate::scan::Scan;
use crate::{ErrorClass, Result, ServerEvent, SystemError, WireServer};

/// The server's side of one session.
pub struct CassandraServer {
    frame_reader: FrameReader,
    side: ServerSide,
}

/// Everything but the bytes not read yet.
struct ServerSide {
    admission: Result<u32>,
    frame_writer: FrameWriter,
    phase: Phase,
    /// By their ids, which count from 0.
    statements: Vec<Statement>,
    running: Running,
    stream: i16,
    parameters: Parameters,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// STARTUP has not come yet.
    Handshake,
    Open,
    Over,
}

/// The statement under way.
enum Running {
    None,
    Text(Statement),
    Prepared(usize),
}

/// What a message comes to.
enum Step {
    Go,
    Execute,
    /// From here on messages come in segments or compressed.
    Agreed {
        is_framed: bool,
        is_lz4: bool,
    },
}

impl CassandraServer {
    /// `admission` is the session's number, or why it is turned away.
    pub fn new(admission: Result<u32>) -> Self {
        Self {
            frame_reader: FrameReader::default(),
            side: ServerSide {
                admission,
                frame_writer: FrameWriter::new(RESPONSE | Version::V4.byte()),
                phase: Phase::Handshake,
                statements: Vec::new(),
                running: Running::None,
                stream: 0,
                parameters: Parameters::default(),
            },
        }
    }
}

impl ServerSide {
    #[inline]
    fn message(&mut self, message: &Message<'_>, out: &mut Vec<u8>) -> Result<Step> {
        self.stream = message.stream;
        let malformed = || SystemError::malformed("a request", message.body).of_client();
        if message.version & RESPONSE != 0 {
            return Err(malformed());
        }
        if self.phase == Phase::Handshake {
            return self.opening(message, out);
        }
        let is_v5 = self.frame_writer.is_v5();
        match message.opcode {
            opcode::EXECUTE => {
                let (id, parameters) =
                    request::read_execution(message.body, is_v5).ok_or_else(malformed)?;
                self.parameters = parameters;
                match id {
                    Some(id) if id < self.statements.len() => {
                        self.running = Running::Prepared(id);
                        return Ok(self.begin(out));
                    }
                    _ => self.send(opcode::ERROR, out, |out| reply::unprepared(id, out)),
                }
            }
            opcode::QUERY => {
                let (text, parameters) =
                    request::read_query(message.body, is_v5).ok_or_else(malformed)?;
                self.parameters = parameters;
                match request::asked(text) {
                    Asked::Statement(statement) => {
                        self.running = Running::Text(statement);
                        return Ok(self.begin(out));
                    }
                    Asked::Keyspace(name) => {
                        self.send(opcode::RESULT, out, |out| reply::keyspace(&name, out));
                    }
                    Asked::Version => self.send(opcode::RESULT, out, reply::version),
                    Asked::Node => self.send(opcode::RESULT, out, reply::node),
                    Asked::NoRows => self.send(opcode::RESULT, out, reply::no_rows),
                    Asked::Nothing(error) => self.refuse(&error, out),
                }
            }
            opcode::PREPARE => {
                let text = Scan(message.body).long_string().ok_or_else(malformed)?;
                self.prepare(text, out);
            }
            opcode::OPTIONS => self.send(opcode::SUPPORTED, out, reply::supported),
            opcode::REGISTER => self.send(opcode::READY, out, |_| {}),
            opcode::AUTH_RESPONSE => self.send(opcode::AUTH_SUCCESS, out, reply::nothing),
            other => {
                let message = format!("the null server does not know opcode {other:#04x}");
                self.refuse(&SystemError::new(ErrorClass::Syntax, "", message), out);
            }
        }
        Ok(Step::Go)
    }

    fn opening(&mut self, message: &Message<'_>, out: &mut Vec<u8>) -> Result<Step> {
        let version = match message.version {
            4 => Version::V4,
            5 => Version::V5,
            found => {
                // In these words, by which clients know that they may try an older version.
                let message = format!(
                    "Invalid or unsupported protocol version ({found}); \
                     supported versions are (4/v4, 5/v5)"
                );
                self.refuse(&SystemError::new(ErrorClass::Protocol, "", message), out);
                return Ok(Step::Go);
            }
        };
        self.frame_writer.set_version(RESPONSE | version.byte());
        match message.opcode {
            opcode::OPTIONS => {
                self.send(opcode::SUPPORTED, out, reply::supported);
                Ok(Step::Go)
            }
            opcode::STARTUP => {
                let is_lz4 = request::wants_lz4(message.body)
                    .ok_or_else(|| SystemError::malformed("STARTUP", message.body).of_client())?;
                self.send(opcode::READY, out, |_| {});
                let is_framed = version == Version::V5;
                self.frame_writer.agree(is_framed, is_lz4);
                self.phase = Phase::Open;
                Ok(Step::Agreed { is_framed, is_lz4 })
            }
            other => {
                let found = format_args!("opcode {other:#04x}");
                self.refuse(&SystemError::protocol("STARTUP", found), out);
                Ok(Step::Go)
            }
        }
    }

    /// The rest of an answer is written at once: the statement was executed before.
    #[inline]
    fn begin(&mut self, out: &mut Vec<u8>) -> Step {
        match self.parameters.rest.take() {
            None => Step::Execute,
            Some(mut rest) => {
                self.give(&mut rest, out);
                Step::Go
            }
        }
    }

    fn prepare(&mut self, text: &str, out: &mut Vec<u8>) {
        let statement = match request::asked(text) {
            Asked::Statement(statement) => statement,
            Asked::Nothing(error) => return self.refuse(&error, out),
            Asked::Keyspace(_) | Asked::Version | Asked::Node | Asked::NoRows => {
                let message = "the null server does not prepare this statement";
                let error = SystemError::new(ErrorClass::Syntax, "", message);
                return self.refuse(&error, out);
            }
        };
        let id = self.statements.len();
        let is_v5 = self.frame_writer.is_v5();
        let (statement, parameters) = request::prepared(statement, text);
        let stream = self.stream;
        self.frame_writer.send(opcode::RESULT, stream, out, |out| {
            reply::prepared(id, parameters, &statement.columns, is_v5, out);
        });
        self.statements.push(statement);
    }

    #[inline]
    fn send(&mut self, code: u8, out: &mut Vec<u8>, body: impl FnOnce(&mut Vec<u8>)) {
        self.frame_writer.send(code, self.stream, out, body);
    }

    /// Answers with an error, behind which nothing of the request remains.
    #[cold]
    fn refuse(&mut self, error: &SystemError, out: &mut Vec<u8>) {
        self.running = Running::None;
        self.send(opcode::ERROR, out, |out| reply::error(error, out));
        if error.class.ends_the_session() {
            self.phase = Phase::Over;
        }
    }

    fn statement(&self) -> Option<&Statement> {
        match &self.running {
            Running::None => None,
            Running::Text(statement) => Some(statement),
            Running::Prepared(id) => self.statements.get(*id),
        }
    }

    /// Writes one page; what does not fit into it goes into its paging state.
    #[inline]
    fn give(&mut self, given: &mut ResultSize, out: &mut Vec<u8>) {
        let statement = match &self.running {
            Running::None => return,
            Running::Text(statement) => statement,
            Running::Prepared(id) => &self.statements[*id],
        };
        let page = Page {
            columns: &statement.columns,
            is_described: !self.parameters.skips_metadata,
            max_rows: self.parameters.page_size,
        };
        self.frame_writer
            .send(opcode::RESULT, self.stream, out, |out| {
                reply::page(&page, given, out);
            });
        self.running = Running::None;
    }
}

impl WireServer for CassandraServer {
    #[inline]
    fn receive(&mut self, input: &[u8], out: &mut Vec<u8>) -> Result<(usize, ServerEvent<'_>)> {
        let mut used = 0;
        loop {
            if self.side.phase == Phase::Over {
                return Ok((used, ServerEvent::Over));
            }
            let (size, message) = self
                .frame_reader
                .next(&input[used..])
                .map_err(SystemError::of_client)?;
            used += size;
            let Some(message) = message else {
                return Ok((used, ServerEvent::More));
            };
            // A client speaks first: it would lose what it is sent before if the connection closes at once.
            if let Err(refusal) = self.side.admission.clone() {
                self.side.refuse(&refusal, out);
                self.side.phase = Phase::Over;
                continue;
            }
            match self.side.message(&message, out)? {
                Step::Go => {}
                Step::Agreed { is_framed, is_lz4 } => self.frame_reader.agree(is_framed, is_lz4),
                Step::Execute => break,
            }
        }
        let statement = self.side.statement().expect("the step says so");
        Ok((used, ServerEvent::Execute(statement)))
    }

    #[inline]
    fn answer(&mut self, given: &mut ResultSize, out: &mut Vec<u8>) -> bool {
        self.side.give(given, out);
        true
    }

    fn fail(&mut self, error: &SystemError, out: &mut Vec<u8>) {
        self.side.refuse(error, out);
    }
}

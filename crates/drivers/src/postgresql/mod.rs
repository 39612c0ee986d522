//! Takes requests; gives the bytes of PostgreSQL's protocol, version 3, and reads the answers.
//!
//! The road of an execution is kept short, because the client's cost is what Assay measures itself by:
//! one append of bytes made at Prepare, the parameters patched between them (`statement`), one send; the
//! answer is scanned in the receive buffer (`exchange`, `rows`), without an allocation or a copy.
//! Everything that happens once a session goes through the `postgres-protocol` crate.
//!
//! Protocol: PostgreSQL manual, chapter "Frontend/Backend Protocol". Texts are UTF-8, answers are in the
//! protocol's text format.

mod authentication;
mod copy_text;
mod exchange;
mod message;
mod parameter;
mod placeholders;
mod refusal;
mod rows;
mod startup;
mod statement;

use assay_datagen::Row;
use bytes::BytesMut;
use postgres_protocol::message::frontend;

use crate::{Answer, BulkForm, ConnectOptions, ErrorClass, Progress, Request, SystemError, Wire};
use copy_text::CopyText;
use exchange::{Asked, Exchange};
use startup::{Server, Startup};
use statement::Statement;

/// One session with a PostgreSQL server, or with anything that speaks its protocol.
pub struct PostgresqlWire {
    options: ConnectOptions,
    phase: Phase,
    server: Server,
    /// By statement id; `None` where Prepare failed or was never asked.
    statements: Vec<Option<Statement>>,
    /// The bulk load whose rows the server takes now.
    copy: Option<CopyText>,
}

/// Where the session stands.
enum Phase {
    /// No bytes have gone either way.
    New,
    /// The server owes its yes or no to TLS.
    TlsAsked,
    /// TLS is being set up by the caller.
    TlsBegun,
    Starting(Startup),
    Idle,
    Busy(Exchange),
    /// An error ended the session.
    Over,
}

impl PostgresqlWire {
    #[must_use]
    pub fn new(mut options: ConnectOptions) -> Self {
        // No name there has a zero byte, and the startup message cannot carry one: with a mark in its
        // place the server refuses the name in its own words.
        for name in [&mut options.user, &mut options.database] {
            *name = name.replace('\0', "\u{fffd}");
        }
        Self {
            options,
            phase: Phase::New,
            server: Server::default(),
            statements: Vec::new(),
            copy: None,
        }
    }

    fn start(&mut self, out: &mut Vec<u8>) {
        startup::begin(&self.options, out);
        self.phase = Phase::Starting(Startup::default());
    }

    fn prepare(&mut self, id: u32, text: &str, out: &mut Vec<u8>) -> Result<Asked, SystemError> {
        let (text, _) = placeholders::respell(text);
        let name = statement::name(id);
        let index = id as usize;
        if self.statements.len() <= index {
            self.statements.resize_with(index + 1, || None);
        }
        let was_prepared = self.statements[index].is_some();
        cold(out, |buffer| {
            if was_prepared {
                frontend::close(b'S', &name, buffer)?;
            }
            frontend::parse(&name, &text, [], buffer)?;
            frontend::describe(b'S', &name, buffer)?;
            frontend::sync(buffer);
            Ok(())
        })?;
        self.statements[index] = None;
        Ok(Asked::Prepare {
            id,
            types: Box::default(),
            columns: Vec::new(),
        })
    }

    fn advance(
        &mut self,
        input: &[u8],
        out: &mut Vec<u8>,
        answer: &mut Answer,
    ) -> Result<(usize, Progress), SystemError> {
        if matches!(self.phase, Phase::TlsAsked) && !input.is_empty() {
            if startup::tls_answer(input)? {
                self.phase = Phase::TlsBegun;
                return Ok((1, Progress::StartTls));
            }
            self.start(out);
            return Ok((1, Progress::NeedMore));
        }
        let mut used = 0;
        while let Some(message) = message::first(&input[used..])? {
            used += message.size();
            match &mut self.phase {
                Phase::Busy(exchange) => {
                    let statements = &mut self.statements;
                    let Some(progress) = exchange.read(message, statements, out, answer)? else {
                        continue;
                    };
                    match progress {
                        Progress::BulkReady => self.copy = Some(CopyText::default()),
                        _ => (self.copy, self.phase) = (None, Phase::Idle),
                    }
                    return Ok((used, progress));
                }
                Phase::Starting(startup) => {
                    if startup.read(message, &self.options, &mut self.server, out)? {
                        self.phase = Phase::Idle;
                        return Ok((used, Progress::Ready));
                    }
                }
                Phase::Idle => exchange::while_idle(message)?,
                Phase::New | Phase::TlsAsked | Phase::TlsBegun | Phase::Over => {
                    return Err(message.unexpected("silence"));
                }
            }
        }
        // Idle, with nothing but notices: nobody waits for anything.
        let is_idle = matches!(self.phase, Phase::Idle);
        let progress = if is_idle {
            Progress::Ready
        } else {
            Progress::NeedMore
        };
        Ok((used, progress))
    }
}

impl Wire for PostgresqlWire {
    fn connected(&mut self, out: &mut Vec<u8>) {
        if self.options.wants_tls {
            self.phase = Phase::TlsAsked;
            let mut buffer = BytesMut::new();
            frontend::ssl_request(&mut buffer);
            out.extend_from_slice(&buffer);
        } else {
            self.start(out);
        }
    }

    fn secured(&mut self, out: &mut Vec<u8>) {
        self.start(out);
    }

    #[inline]
    fn request(&mut self, request: &Request<'_>, out: &mut Vec<u8>) -> Result<(), SystemError> {
        if !matches!(self.phase, Phase::Idle) {
            return Err(refused("a request before the session was ready for it"));
        }
        let asked = match *request {
            Request::Execute { id, parameters } => {
                let Some(Some(statement)) = self.statements.get(id as usize) else {
                    return Err(refused("the statement was not prepared in this session"));
                };
                statement.execute(parameters, out)?;
                Asked::Execute { id }
            }
            Request::Text(text) => {
                query(text, out)?;
                Asked::Text
            }
            Request::Prepare { id, text } => self.prepare(id, text, out)?,
            Request::Bulk {
                text,
                form: BulkForm::Native,
            } => {
                query(text, out)?;
                Asked::Bulk
            }
            Request::Bulk {
                form: BulkForm::MultiRow,
                ..
            } => {
                return Err(refused(
                    "bulk rows go by COPY … FROM STDIN here, in the native form",
                ));
            }
        };
        self.phase = Phase::Busy(Exchange::new(asked));
        Ok(())
    }

    #[inline]
    fn receive(
        &mut self,
        input: &[u8],
        out: &mut Vec<u8>,
        answer: &mut Answer,
    ) -> Result<(usize, Progress), SystemError> {
        let progress = self.advance(input, out, answer);
        if progress.is_err() {
            (self.copy, self.phase) = (None, Phase::Over);
        }
        progress
    }

    fn bulk_row(&mut self, row: &Row, out: &mut Vec<u8>) {
        // Without a load under way the server has already refused it, and drops what still comes.
        if let Some(copy) = &mut self.copy {
            copy.row(row, out);
        }
    }

    fn bulk_end(&mut self, abort: Option<&str>, out: &mut Vec<u8>) {
        if self.copy.take().is_some() {
            match abort {
                Some(reason) => {
                    copy_fail(reason, out);
                    if let Phase::Busy(exchange) = &mut self.phase {
                        exchange.gave_up = true;
                    }
                }
                None => out.extend_from_slice(b"c\0\0\0\x04"),
            }
        }
    }

    fn goodbye(&mut self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"X\0\0\0\x04");
    }

    fn server_version(&self) -> &str {
        &self.server.version
    }

    fn session_id(&self) -> u64 {
        self.server.process_id
    }
}

/// Appends a simple query.
#[inline]
fn query(text: &str, out: &mut Vec<u8>) -> Result<(), SystemError> {
    let length = text.len() + 5;
    if length > message::LARGEST_BYTES {
        return Err(statement::too_large(length));
    }
    if text.as_bytes().contains(&0) {
        return Err(SystemError::new(
            ErrorClass::Data,
            "",
            "a statement cannot hold a zero byte",
        ));
    }
    out.push(b'Q');
    out.extend_from_slice(
        &u32::try_from(length)
            .expect("it is below 1 GiB")
            .to_be_bytes(),
    );
    out.extend_from_slice(text.as_bytes());
    out.push(0);
    Ok(())
}

/// Appends CopyFail; a zero byte in the reason would end it early.
fn copy_fail(reason: &str, out: &mut Vec<u8>) {
    let reason = reason.replace('\0', " ");
    cold(out, |buffer| frontend::copy_fail(&reason, buffer)).expect("it holds no zero byte");
}

/// Appends what the protocol crate builds in a buffer of its own kind; for what happens once a session.
fn cold(
    out: &mut Vec<u8>,
    build: impl FnOnce(&mut BytesMut) -> std::io::Result<()>,
) -> Result<(), SystemError> {
    let mut buffer = BytesMut::new();
    build(&mut buffer).map_err(|error| {
        SystemError::new(
            ErrorClass::Data,
            "",
            format!("the request cannot be expressed: {error}"),
        )
    })?;
    out.extend_from_slice(&buffer);
    Ok(())
}

fn refused(message: &str) -> SystemError {
    SystemError::new(ErrorClass::Other, "", message)
}

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
mod copy_binary;
mod copy_data;
mod copy_text;
mod direct;
mod exchange;
mod message;
mod parameter;
mod refusal;
mod rows;
mod server;
mod server_copy;
mod server_portal;
mod server_reply;
mod server_request;
mod server_startup;
mod startup;
mod statement;

use std::ops::ControlFlow;

use assay_values::{Piece, Row, Value};
use bytes::BytesMut;
use postgres_protocol::message::frontend;

use crate::{
    Answer, BulkForm, Cancel, ConnectOptions, ErrorClass, Progress, Request, SystemError, Wire,
};
use copy_data::CopyData;
use direct::Together;
use exchange::{Asked, Description, Exchange, Kept};
pub use server::PostgresqlServer;
use startup::{Server, Startup};
use statement::Statement;

const MIXED: &str = "texts are sent as one, and not together with bound statements";
const TOO_EARLY: &str = "a request before the session was ready for it";

/// One session with a PostgreSQL server, or with anything that speaks its protocol.
pub struct PostgresqlWire {
    options: ConnectOptions,
    phase: Phase,
    /// While the session begins.
    startup: Startup,
    server: Server,
    kept: Kept,
    /// The bulk load whose rows the server takes now.
    copy: Option<CopyData>,
}

/// Where the session stands.
#[derive(Clone, Copy)]
enum Phase {
    /// No bytes have gone either way.
    New,
    /// The server owes its yes or no to TLS.
    TlsAsked,
    /// TLS is being set up by the caller.
    TlsBegun,
    Starting,
    Idle,
    /// So many requests of a pipeline were written, and its end was not.
    Queueing(usize),
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
            startup: Startup::default(),
            server: Server::default(),
            kept: Kept::default(),
            copy: None,
        }
    }

    /// Tells the server to forget the rows it got; `reason` is what its answer will hold.
    #[cold]
    fn give_up(&mut self, reason: SystemError, out: &mut Vec<u8>) {
        self.copy = None;
        copy_fail(&reason.message, out);
        self.kept.gave_up = Some(reason);
    }

    fn start(&mut self, out: &mut Vec<u8>) {
        startup::begin(&self.options, out);
        self.startup = Startup::default();
        self.phase = Phase::Starting;
    }

    #[inline]
    fn prepared(&self, id: u32) -> Result<&Statement, SystemError> {
        match self.kept.statements.get(id as usize) {
            Some(Some(statement)) => Ok(statement),
            _ => Err(refused("the statement was not prepared in this session")),
        }
    }

    /// Prepares a statement again for values of other types, and appends its execution by `write`.
    #[cold]
    fn declare(
        &mut self,
        id: u32,
        parameters: &[Value],
        write: impl Fn(&Statement, &[Value], &mut Vec<u8>) -> Result<bool, SystemError>,
        out: &mut Vec<u8>,
    ) -> Result<(), SystemError> {
        let start = out.len();
        let Some(Some(statement)) = self.kept.statements.get_mut(id as usize) else {
            return Err(refused("the statement was not prepared in this session"));
        };
        statement.declare(id, parameters, out)?;
        if let Err(error) = write(statement, parameters, out) {
            out.truncate(start);
            statement.undeclare();
            return Err(error);
        }
        self.kept.declaring.push(id);
        Ok(())
    }

    fn prepare(
        &mut self,
        id: u32,
        pieces: &[Piece],
        out: &mut Vec<u8>,
    ) -> Result<Asked, SystemError> {
        let (text, count) = statement::spelled(pieces);
        let name = statement::name(id);
        let index = id as usize;
        let statements = &mut self.kept.statements;
        if statements.len() <= index {
            statements.resize_with(index + 1, || None);
        }
        let was_prepared = statements[index].is_some();
        cold(out, |buffer| {
            if was_prepared {
                frontend::close(b'S', &name, buffer)?;
            }
            frontend::parse(&name, &text, [], buffer)?;
            frontend::describe(b'S', &name, buffer)?;
            frontend::sync(buffer);
            Ok(())
        })?;
        statements[index] = None;
        self.kept.description = Description::of(text, count);
        Ok(Asked::Prepare { id })
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
                    let kept = &mut self.kept;
                    let Some(progress) = exchange.read(message, kept, out, answer)? else {
                        continue;
                    };
                    match progress {
                        Progress::BulkReady => {
                            self.copy = Some(match &*kept.bulk_types {
                                [] => CopyData::text(),
                                types => CopyData::binary(types),
                            });
                        }
                        Progress::Answered => {}
                        _ => (self.copy, self.phase) = (None, Phase::Idle),
                    }
                    return Ok((used, progress));
                }
                Phase::Starting => {
                    if self
                        .startup
                        .read(message, &self.options, &mut self.server, out)?
                    {
                        self.phase = Phase::Idle;
                        return Ok((used, Progress::Ready));
                    }
                }
                Phase::Idle | Phase::Queueing(_) => exchange::while_idle(message)?,
                Phase::New | Phase::TlsAsked | Phase::TlsBegun | Phase::Over => {
                    return Err(message.unexpected("silence"));
                }
            }
        }
        // Idle, with nothing but notices: nobody waits for anything.
        let is_idle = matches!(self.phase, Phase::Idle | Phase::Queueing(_));
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
        match self.phase {
            Phase::Idle => {}
            Phase::Queueing(_) => self.kept.undeclare(), // the pipeline is not sent
            _ => return Err(refused(TOO_EARLY)),
        }
        let asked = match *request {
            Request::Execute { id, parameters } => {
                if !self.prepared(id)?.execute(parameters, out)? {
                    self.declare(id, parameters, Statement::execute, out)?;
                }
                Asked::Execute { id }
            }
            Request::Text(text) => {
                query(text, out)?;
                Asked::Text
            }
            Request::Begin | Request::Commit | Request::Rollback => {
                query(request.sql().unwrap_or_default(), out)?;
                Asked::Text
            }
            Request::Prepare { id, pieces } => self.prepare(id, pieces, out)?,
            Request::Direct { pieces, parameters } => {
                direct::write(pieces, parameters, out)?;
                out.extend_from_slice(statement::SYNC);
                Asked::Direct
            }
            Request::Bulk {
                text,
                form: BulkForm::Native,
                types,
            } => {
                match copy_binary::statement(text, types) {
                    Some(text) => {
                        query(&text, out)?;
                        self.kept.bulk_types = types.into();
                    }
                    None => {
                        query(text, out)?;
                        self.kept.bulk_types = Box::default();
                    }
                }
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

    fn pipelines(&self) -> bool {
        true
    }

    #[inline]
    fn queue(&mut self, request: &Request<'_>, out: &mut Vec<u8>) -> Result<(), SystemError> {
        let queued = match self.phase {
            Phase::Idle => 0,
            Phase::Queueing(queued) => queued,
            _ => return Err(refused(TOO_EARLY)),
        };
        let is_text = matches!(request, Request::Text(_));
        if queued > 0 && is_text != self.kept.together.is_under_way() {
            return Err(refused(MIXED));
        }
        if queued == 0 {
            self.kept.together = Together::default();
        }
        let id = match *request {
            Request::Execute { id, parameters } => {
                if !self.prepared(id)?.queue(parameters, out)? {
                    self.declare(id, parameters, Statement::queue, out)?;
                }
                Some(id)
            }
            Request::Direct { pieces, parameters } => {
                direct::write(pieces, parameters, out)?;
                None
            }
            Request::Text(text) => {
                self.kept.together.add(text, out)?;
                None
            }
            Request::Begin | Request::Commit | Request::Rollback => {
                direct::write_text(request.sql().unwrap_or_default(), 0, &[], out)?;
                None
            }
            Request::Prepare { .. } | Request::Bulk { .. } => {
                return Err(refused("only executions can be part of a pipeline"));
            }
        };
        self.kept.pipeline.truncate(queued);
        self.kept.pipeline.push(id);
        self.phase = Phase::Queueing(queued + 1);
        Ok(())
    }

    #[inline]
    fn sync(&mut self, out: &mut Vec<u8>) {
        let owed = match self.phase {
            Phase::Queueing(queued) => queued,
            _ => 0,
        };
        self.kept.pipeline.truncate(owed);
        // A text is its own end.
        if owed == 0 || !self.kept.together.is_under_way() {
            out.extend_from_slice(statement::SYNC);
        }
        self.phase = Phase::Busy(Exchange::new(Asked::Pipeline { owed }));
    }

    #[inline]
    fn receive(
        &mut self,
        input: &[u8],
        out: &mut Vec<u8>,
        answer: &mut Answer,
    ) -> Result<(usize, Progress), SystemError> {
        let mut skimmed = 0;
        if let Phase::Busy(exchange) = &mut self.phase {
            let (used, is_complete) = exchange.skim(input, answer);
            if is_complete {
                self.phase = Phase::Idle;
                return Ok((used, Progress::Ready));
            }
            skimmed = used;
        }
        let progress = self
            .advance(&input[skimmed..], out, answer)
            .map(|(used, progress)| (skimmed + used, progress));
        if progress.is_err() {
            (self.copy, self.phase) = (None, Phase::Over);
        }
        progress
    }

    #[inline]
    fn bulk_row(&mut self, row: &Row, out: &mut Vec<u8>) -> ControlFlow<()> {
        // Without a load under way the server has already refused it, and drops what still comes.
        if let Some(copy) = &mut self.copy
            && let Err(error) = copy.row(row, out)
        {
            self.give_up(error, out);
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }

    fn bulk_end(&mut self, abort: Option<&str>, out: &mut Vec<u8>) {
        match (abort, self.copy.take()) {
            (Some(reason), Some(_)) => {
                self.give_up(SystemError::new(ErrorClass::Other, "", reason), out);
            }
            (None, Some(copy)) => copy.end(out),
            (_, None) => {}
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

    fn cancel(&self) -> Option<Cancel> {
        self.server.cancel_request().map(Cancel::Message)
    }
}

/// Appends a simple query.
#[inline]
fn query(text: &str, out: &mut Vec<u8>) -> Result<(), SystemError> {
    let length = message::length_of(text, 5)?;
    out.push(b'Q');
    out.extend_from_slice(&length.to_be_bytes());
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

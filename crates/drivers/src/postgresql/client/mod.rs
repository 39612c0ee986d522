//! Takes requests and the messages of a PostgreSQL session; keeps its state and its prepared statements, and implements
//! [`Wire`].

pub(crate) mod copy_binary;
pub(crate) mod copy_data;
pub(crate) mod direct;
pub(crate) mod exchange;
pub(crate) mod parameter;
pub(crate) mod refusal;
pub(crate) mod rows;
pub(crate) mod startup;
pub(crate) mod statement;

use std::ops::ControlFlow;

use assay_values::{Piece, Row, Value};
use bytes::BytesMut;
use postgres_protocol::message::frontend;

use crate::postgresql::client::copy_data::CopyData;
use crate::postgresql::client::direct::BatchedSend;
use crate::postgresql::client::exchange::{Description, Exchange, Sent, SessionState};
use crate::postgresql::client::startup::{Server, Startup};
use crate::postgresql::client::statement::{Names, Statement};
use crate::postgresql::message;
use crate::postgresql::message::{cold, copy_fail, query};
use crate::{
    Answer, BulkForm, Cancel, ConnectOptions, ErrorClass, Progress, Received, Request, Result,
    Sender, SystemError, Wire,
};

/// One session with a PostgreSQL server, or another server with its protocol. In this order: first what every statement
/// needs, so that it takes few lines of the processor's caches.
#[repr(C)]
pub struct PostgresqlWire {
    pub(crate) phase: Phase,
    pub(crate) kept: SessionState,
    /// The bulk load in which the server accepts rows.
    pub(crate) copy: Option<CopyData>,
    pub(crate) options: ConnectOptions,
    /// The state of a session that is being opened.
    pub(crate) startup: Startup,
    pub(crate) server: Server,
}

/// The state of the session.
#[derive(Clone, Copy)]
pub(crate) enum Phase {
    /// Nothing was sent or received.
    New,
    /// TLS was requested; the server's answer follows.
    TlsRequested,
    /// TLS is being set up by the caller.
    TlsBegun,
    Starting,
    Idle,
    /// This many requests of a pipeline were written, but not its end.
    Queueing(usize),
    Busy(Exchange),
    /// An error ended the session.
    Over,
}

impl PostgresqlWire {
    /// A session that has not been connected yet.
    pub fn new(mut options: ConnectOptions) -> Self {
        // A zero byte ends a name in the startup message. It is replaced by U+FFFD, so that the
        // server reports the name as unknown.
        for name in [&mut options.user, &mut options.database] {
            *name = name.replace('\0', "\u{fffd}");
        }
        Self {
            phase: Phase::New,
            kept: SessionState::default(),
            copy: None,
            options,
            startup: Startup::default(),
            server: Server::default(),
        }
    }

    /// Makes the server discard the rows it received; the answer will hold `reason`.
    #[cold]
    pub(crate) fn give_up(&mut self, reason: SystemError, out: &mut Vec<u8>) {
        self.copy = None;
        copy_fail(&reason.message, out);
        self.kept.gave_up = Some(reason);
    }

    pub(crate) fn start(&mut self, out: &mut Vec<u8>) {
        startup::begin(&self.options, out);
        self.startup = Startup::default();
        self.phase = Phase::Starting;
    }

    /// Prepares a statement again for values of other types, and appends its execution by `write`.
    #[cold]
    pub(crate) fn declare(
        &mut self,
        id: u32,
        parameters: &[Value],
        write: impl Fn(&Statement, Names, &[Value], &mut Vec<u8>) -> Result<bool>,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        let start = out.len();
        let names = self.kept.names;
        let declared = self
            .kept
            .statements
            .known(id)?
            .declare(names, parameters, out)?;
        let (statement, written) = match write(&declared, names, parameters, out) {
            Ok(_) => (declared, Ok(())),
            Err(error) => {
                out.truncate(start);
                (declared.undeclared(), Err(error))
            }
        };
        *self.kept.statements.place(id) = Some(statement.shared());
        if written.is_ok() {
            self.kept.declaring.push(id);
        }
        written
    }

    pub(crate) fn prepare(&mut self, id: u32, pieces: &[Piece], out: &mut Vec<u8>) -> Result<Sent> {
        let (text, count) = statement::spelled(pieces);
        let name = self.kept.names.of(id);
        let was_prepared = self.kept.statements.place(id).is_some();
        cold(out, |buffer| {
            if was_prepared {
                frontend::close(b'S', &name, buffer)?;
            }
            frontend::parse(&name, &text, [], buffer)?;
            frontend::describe(b'S', &name, buffer)?;
            frontend::sync(buffer);
            Ok(())
        })?;
        // Until the server has described it, what was prepared before stays: if this fails, its next execution shows
        // that it must be prepared again.
        self.kept.description = Description::of(text, count);
        Ok(Sent::Prepare { id })
    }

    pub(crate) fn advance(
        &mut self,
        input: &[u8],
        out: &mut Vec<u8>,
        answer: &mut Answer,
    ) -> Received {
        if matches!(self.phase, Phase::TlsRequested) && !input.is_empty() {
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
                                [] => CopyData::text(&kept.bulk_text_types),
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
                Phase::New | Phase::TlsRequested | Phase::TlsBegun | Phase::Over => {
                    return Err(message.unexpected("no message"));
                }
            }
        }
        // Idle after notices: no request waits for an answer.
        let is_idle = matches!(self.phase, Phase::Idle | Phase::Queueing(_));
        let progress = if is_idle {
            Progress::Ready
        } else {
            Progress::NeedMore
        };
        Ok((used, progress))
    }
}

const MIXED: &str = "a pipeline cannot mix text statements with bound statements";
const TOO_EARLY: &str = "a request was made before the session was ready";

impl Wire for PostgresqlWire {
    fn sender_of(first: &[u8]) -> Option<Sender> {
        startup::sender_of(first)
    }

    fn connected(&mut self, out: &mut Vec<u8>) {
        if self.options.wants_tls {
            self.phase = Phase::TlsRequested;
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
    fn request(&mut self, request: &Request<'_>, out: &mut Vec<u8>) -> Result<()> {
        match self.phase {
            Phase::Idle => {}
            Phase::Queueing(_) => self.kept.undeclare(), // the pipeline is not sent
            _ => return Err(SystemError::refused(TOO_EARLY)),
        }
        let sent = match *request {
            Request::Execute { id, parameters } => {
                let statement = self.kept.statements.known(id)?;
                let sent = Sent::Execute {
                    id,
                    tag: statement.tag,
                    has_columns: !statement.columns.is_empty(),
                };
                if !statement.execute(self.kept.names, parameters, out)? {
                    self.declare(id, parameters, Statement::execute, out)?;
                }
                sent
            }
            Request::Text(text) => {
                query(text, out)?;
                Sent::Text
            }
            Request::Begin | Request::Commit | Request::Rollback => {
                query(request.sql().unwrap_or_default(), out)?;
                Sent::Text
            }
            Request::Prepare { id, pieces } => self.prepare(id, pieces, out)?,
            Request::Direct { pieces, parameters } => {
                direct::write(pieces, parameters, out)?;
                out.extend_from_slice(statement::SYNC);
                Sent::Direct
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
                        self.kept.bulk_text_types = types.into();
                    }
                }
                Sent::Bulk
            }
            Request::Bulk {
                form: BulkForm::MultiRow,
                ..
            } => {
                return Err(SystemError::refused(
                    "expected a bulk load in the native form (COPY … FROM STDIN), found multi-row",
                ));
            }
        };
        self.phase = Phase::Busy(Exchange::new(sent));
        Ok(())
    }

    fn pipelines(&self) -> bool {
        true
    }

    #[inline]
    fn queue(&mut self, request: &Request<'_>, out: &mut Vec<u8>) -> Result<()> {
        let queued = match self.phase {
            Phase::Idle => 0,
            Phase::Queueing(queued) => queued,
            _ => return Err(SystemError::refused(TOO_EARLY)),
        };
        let is_text = matches!(request, Request::Text(_));
        if queued > 0 && is_text != self.kept.batched_send.is_open() {
            return Err(SystemError::refused(MIXED));
        }
        if queued == 0 {
            self.kept.batched_send = BatchedSend::default();
        }
        let id = match *request {
            Request::Execute { id, parameters } => {
                if !self
                    .kept
                    .statements
                    .known(id)?
                    .queue(self.kept.names, parameters, out)?
                {
                    self.declare(id, parameters, Statement::queue, out)?;
                }
                Some(id)
            }
            Request::Direct { pieces, parameters } => {
                direct::write(pieces, parameters, out)?;
                None
            }
            Request::Text(text) => {
                self.kept.batched_send.add(text, out)?;
                None
            }
            Request::Begin | Request::Commit | Request::Rollback => {
                direct::write_text(request.sql().unwrap_or_default(), 0, &[], out)?;
                None
            }
            Request::Prepare { .. } | Request::Bulk { .. } => {
                return Err(SystemError::refused(
                    "only executions can be part of a pipeline",
                ));
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
        // A text needs no Sync.
        if owed == 0 || !self.kept.batched_send.is_open() {
            out.extend_from_slice(statement::SYNC);
        }
        self.phase = Phase::Busy(Exchange::new(Sent::Pipeline { owed }));
    }

    #[inline]
    fn receive(&mut self, input: &[u8], out: &mut Vec<u8>, answer: &mut Answer) -> Received {
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
        // Without an open load the server has already refused it, and ignores further rows.
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

    fn terminate(&mut self, out: &mut Vec<u8>) {
        // Behind a pooler the server's session goes on, with the statements that it has.
        for id in self.kept.statements.ids() {
            // A name is short enough for a message, and holds no zero byte.
            let name = self.kept.names.of(id);
            let _ = cold(out, |buffer| frontend::close(b'S', &name, buffer));
        }
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

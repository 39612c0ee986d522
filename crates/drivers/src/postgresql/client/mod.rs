//! Takes the messages of a PostgreSQL session; keeps its state and its prepared statements.

pub(crate) mod authentication;
pub(crate) mod command_tag;
pub(crate) mod copy_binary;
pub(crate) mod copy_data;
pub(crate) mod direct;
pub(crate) mod exchange;
pub(crate) mod exchange_rare;
pub(crate) mod parameter;
pub(crate) mod refusal;
pub(crate) mod rows;
pub(crate) mod session_state;
pub(crate) mod startup;
pub(crate) mod statement;
pub(crate) mod wire;

use assay_values::{Piece, Value};
use postgres_protocol::message::frontend;

use crate::postgresql::client::copy_data::CopyData;
use crate::postgresql::client::exchange::{Exchange, Sent};
use crate::postgresql::client::session_state::{Description, SessionState};
use crate::postgresql::client::startup::{Server, Startup};
use crate::postgresql::client::statement::{Names, Statement};
use crate::postgresql::message;
use crate::postgresql::message::{cold, copy_fail, refused};
use crate::{Answer, ConnectOptions, Progress, SystemError};

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
    #[must_use]
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

    #[inline]
    pub(crate) fn prepared(&self, id: u32) -> Result<&Statement, SystemError> {
        match self.kept.statements.get(id as usize) {
            Some(Some(statement)) => Ok(statement),
            _ => Err(refused("the statement is not prepared in this session")),
        }
    }

    /// Prepares a statement again for values of other types, and appends its execution by `write`.
    #[cold]
    pub(crate) fn declare(
        &mut self,
        id: u32,
        parameters: &[Value],
        write: impl Fn(&Statement, Names, &[Value], &mut Vec<u8>) -> Result<bool, SystemError>,
        out: &mut Vec<u8>,
    ) -> Result<(), SystemError> {
        let start = out.len();
        let names = self.kept.names;
        let declared = self.prepared(id)?.declare(names, parameters, out)?;
        let (statement, written) = match write(&declared, names, parameters, out) {
            Ok(_) => (declared, Ok(())),
            Err(error) => {
                out.truncate(start);
                (declared.undeclared(), Err(error))
            }
        };
        self.kept.statements[id as usize] = Some(statement.shared());
        if written.is_ok() {
            self.kept.declaring.push(id);
        }
        written
    }

    pub(crate) fn prepare(
        &mut self,
        id: u32,
        pieces: &[Piece],
        out: &mut Vec<u8>,
    ) -> Result<Sent, SystemError> {
        let (text, count) = statement::spelled(pieces);
        let name = self.kept.names.of(id);
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
    ) -> Result<(usize, Progress), SystemError> {
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

//! Takes the messages of a PostgreSQL session; knows where it stands, and what it has prepared.

use assay_values::{Piece, Value};
use postgres_protocol::message::frontend;

use super::copy_data::CopyData;
use super::exchange::{self, Asked, Exchange};
use super::kept::{Description, Kept};
use super::message;
use super::outgoing::{cold, copy_fail, refused};
use super::startup::{self, Server, Startup};
use super::statement::{self, Statement};
use crate::{Answer, ConnectOptions, Progress, SystemError};

/// One session with a PostgreSQL server, or with anything that speaks its protocol.
pub struct PostgresqlWire {
    pub(super) options: ConnectOptions,
    pub(super) phase: Phase,
    /// While the session begins.
    pub(super) startup: Startup,
    pub(super) server: Server,
    pub(super) kept: Kept,
    /// The bulk load whose rows the server takes now.
    pub(super) copy: Option<CopyData>,
}

/// Where the session stands.
#[derive(Clone, Copy)]
pub(super) enum Phase {
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
    /// A session that has not been connected yet.
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
    pub(super) fn give_up(&mut self, reason: SystemError, out: &mut Vec<u8>) {
        self.copy = None;
        copy_fail(&reason.message, out);
        self.kept.gave_up = Some(reason);
    }

    pub(super) fn start(&mut self, out: &mut Vec<u8>) {
        startup::begin(&self.options, out);
        self.startup = Startup::default();
        self.phase = Phase::Starting;
    }

    #[inline]
    pub(super) fn prepared(&self, id: u32) -> Result<&Statement, SystemError> {
        match self.kept.statements.get(id as usize) {
            Some(Some(statement)) => Ok(statement),
            _ => Err(refused("the statement was not prepared in this session")),
        }
    }

    /// Prepares a statement again for values of other types, and appends its execution by `write`.
    #[cold]
    pub(super) fn declare(
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

    pub(super) fn prepare(
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

    pub(super) fn advance(
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
                                [] => CopyData::text(&kept.bulk_bytes),
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
        // Idle, with nothing but notices: no request waits for an answer.
        let is_idle = matches!(self.phase, Phase::Idle | Phase::Queueing(_));
        let progress = if is_idle {
            Progress::Ready
        } else {
            Progress::NeedMore
        };
        Ok((used, progress))
    }
}

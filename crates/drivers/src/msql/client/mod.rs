//! Takes requests; appends their packets, and reports when the next request may be sent.

pub(crate) mod handshake;
pub(crate) mod load;
pub(crate) mod reply;
pub(crate) mod statement;

use std::ops::ControlFlow;

use assay_values::{Piece, Row};

use crate::msql::client::handshake::Handshake;
use crate::msql::client::load::{Load, Ping};
use crate::msql::client::reply::{Reply, Results};
use crate::msql::packet::command;
use crate::msql::{packet, refusal};
use crate::request::ById;
use crate::{
    Answer, ConnectOptions, ErrorClass, Progress, Received, Request, Result, Sender, SystemError,
    Wire,
};

/// One session with an mSQL server.
pub struct MsqlWire {
    options: ConnectOptions,
    version: String,
    phase: Phase,
    /// The pieces of prepared statements, by their ids.
    prepared: ById<Box<[Piece]>>,
}

/// The state of the session.
enum Phase {
    Handshake(Handshake),
    Idle,
    Results(Results),
    /// The server answers, but nothing was asked of it: a statement was prepared.
    Ping,
    LoadRequested(Box<Load>),
    Load(Box<Load>),
    /// An error ended the session.
    Over,
}

impl MsqlWire {
    /// A session that has not been connected yet.
    pub fn new(options: ConnectOptions) -> Self {
        Self {
            options,
            version: String::new(),
            phase: Phase::Handshake(Handshake::Greeting),
            prepared: ById::default(),
        }
    }

    fn ping(&self, out: &mut Vec<u8>) {
        handshake::choose(&self.options.database, out);
    }

    #[inline]
    fn packet(&mut self, text: &[u8], out: &mut Vec<u8>, answer: &mut Answer) -> Result<Progress> {
        let is_complete = match &mut self.phase {
            Phase::Results(results) => results.packet(text, answer)?,
            Phase::Handshake(opening) => {
                opening.packet(text, &self.options, &mut self.version, out)?
            }
            Phase::Load(load) => load.packet(text, answer)?,
            Phase::Ping => Results::Head.packet(text, answer)?,
            Phase::LoadRequested(_) => return self.begin_load(text, answer),
            Phase::Idle => return Err(unasked(text)),
            Phase::Over => return Err(refusal::malformed("nothing", text)),
        };
        if !is_complete {
            return Ok(Progress::NeedMore);
        }
        self.phase = Phase::Idle;
        Ok(Progress::Ready)
    }

    fn begin_load(&mut self, text: &[u8], answer: &mut Answer) -> Result<Progress> {
        let is_complete = Results::Head.packet(text, answer)?;
        let phase = std::mem::replace(&mut self.phase, Phase::Idle);
        match phase {
            Phase::LoadRequested(_) if answer.error.is_some() => Ok(Progress::Ready),
            Phase::LoadRequested(load) if is_complete => {
                self.phase = Phase::Load(load);
                Ok(Progress::BulkReady)
            }
            _ => Err(refusal::malformed("the database to be chosen", text)),
        }
    }

    fn receive_packets(
        &mut self,
        input: &[u8],
        out: &mut Vec<u8>,
        answer: &mut Answer,
    ) -> Received {
        let mut used = 0;
        while let Some((size, text)) = packet::read(&input[used..])? {
            used += size;
            let progress = self.packet(text, out, answer)?;
            if progress != Progress::NeedMore {
                return Ok((used, progress));
            }
        }
        Ok((used, Progress::NeedMore))
    }
}

/// A packet that answers no request: a server that ends the session says why.
#[cold]
fn unasked(text: &[u8]) -> SystemError {
    match Reply::read(text) {
        Reply::Error(message) => refusal::read(message, refusal::Moment::Statement).lost(),
        _ => refusal::malformed("nothing before the next request", text),
    }
}

impl Wire for MsqlWire {
    fn sender_of(first: &[u8]) -> Option<Sender> {
        handshake::sender_of(first)
    }

    /// The protocol has no TLS.
    fn secured(&mut self, _out: &mut Vec<u8>) {}

    #[inline]
    fn request(&mut self, request: &Request<'_>, out: &mut Vec<u8>) -> Result<()> {
        if !matches!(self.phase, Phase::Idle) {
            return Err(SystemError::refused(
                "a request was made before the session was ready",
            ));
        }
        self.phase = match *request {
            Request::Execute { id, parameters } => {
                statement::send(self.prepared.known(id)?, parameters, out)?;
                Phase::Results(Results::Head)
            }
            Request::Direct { pieces, parameters } => {
                statement::send(pieces, parameters, out)?;
                Phase::Results(Results::Head)
            }
            Request::Text(text) => {
                statement::send_with(out, |out| {
                    out.extend_from_slice(text.as_bytes());
                    Ok(())
                })?;
                Phase::Results(Results::Head)
            }
            // The server cannot prepare: the pieces are kept here.
            Request::Prepare { id, pieces } => {
                *self.prepared.place(id) = Some(pieces.into());
                self.ping(out);
                Phase::Ping
            }
            Request::Bulk { text, .. } => {
                let load = Load::new(text)?;
                self.ping(out);
                Phase::LoadRequested(Box::new(load))
            }
            Request::Begin | Request::Commit | Request::Rollback => {
                return Err(SystemError::new(
                    ErrorClass::Syntax,
                    "",
                    "mSQL has no transactions",
                ));
            }
        };
        Ok(())
    }

    #[inline]
    fn receive(&mut self, input: &[u8], out: &mut Vec<u8>, answer: &mut Answer) -> Received {
        let received = self.receive_packets(input, out, answer);
        if received.is_err() {
            self.phase = Phase::Over;
        }
        received
    }

    #[inline]
    fn bulk_row(&mut self, row: &Row, out: &mut Vec<u8>) -> ControlFlow<()> {
        let Phase::Load(load) = &mut self.phase else {
            debug_assert!(false, "rows come after BulkReady");
            return ControlFlow::Continue(());
        };
        match load.row(row, out) {
            ControlFlow::Continue(()) => ControlFlow::Continue(()),
            ControlFlow::Break(ping) => {
                if ping == Ping::Needed {
                    self.ping(out);
                }
                ControlFlow::Break(())
            }
        }
    }

    fn bulk_is_full(&self) -> bool {
        matches!(&self.phase, Phase::Load(load) if load.is_full)
    }

    fn bulk_end(&mut self, abort: Option<&str>, out: &mut Vec<u8>) {
        match &mut self.phase {
            Phase::Load(load) => {
                if load.end(abort) == Ping::Needed {
                    self.ping(out);
                }
            }
            _ => debug_assert!(false, "a load ends after BulkReady"),
        }
    }

    fn terminate(&mut self, out: &mut Vec<u8>) {
        packet::send(command::QUIT, b"", out);
    }

    fn server_version(&self) -> &str {
        &self.version
    }
}

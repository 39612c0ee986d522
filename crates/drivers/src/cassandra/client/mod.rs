//! Takes requests; gives the messages of each, and says when the next may come.

pub(crate) mod bind;
pub(crate) mod bind_scalar;
pub(crate) mod bound;
pub(crate) mod cell;
pub(crate) mod client_side;
pub(crate) mod handshake;
pub(crate) mod in_flight;
pub(crate) mod load;
pub(crate) mod parameters;
pub(crate) mod rows;
pub(crate) mod session;
pub(crate) mod settings;
pub(crate) mod varint;

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use assay_values::Row;

use crate::cassandra::client::client_side::{ClientSide, Outcome, Phase};
use crate::cassandra::client::handshake::Handshake;
use crate::cassandra::client::in_flight::MAX_STREAMS;
use crate::cassandra::client::session::Session;
use crate::cassandra::client::settings::Settings;
use crate::cassandra::shared::constants::{Version, opcode};
use crate::cassandra::shared::frame_reader::FrameReader;
use crate::cassandra::shared::frame_writer::FrameWriter;
use crate::cassandra::shared::{frame_reader, refusal};
use crate::{
    Answer, BulkForm, ConnectOptions, ErrorClass, Progress, Request, Sender, SystemError, Wire,
    WrongOption,
};

/// One session with a Cassandra server, or with anything that speaks its protocol.
pub struct CassandraWire {
    frame_reader: FrameReader,
    side: Box<ClientSide>,
}

impl CassandraWire {
    /// Options that [`Wire::check_options`] refuses are left out.
    #[must_use]
    pub fn new(options: ConnectOptions) -> Self {
        let settings = Settings::of(&options.options).unwrap_or_default();
        Self {
            frame_reader: FrameReader::default(),
            side: Box::new(ClientSide {
                options,
                session: Session::new(settings, FrameWriter::new(Version::V4.byte())),
                phase: Phase::Handshake(Handshake::Silent),
                own_answer: Answer::default(),
                server_version: String::new(),
            }),
        }
    }

    fn receive_messages(
        &mut self,
        input: &[u8],
        out: &mut Vec<u8>,
        answer: &mut Answer,
    ) -> Result<(usize, Progress), SystemError> {
        if let Some(progress) = self.side.resume(out, answer)? {
            return Ok((0, progress));
        }
        let mut used = 0;
        loop {
            let (size, message) = self.frame_reader.next(&input[used..])?;
            used += size;
            let Some(message) = message else {
                return Ok((used, Progress::NeedMore));
            };
            match self.side.message(&message, out, answer)? {
                Outcome::More => {}
                Outcome::Progress(progress) => return Ok((used, progress)),
                Outcome::Agreed { is_framed, is_lz4 } => self.frame_reader.agree(is_framed, is_lz4),
            }
        }
    }
}

impl Wire for CassandraWire {
    fn check_options(options: &BTreeMap<String, String>) -> Result<(), WrongOption> {
        Settings::of(options).map(drop)
    }

    fn sender_of(first: &[u8]) -> Option<Sender> {
        frame_reader::sender_of(first)
    }

    fn connected(&mut self, out: &mut Vec<u8>) {
        let frame_writer = &mut self.side.session.frame_writer;
        frame_writer.send(opcode::OPTIONS, 0, out, |_| {});
        self.side.phase = Phase::Handshake(Handshake::OptionsAsked);
    }

    fn begins_with_tls(&self) -> bool {
        true
    }

    fn secured(&mut self, out: &mut Vec<u8>) {
        self.connected(out);
    }

    #[inline]
    fn request(&mut self, request: &Request<'_>, out: &mut Vec<u8>) -> Result<(), SystemError> {
        let side = &mut self.side;
        side.begin()?;
        let session = &mut side.session;
        side.phase = match *request {
            Request::Execute { id, parameters } => {
                session.execute(id, parameters, out)?;
                Phase::Request
            }
            Request::Text(text) => {
                session.query(text, out)?;
                Phase::Request
            }
            Request::Prepare { id, pieces } => {
                session.prepare(id, pieces, out)?;
                Phase::Request
            }
            Request::Direct { pieces, parameters } => {
                session.direct(pieces, parameters, out)?;
                Phase::Request
            }
            Request::Bulk {
                text,
                form: BulkForm::Native,
                ..
            } => {
                session.prepare_load(text, out)?;
                Phase::LoadAsked
            }
            Request::Bulk {
                form: BulkForm::MultiRow,
                ..
            } => {
                return Err(refusal::refused("CQL has no INSERT of several rows"));
            }
            Request::Begin | Request::Commit | Request::Rollback => return Err(no_transactions()),
        };
        Ok(())
    }

    #[inline]
    fn receive(
        &mut self,
        input: &[u8],
        out: &mut Vec<u8>,
        answer: &mut Answer,
    ) -> Result<(usize, Progress), SystemError> {
        let received = self.receive_messages(input, out, answer);
        if received.is_err() {
            self.side.phase = Phase::Over;
        }
        received
    }

    fn pipelines(&self) -> bool {
        true
    }

    /// The server executes the requests of a pipeline in any order, and all of them, whatever becomes of the
    /// others.
    fn queue(&mut self, request: &Request<'_>, out: &mut Vec<u8>) -> Result<(), SystemError> {
        let side = &mut self.side;
        if !matches!(side.phase, Phase::Queue) {
            side.begin()?;
        }
        let session = &mut side.session;
        if session.in_flight.requests.len() >= MAX_STREAMS - 1 {
            let message = format!("a pipeline has at most {} requests", MAX_STREAMS - 1);
            return Err(refusal::refused(&message));
        }
        match *request {
            Request::Execute { id, parameters } => session.execute(id, parameters, out)?,
            Request::Text(text) => session.query(text, out)?,
            Request::Direct { pieces, parameters } => session.direct(pieces, parameters, out)?,
            Request::Begin | Request::Commit | Request::Rollback => return Err(no_transactions()),
            Request::Prepare { .. } | Request::Bulk { .. } => {
                return Err(refusal::refused("a pipeline holds executions alone"));
            }
        }
        side.phase = Phase::Queue;
        Ok(())
    }

    fn sync(&mut self, out: &mut Vec<u8>) {
        if self.side.session.in_flight.requests.is_empty() {
            self.side.session.ping(out);
        }
        self.side.phase = Phase::Pipeline { is_failed: false };
    }

    #[inline]
    fn bulk_row(&mut self, row: &Row, out: &mut Vec<u8>) -> ControlFlow<()> {
        let session = &mut self.side.session;
        match &mut self.side.phase {
            Phase::Load(load) => load.row(row, &session.settings, &mut session.frame_writer, out),
            _ => {
                debug_assert!(false, "rows come after BulkReady");
                ControlFlow::Continue(())
            }
        }
    }

    fn bulk_is_full(&self) -> bool {
        matches!(&self.side.phase, Phase::Load(load) if load.is_full())
    }

    fn bulk_end(&mut self, abort: Option<&str>, out: &mut Vec<u8>) {
        match &mut self.side.phase {
            Phase::Load(load) => load.end(abort, &mut self.side.session.frame_writer, out),
            _ => debug_assert!(false, "a load ends after BulkReady"),
        }
    }

    /// The protocol has no word for it.
    fn terminate(&mut self, _out: &mut Vec<u8>) {}

    fn server_version(&self) -> &str {
        &self.side.server_version
    }

    /// The protocol does not number sessions.
    fn session_id(&self) -> u64 {
        0
    }
}

fn no_transactions() -> SystemError {
    SystemError::new(ErrorClass::Syntax, "", "CQL has no transactions")
}

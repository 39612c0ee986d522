//! Takes requests; gives the messages of each. Takes the messages of a server; fills the answers of the requests
//! under way, and says what the caller must do.

pub(crate) mod bind;
pub(crate) mod handshake;
pub(crate) mod in_flight;
pub(crate) mod load;
pub(crate) mod rows;
pub(crate) mod session;
pub(crate) mod settings;
pub(crate) mod varint;

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use assay_values::Row;

use crate::cassandra::client::handshake::{Handshake, Step};
use crate::cassandra::client::in_flight::MAX_STREAMS;
use crate::cassandra::client::load::Load;
use crate::cassandra::client::session::Session;
use crate::cassandra::client::settings::Settings;
use crate::cassandra::frame_reader::{FrameReader, Message};
use crate::cassandra::frame_writer::FrameWriter;
use crate::cassandra::notation::{RESPONSE, Version, header_flag, opcode};
use crate::cassandra::refusal::Moment;
use crate::cassandra::{frame_reader, refusal};
use crate::scan::Scan;
use crate::{
    Answer, BulkForm, ConnectOptions, ErrorClass, Keep, Progress, Received, Request, Result,
    Sender, SystemError, Wire, WrongOption,
};

/// One session with a Cassandra server, or with anything that speaks its protocol.
pub struct CassandraWire {
    frame_reader: FrameReader,
    side: Box<ClientSide>,
}

impl CassandraWire {
    /// Options that [`Wire::check_options`] refuses are left out.
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
    ) -> Received {
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
    fn request(&mut self, request: &Request<'_>, out: &mut Vec<u8>) -> Result<()> {
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
                return Err(SystemError::refused("CQL has no INSERT of several rows"));
            }
            Request::Begin | Request::Commit | Request::Rollback => return Err(no_transactions()),
        };
        Ok(())
    }

    #[inline]
    fn receive(&mut self, input: &[u8], out: &mut Vec<u8>, answer: &mut Answer) -> Received {
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
    fn queue(&mut self, request: &Request<'_>, out: &mut Vec<u8>) -> Result<()> {
        let side = &mut self.side;
        if !matches!(side.phase, Phase::Queue) {
            side.begin()?;
        }
        let session = &mut side.session;
        if session.in_flight.requests.len() >= MAX_STREAMS - 1 {
            let message = format!("a pipeline has at most {} requests", MAX_STREAMS - 1);
            return Err(SystemError::refused(message));
        }
        match *request {
            Request::Execute { id, parameters } => session.execute(id, parameters, out)?,
            Request::Text(text) => session.query(text, out)?,
            Request::Direct { pieces, parameters } => session.direct(pieces, parameters, out)?,
            Request::Begin | Request::Commit | Request::Rollback => return Err(no_transactions()),
            Request::Prepare { .. } | Request::Bulk { .. } => {
                return Err(SystemError::refused("a pipeline holds executions alone"));
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
        matches!(&self.side.phase, Phase::Load(load) if load.is_full)
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
}

fn no_transactions() -> SystemError {
    SystemError::new(ErrorClass::Syntax, "", "CQL has no transactions")
}

/// Everything but the bytes not read yet.
pub(crate) struct ClientSide {
    pub(crate) options: ConnectOptions,
    pub(crate) session: Session,
    pub(crate) phase: Phase,
    /// Of the driver's own requests.
    pub(crate) own_answer: Answer,
    pub(crate) server_version: String,
}

pub(crate) enum Phase {
    Handshake(Handshake),
    Idle,
    /// One request is under way.
    Request,
    /// The statement of a load is being prepared.
    LoadAsked,
    Load(Box<Load>),
    /// Requests of a pipeline are put together.
    Queue,
    /// All were sent. After the first error the answers of the others are passed over.
    Pipeline {
        is_failed: bool,
    },
    /// An error ended the session.
    Over,
}

/// What a message comes to.
pub(crate) enum Outcome {
    More,
    Progress(Progress),
    /// From here on messages come in segments or compressed, as the server agreed to.
    Agreed {
        is_framed: bool,
        is_lz4: bool,
    },
}

impl ClientSide {
    #[inline]
    pub(crate) fn message(
        &mut self,
        message: &Message<'_>,
        out: &mut Vec<u8>,
        answer: &mut Answer,
    ) -> Result<Outcome> {
        if message.version & RESPONSE == 0 {
            return Err(SystemError::protocol(
                "an answer of the CQL protocol",
                format!("a message that begins with {:#04x}", message.version),
            ));
        }
        if message.opcode == opcode::EVENT {
            return Ok(Outcome::More);
        }
        let body = behind_extras(message)
            .ok_or_else(|| SystemError::malformed("a message", message.body))?;
        let (stream, code) = (message.stream, message.opcode);
        if stream < 0 {
            return Err(unasked(code, body));
        }
        match &mut self.phase {
            Phase::Request | Phase::LoadAsked | Phase::Pipeline { .. } => {
                self.answered(stream, code, body, out, answer)
            }
            Phase::Load(load) => match load.message(stream, code, body, answer)? {
                true => {
                    self.phase = Phase::Idle;
                    Ok(Outcome::Progress(Progress::Ready))
                }
                false => Ok(Outcome::More),
            },
            Phase::Handshake(opening) => {
                let opening = *opening;
                self.opening(opening, code, body, out)
            }
            Phase::Idle | Phase::Queue | Phase::Over => Err(unasked(code, body)),
        }
    }

    #[inline]
    fn answered(
        &mut self,
        stream: i16,
        code: u8,
        body: &[u8],
        out: &mut Vec<u8>,
        answer: &mut Answer,
    ) -> Result<Outcome> {
        match self.session.in_flight.is_next(stream) {
            Some(true) => {}
            Some(false) => {
                self.session.in_flight.keep(stream, code, body)?;
                return Ok(Outcome::More);
            }
            None => {
                return Err(SystemError::protocol(
                    "the answer to a request",
                    format!("an answer on stream {stream}, on which nothing was asked"),
                ));
            }
        }
        Ok(match self.next_answer(code, body, out, answer)? {
            Some(progress) => Outcome::Progress(progress),
            None => match self.resume(out, answer)? {
                Some(progress) => Outcome::Progress(progress),
                None => Outcome::More,
            },
        })
    }

    /// Takes the answer to the oldest request.
    #[inline]
    fn next_answer(
        &mut self,
        code: u8,
        body: &[u8],
        out: &mut Vec<u8>,
        answer: &mut Answer,
    ) -> Result<Option<Progress>> {
        if matches!(self.phase, Phase::Pipeline { is_failed: true }) {
            self.session.in_flight.pop();
            return Ok(None);
        }
        let session = &mut self.session;
        if !session.answered(code, body, Moment::Request, out, answer)? {
            return Ok(None);
        }
        let is_ping = session.is_ping();
        session.in_flight.pop();
        Ok(match &mut self.phase {
            Phase::Pipeline { .. } if is_ping => None,
            Phase::Pipeline { is_failed } => {
                *is_failed = answer.error.is_some();
                Some(Progress::Answered)
            }
            Phase::LoadAsked => Some(match self.session.load.take() {
                Some(prepared) if answer.error.is_none() => {
                    self.phase = Phase::Load(Box::new(Load::new(prepared)));
                    Progress::BulkReady
                }
                _ => {
                    self.phase = Phase::Idle;
                    Progress::Ready
                }
            }),
            _ => {
                self.phase = Phase::Idle;
                Some(Progress::Ready)
            }
        })
    }

    /// Within a pipeline: takes answers that came before their turn, and says when there are no more.
    #[inline]
    pub(crate) fn resume(
        &mut self,
        out: &mut Vec<u8>,
        answer: &mut Answer,
    ) -> Result<Option<Progress>> {
        if !matches!(self.phase, Phase::Pipeline { .. }) {
            return Ok(None);
        }
        while let Some((code, body)) = self.session.in_flight.take_early() {
            if let Some(progress) = self.next_answer(code, &body, out, answer)? {
                return Ok(Some(progress));
            }
        }
        if self.session.in_flight.requests.is_empty() {
            self.phase = Phase::Idle;
            return Ok(Some(Progress::Ready));
        }
        Ok(None)
    }

    fn opening(
        &mut self,
        opening: Handshake,
        code: u8,
        body: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<Outcome> {
        match opening {
            Handshake::Silent => Err(unasked(code, body)),
            Handshake::OptionsAsked if code == opcode::SUPPORTED => {
                let session = &mut self.session;
                let version = handshake::choose(body, &mut session.settings)?;
                session.frame_writer.set_version(version.byte());
                handshake::start(session.settings.is_lz4, &mut session.frame_writer, out);
                self.phase = Phase::Handshake(Handshake::Starting);
                // Version 4 compresses even the answer to STARTUP, version 5 nothing before its end.
                Ok(match version {
                    Version::V4 => Outcome::Agreed {
                        is_framed: false,
                        is_lz4: session.settings.is_lz4,
                    },
                    Version::V5 => Outcome::More,
                })
            }
            Handshake::Preparing(index) => {
                let mut own_answer = std::mem::take(&mut self.own_answer);
                let moment = match index {
                    handshake::KEYSPACE => Moment::Connecting,
                    _ => Moment::Request,
                };
                let is_complete =
                    self.session
                        .answered(code, body, moment, out, &mut own_answer)?;
                if is_complete {
                    self.session.in_flight.pop();
                    self.own_answered(index, &own_answer)?;
                    return self.own_request(index + 1, out);
                }
                self.own_answer = own_answer;
                Ok(Outcome::More)
            }
            opening => {
                let step = handshake::step(opening, code, body)?;
                let (is_lz4, is_framed) = (
                    self.session.settings.is_lz4,
                    self.session.frame_writer.is_v5(),
                );
                if opening == Handshake::Starting {
                    self.session.frame_writer.agree(is_framed, is_lz4);
                }
                if step == Step::Started {
                    self.phase = Phase::Handshake(Handshake::Authenticating);
                    handshake::authenticate(&self.options, &mut self.session.frame_writer, out);
                } else {
                    let first = match self.options.database.is_empty() {
                        true => handshake::VERSION,
                        false => handshake::KEYSPACE,
                    };
                    self.own_request(first, out)?;
                }
                match opening {
                    Handshake::Starting => Ok(Outcome::Agreed { is_framed, is_lz4 }),
                    _ => Ok(Outcome::More),
                }
            }
        }
    }

    /// Sends the driver's own request of this index; the session is open where there are no more.
    fn own_request(&mut self, index: usize, out: &mut Vec<u8>) -> Result<Outcome> {
        let Some(text) = handshake::own_request(index, &self.options) else {
            self.phase = Phase::Idle;
            return Ok(Outcome::Progress(Progress::Ready));
        };
        let keep = match index {
            handshake::VERSION => Keep::Rows,
            _ => Keep::Count,
        };
        self.own_answer.clear(keep);
        self.session.query(&text, out)?;
        self.phase = Phase::Handshake(Handshake::Preparing(index));
        Ok(Outcome::More)
    }

    fn own_answered(&mut self, index: usize, answer: &Answer) -> Result<()> {
        if let Some(error) = &answer.error {
            let text = handshake::own_request(index, &self.options).unwrap_or_default();
            let message = match index {
                handshake::KEYSPACE => error.message.clone(),
                _ => format!("{} (in the session's own statement: {text})", error.message),
            };
            return Err(SystemError {
                message,
                ..error.clone()
            });
        }
        if index == handshake::VERSION {
            let cell = answer.kept.first().and_then(|row| row.first());
            let version = cell.and_then(Option::as_deref).unwrap_or_default();
            self.server_version = format!("Cassandra {}", String::from_utf8_lossy(version));
        }
        Ok(())
    }

    /// # Errors
    /// Where another request is under way.
    pub(crate) fn begin(&mut self) -> Result<()> {
        match self.phase {
            Phase::Idle => Ok(()),
            Phase::Queue => {
                self.session.in_flight.clear();
                self.phase = Phase::Idle;
                Ok(())
            }
            _ => Err(SystemError::refused(
                "a request before the session was ready for it",
            )),
        }
    }
}

/// The body behind what a server may put before it: the id of a trace, warnings, a payload of its own.
#[inline]
fn behind_extras<'a>(message: &Message<'a>) -> Option<&'a [u8]> {
    let mut scan = Scan(message.body);
    if message.flags & header_flag::TRACING != 0 {
        scan.take(16)?;
    }
    if message.flags & header_flag::WARNING != 0 {
        scan.strings()?;
    }
    if message.flags & header_flag::CUSTOM_PAYLOAD != 0 {
        for _ in 0..scan.u16_be()? {
            scan.short_bytes()?;
            scan.bytes()?;
        }
    }
    Some(scan.0)
}

/// A message that nothing asked for: a server that ends the session may say why.
#[cold]
fn unasked(code: u8, body: &[u8]) -> SystemError {
    match code {
        opcode::ERROR => refusal::read(body, Moment::Connecting).lost(),
        _ => SystemError::protocol("silence", format!("a message with opcode {code:#04x}")),
    }
}

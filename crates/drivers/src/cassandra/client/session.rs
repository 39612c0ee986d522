//! Takes the answers to the requests under way; fills the answer of each, and asks again where there are more
//! pages, or where the server has forgotten a statement.

use assay_values::{Piece, Value};

use crate::cassandra::client::bind::Bound;
use crate::cassandra::client::in_flight::{Ask, InFlight, Statement};
use crate::cassandra::client::rows::{Prepared, RowsHead};
use crate::cassandra::client::settings::Settings;
use crate::cassandra::client::{bind, rows, settings};
use crate::cassandra::cql_type::Column;
use crate::cassandra::frame_writer::FrameWriter;
use crate::cassandra::notation::{
    error_code, opcode, query_flag, result_kind, write_bytes, write_length, write_short_bytes,
};
use crate::cassandra::refusal;
use crate::cassandra::refusal::Moment;
use crate::request::ById;
use crate::scan::Scan;
use crate::{Answer, Result, SystemError};

pub(crate) struct Session {
    pub(crate) settings: Settings,
    pub(crate) frame_writer: FrameWriter,
    pub(crate) in_flight: InFlight,
    statements: ById<Statement>,
    /// The statement of the load that begins.
    pub(crate) load: Option<Prepared>,
    /// Columns of the last result of a text.
    columns: Vec<Column>,
    /// Memory to write numbers into.
    text: Vec<u8>,
}

/// Of a request's own statement, which no id of the engine is.
const OWN: u32 = u32::MAX;

impl Session {
    pub(crate) fn new(settings: Settings, frame_writer: FrameWriter) -> Self {
        Self {
            settings,
            frame_writer,
            in_flight: InFlight::default(),
            statements: ById::default(),
            load: None,
            columns: Vec::new(),
            text: Vec::new(),
        }
    }

    /// Sends a text, to be executed at once.
    pub(crate) fn query(&mut self, text: &str, out: &mut Vec<u8>) -> Result<()> {
        let start = self.in_flight.sent.len();
        let sent = &mut self.in_flight.sent;
        write_bytes(text.as_bytes(), sent);
        let is_v5 = self.frame_writer.is_v5();
        let flags_at =
            settings::write_parameters(&self.settings, is_v5, 0, sent, |_| Ok(()))? - start;
        self.in_flight.push(Ask::Text, start, flags_at);
        let place = self.in_flight.requests.len() - 1;
        self.send(place, None, out)
    }

    /// Prepares a statement under an id.
    pub(crate) fn prepare(&mut self, id: u32, pieces: &[Piece], out: &mut Vec<u8>) -> Result<()> {
        *self.statements.place(id) = None;
        let text = marked(pieces);
        let ask = Ask::Prepare { id, text };
        self.begin(ask, out)
    }

    /// Prepares a statement for one execution with these values.
    pub(crate) fn direct(
        &mut self,
        pieces: &[Piece],
        values: &[Value],
        out: &mut Vec<u8>,
    ) -> Result<()> {
        let text = marked(pieces);
        if values.is_empty() {
            return self.query(&text, out);
        }
        let values = values.into();
        self.begin(Ask::PrepareOwn { text, values }, out)
    }

    /// Prepares the statement of a load.
    pub(crate) fn prepare_load(&mut self, text: &str, out: &mut Vec<u8>) -> Result<()> {
        self.load = None;
        let text = text.into();
        self.begin(Ask::PrepareLoad { text }, out)
    }

    /// Anything that makes the server answer.
    pub(crate) fn ping(&mut self, out: &mut Vec<u8>) {
        let start = self.in_flight.sent.len();
        let stream = self.in_flight.push(Ask::Ping, start, 0);
        self.frame_writer.send(opcode::OPTIONS, stream, out, |_| {});
    }

    /// Sends a request that keeps nothing but what it asks for.
    fn begin(&mut self, ask: Ask, out: &mut Vec<u8>) -> Result<()> {
        let start = self.in_flight.sent.len();
        self.in_flight.push(ask, start, 0);
        let place = self.in_flight.requests.len() - 1;
        self.send(place, None, out)
    }

    #[inline]
    pub(crate) fn execute(&mut self, id: u32, values: &[Value], out: &mut Vec<u8>) -> Result<()> {
        let statement = self.statements.known(id)?;
        let is_v5 = self.frame_writer.is_v5();
        let sent = &mut self.in_flight.sent;
        let start = sent.len();
        let written = write_values(&self.settings, is_v5, &statement.prepared, values, sent);
        let flags_at = match written {
            Ok(flags_at) => flags_at - start,
            Err(error) => {
                sent.truncate(start);
                return Err(error);
            }
        };
        let is_again = false;
        self.in_flight
            .push(Ask::Execute { id, is_again }, start, flags_at);
        let place = self.in_flight.requests.len() - 1;
        self.send(place, None, out)
    }

    /// Sends what a request asks for now; it is forgotten if that cannot be expressed.
    #[inline]
    fn send(&mut self, place: usize, paging_state: Option<&[u8]>, out: &mut Vec<u8>) -> Result<()> {
        let request = &self.in_flight.requests[place];
        let written = &self.in_flight.sent[request.start..request.end];
        let (settings, flags_at, stream) = (&self.settings, request.flags_at, request.stream);
        let is_v5 = self.frame_writer.is_v5();
        let prepare = |text: &str, out: &mut Vec<u8>| {
            write_bytes(text.as_bytes(), out);
            if is_v5 {
                write_length(0, out); // flags: no keyspace of its own
            }
        };
        let statement = match request.ask {
            Ask::Execute { id: OWN, .. } | Ask::PrepareAgain { id: OWN } => request.own.as_deref(),
            Ask::Execute { id, .. } | Ask::PrepareAgain { id } => self.statements.get(id),
            _ => None,
        };
        let code = match request.ask {
            Ask::Ping => opcode::OPTIONS,
            Ask::Text => opcode::QUERY,
            Ask::Execute { .. } => opcode::EXECUTE,
            _ => opcode::PREPARE,
        };
        let sent = self.frame_writer.try_send(code, stream, out, |out| {
            match (&request.ask, statement) {
                (Ask::Execute { .. }, Some(statement)) => {
                    write_short_bytes(&statement.prepared.id, out);
                    if is_v5 {
                        write_short_bytes(&statement.prepared.rows_id, out);
                    }
                    settings::send_parameters(written, flags_at, paging_state, settings, out);
                }
                (Ask::PrepareAgain { .. }, Some(statement)) => prepare(&statement.text, out),
                (
                    Ask::Prepare { text, .. }
                    | Ask::PrepareOwn { text, .. }
                    | Ask::PrepareLoad { text },
                    _,
                ) => prepare(text, out),
                (Ask::Text, _) => {
                    settings::send_parameters(written, flags_at, paging_state, settings, out);
                }
                _ => {}
            }
            Ok(())
        });
        if sent.is_err() {
            let request = self.in_flight.requests.remove(place);
            let start = request.map_or(0, |request| request.start);
            self.in_flight.sent.truncate(start);
        }
        sent
    }

    /// Takes the answer to the oldest request; says whether it is complete.
    #[inline]
    pub(crate) fn answered(
        &mut self,
        code: u8,
        body: &[u8],
        moment: Moment,
        out: &mut Vec<u8>,
        answer: &mut Answer,
    ) -> Result<bool> {
        match code {
            opcode::RESULT => self.result(body, out, answer),
            opcode::ERROR => self.failed(body, moment, out, answer),
            opcode::SUPPORTED if matches!(self.oldest(), Some(Ask::Ping)) => Ok(true),
            other => Err(SystemError::protocol(
                "the answer to a request",
                format!("a message with opcode {other:#04x}"),
            )),
        }
    }

    /// Whether nothing but an answer was asked for.
    pub(crate) fn is_ping(&self) -> bool {
        matches!(self.oldest(), Some(Ask::Ping))
    }

    fn oldest(&self) -> Option<&Ask> {
        self.in_flight.requests.front().map(|request| &request.ask)
    }

    #[inline]
    fn result(&mut self, body: &[u8], out: &mut Vec<u8>, answer: &mut Answer) -> Result<bool> {
        let mut scan = Scan(body);
        let malformed = || SystemError::malformed("a result", body);
        match (scan.i32_be(), self.oldest()) {
            (
                Some(result_kind::VOID | result_kind::SET_KEYSPACE | result_kind::SCHEMA_CHANGE),
                Some(Ask::Text | Ask::Execute { .. }),
            ) => Ok(true),
            (Some(result_kind::ROWS), Some(Ask::Text | Ask::Execute { .. })) => {
                self.rows(body, scan, out, answer)
            }
            (
                Some(result_kind::PREPARED),
                Some(
                    Ask::Prepare { .. }
                    | Ask::PrepareAgain { .. }
                    | Ask::PrepareOwn { .. }
                    | Ask::PrepareLoad { .. },
                ),
            ) => {
                let prepared =
                    Prepared::read(scan, self.frame_writer.is_v5()).ok_or_else(malformed)?;
                self.prepared(prepared, out, answer)
            }
            _ => Err(malformed()),
        }
    }

    #[inline]
    fn rows(
        &mut self,
        body: &[u8],
        mut scan: Scan<'_>,
        out: &mut Vec<u8>,
        answer: &mut Answer,
    ) -> Result<bool> {
        let malformed = || SystemError::malformed("rows", body);
        let request = self.in_flight.requests.front_mut().ok_or_else(malformed)?;
        let statement = match (&request.ask, &mut request.own) {
            (Ask::Execute { id: OWN, .. }, own) => own.as_deref_mut(),
            (Ask::Execute { id, .. }, _) => self.statements.get_mut(*id),
            _ => None,
        };
        let prepared = statement.map(|statement| &mut statement.prepared);
        let (columns, rows_id) = match prepared {
            Some(prepared) => (&mut prepared.columns, Some(&mut prepared.rows_id)),
            None => (&mut self.columns, None),
        };
        let head = RowsHead::read(&mut scan, columns).ok_or_else(malformed)?;
        if let (Some(new_id), Some(rows_id)) = (head.new_id, rows_id) {
            *rows_id = new_id.into();
        }
        rows::name_columns(columns, answer);
        rows::read(scan, &head, columns, &mut self.text, answer).ok_or_else(malformed)?;
        match head.paging_state {
            Some(state) => self.send(0, Some(state), out).map(|()| false),
            None => Ok(true),
        }
    }

    fn prepared(
        &mut self,
        prepared: Prepared,
        out: &mut Vec<u8>,
        answer: &mut Answer,
    ) -> Result<bool> {
        let Some(request) = self.in_flight.requests.front_mut() else {
            return Ok(true);
        };
        let nothing = Ask::Ping;
        match std::mem::replace(&mut request.ask, nothing) {
            Ask::Prepare { id, text } => {
                *self.statements.place(id) = Some(Statement { text, prepared });
                return Ok(true);
            }
            Ask::PrepareLoad { .. } => {
                self.load = Some(prepared);
                return Ok(true);
            }
            Ask::PrepareOwn { text, values } => {
                request.ask = Ask::Execute {
                    id: OWN,
                    is_again: false,
                };
                let (settings, is_v5) = (&self.settings, self.frame_writer.is_v5());
                let mut written = Vec::new();
                match write_values(settings, is_v5, &prepared, &values, &mut written) {
                    Ok(flags_at) => request.flags_at = flags_at,
                    Err(error) => {
                        answer.error = Some(error);
                        return Ok(true);
                    }
                }
                // Behind those of the requests that were sent meanwhile.
                request.start = self.in_flight.sent.len();
                self.in_flight.sent.extend_from_slice(&written);
                request.end = self.in_flight.sent.len();
                request.own = Some(Box::new(Statement { text, prepared }));
            }
            Ask::PrepareAgain { id } => {
                request.ask = Ask::Execute { id, is_again: true };
                let old = match id {
                    OWN => request.own.as_deref_mut(),
                    id => self.statements.get_mut(id),
                };
                let Some(old) = old else {
                    return Ok(true);
                };
                let is_same = old.prepared.parameters == prepared.parameters;
                old.prepared = prepared;
                if !is_same {
                    let message =
                        "the types of the statement's values changed while it was executed";
                    answer.error = Some(SystemError::refused(message));
                    return Ok(true);
                }
            }
            other => request.ask = other,
        }
        self.send(0, None, out).map(|()| false)
    }

    fn failed(
        &mut self,
        body: &[u8],
        moment: Moment,
        out: &mut Vec<u8>,
        answer: &mut Answer,
    ) -> Result<bool> {
        if refusal::code_of(body) == Some(error_code::UNPREPARED)
            && let Some(request) = self.in_flight.requests.front_mut()
            && let Ask::Execute {
                id,
                is_again: false,
            } = request.ask
        {
            request.ask = Ask::PrepareAgain { id };
            return self.send(0, None, out).map(|()| false);
        }
        answer.error = Some(refusal::read(body, moment).of_statement()?);
        Ok(true)
    }
}

/// Appends the parameters of an execution. The server leaves the description of the rows out where it would see
/// that the client's is old.
#[inline]
fn write_values(
    settings: &Settings,
    is_v5: bool,
    prepared: &Prepared,
    values: &[Value],
    out: &mut Vec<u8>,
) -> Result<usize> {
    let mut flags = query_flag::VALUES;
    if is_v5 && !prepared.columns.is_empty() {
        flags |= query_flag::SKIP_METADATA;
    }
    settings::write_parameters(settings, is_v5, flags, out, |out| {
        bind::write_all(&prepared.parameters, values.iter().map(Bound::from), out)
    })
}

/// A statement with a question mark for each value.
fn marked(pieces: &[Piece]) -> Box<str> {
    Piece::join(pieces, |_, text| text.push('?')).into()
}

//! Takes the rows of a load; sends them as documents, many in one `insert`, and counts those that the server has
//! stored. The next insert is put together, and sent, while the server works on the last.

use std::collections::VecDeque;
use std::ops::ControlFlow;

use assay_values::{ColumnType, Piece, Row};

use crate::mongodb::client::command::{Command, CommandKind, LOAD_FIELDS, WriteExtent};
use crate::mongodb::client::extended::Json;
use crate::mongodb::client::reply::Reply;
use crate::mongodb::client::session::Session;
use crate::mongodb::client::{bind, extended, reply};
use crate::mongodb::{message, write};
use crate::{Answer, ErrorClass, Result, SystemError};

/// Documents of one insert: larger ones gain nothing.
const BATCH_BYTES: usize = 256 * 1024;
/// Room for the command around the documents.
const COMMAND_BYTES: usize = 16 * 1024;
/// Inserts that are sent before the first of them is answered.
const WINDOW: usize = 2;

pub(crate) struct Load {
    command: Command,
    names: Vec<Box<[u8]>>,
    types: Vec<ColumnType>,
    /// The documents of the next insert.
    batch: Vec<u8>,
    batch_rows: usize,
    /// The inserts that are not answered yet, by the ids of their messages.
    unanswered: VecDeque<i32>,
    stored: u64,
    error: Option<SystemError>,
    is_over: bool,
}

impl Load {
    /// Begins a load by `{"insert": "table", "fields": ["name", …]}`; whatever else the command has is sent with
    /// each insert.
    ///
    /// # Errors
    /// Where the text is another command, or does not name the fields.
    pub(crate) fn new(text: &str, types: &[ColumnType]) -> Result<Self> {
        let mut fields = extended::read_command(&[Piece::Text(text.into())])?;
        let place = fields.iter().position(|(name, _)| &**name == LOAD_FIELDS);
        let names = match place.map(|place| fields.remove(place).1) {
            Some(Json::Array(names)) => names.into_iter().map(field_name).collect(),
            _ => None,
        };
        let is_insert = fields.first().is_some_and(|(name, _)| &**name == "insert");
        let Some(names) = names.filter(|_| is_insert) else {
            let message =
                "expected a bulk load as {\"insert\": \"table\", \"fields\": [\"name\", …]}";
            return Err(SystemError::new(ErrorClass::Syntax, "", message));
        };
        Ok(Self {
            command: Command::of_fields(&fields)?,
            names,
            types: types.to_vec(),
            batch: Vec::new(),
            batch_rows: 0,
            unanswered: VecDeque::new(),
            stored: 0,
            error: None,
            is_over: false,
        })
    }

    pub(crate) fn is_full(&self) -> bool {
        self.unanswered.len() >= WINDOW
    }

    #[inline]
    pub(crate) fn row(
        &mut self,
        row: &Row,
        session: &mut Session,
        out: &mut Vec<u8>,
    ) -> ControlFlow<()> {
        if self.error.is_some() {
            return ControlFlow::Continue(());
        }
        match self.add(row, session, out) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                self.error = Some(error);
                self.end(None, session, out);
                ControlFlow::Break(())
            }
        }
    }

    #[inline]
    fn add(&mut self, row: &Row, session: &mut Session, out: &mut Vec<u8>) -> Result<()> {
        if row.len() != self.names.len() {
            return Err(wrong_count(self.names.len(), row.len()));
        }
        let start = self.batch.len();
        let (names, types, batch) = (&self.names, &self.types, &mut self.batch);
        let place = write::begin(batch);
        for (number, cell) in row.cells().enumerate() {
            let column_type = types.get(number).copied();
            bind::cell(&names[number], cell, column_type, batch)
                .ok_or_else(|| mismatch(&names[number], cell, column_type))?;
        }
        write::end(place, batch);
        // A document that would make the message too long goes into the next.
        let most = session.max_message_bytes - COMMAND_BYTES;
        if self.batch.len() > most && start > 0 {
            let last = self.batch.split_off(start);
            self.send(session, out)?;
            self.batch = last;
        }
        self.batch_rows += 1;
        if self.batch.len() >= BATCH_BYTES || self.batch_rows >= session.max_batch_rows {
            self.send(session, out)?;
        }
        Ok(())
    }

    /// Sends the documents that were collected.
    fn send(&mut self, session: &mut Session, out: &mut Vec<u8>) -> Result<()> {
        let start = session.begin_message(0, out);
        self.command.write(&[], &mut Vec::new(), out)?;
        session.envelope(
            CommandKind::Write(WriteExtent::SeveralStatements),
            self.command.has,
            out,
        );
        message::end_body(start, out);
        message::add_documents("documents", &self.batch, out);
        session.end_message(start, out)?;
        self.unanswered.push_back(session.last_request);
        self.batch.clear();
        self.batch_rows = 0;
        Ok(())
    }

    /// No more rows come.
    pub(crate) fn end(&mut self, abort: Option<&str>, session: &mut Session, out: &mut Vec<u8>) {
        if let Some(reason) = abort
            && self.error.is_none()
        {
            let message = format!("the load was given up: {reason}");
            self.error = Some(SystemError::refused(&message));
        }
        self.is_over = true;
        if self.error.is_none()
            && self.batch_rows > 0
            && let Err(error) = self.send(session, out)
        {
            self.error = Some(error);
        }
        // The caller waits for an answer.
        if self.unanswered.is_empty() {
            ping(session, out);
            self.unanswered.push_back(session.last_request);
        }
    }

    /// Takes the answer to an insert; says whether the load is over, and then the answer is filled.
    pub(crate) fn message(
        &mut self,
        response_to: i32,
        document: &[u8],
        session: &mut Session,
        answer: &mut Answer,
    ) -> Result<bool> {
        if self.unanswered.pop_front() != Some(response_to) {
            return Err(SystemError::protocol(
                "the answer to an insert",
                format_args!("an answer to request {response_to}"),
            ));
        }
        let reply = Reply::read(document).map_err(|_| reply::malformed(document))?;
        self.stored += u64::try_from(reply.count.unwrap_or(0)).unwrap_or(0);
        let moment = session.moment(CommandKind::Write(WriteExtent::SeveralStatements));
        if let Some(error) = reply::error_of(&reply, moment) {
            session.failed();
            self.error.get_or_insert(error.of_statement()?);
        }
        let is_complete = self.unanswered.is_empty() && (self.is_over || self.error.is_some());
        if is_complete {
            answer.affected = self.stored;
            answer.error = self.error.take();
        }
        Ok(is_complete)
    }
}

/// Anything that makes the server answer.
pub(crate) fn ping(session: &mut Session, out: &mut Vec<u8>) {
    session.send_to_admin("admin", 0, out, |out| {
        write::int32_element("ping", 1, out);
    });
}

fn field_name(name: Json) -> Option<Box<[u8]>> {
    match name {
        Json::Text(name) if !name.contains('\0') => Some(name.as_bytes().into()),
        _ => None,
    }
}

#[cold]
fn wrong_count(expected: usize, found: usize) -> SystemError {
    let message = format!("the load has {expected} fields, the row has {found} cells");
    SystemError::new(ErrorClass::Data, "", message)
}

#[cold]
fn mismatch(
    name: &[u8],
    cell: assay_values::Cell<'_>,
    column_type: Option<ColumnType>,
) -> SystemError {
    const MAX_SHOWN: usize = 60;
    let expected = column_type.map_or_else(|| "text as UTF-8".to_owned(), |kind| kind.to_string());
    let mut text = Vec::new();
    cell.write_text(&mut text);
    let shown: String = String::from_utf8_lossy(&text)
        .chars()
        .take(MAX_SHOWN)
        .collect();
    let name = String::from_utf8_lossy(name);
    let message = format!("field {name}: expected {expected}, found {shown:?}");
    SystemError::new(ErrorClass::Data, "", message)
}

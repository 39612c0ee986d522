//! Takes the messages that answer one request; fills the answer, and reports when the next request may be
//! sent.
//!
//! Every request ends in ReadyForQuery, also after an error: the server skips the rest of the request. A
//! pipeline is one such exchange with several answers.

use std::sync::Arc;

use assay_values::{BracedElement, ColumnType};

use crate::postgresql::client::parameter::ParameterType;
use crate::postgresql::client::refusal::Refusal;
use crate::postgresql::client::rows::{Column, CommandTag};
use crate::postgresql::client::statement::Statement;
use crate::postgresql::client::{refusal, rows};
use crate::postgresql::message::{Fields, Message, copy_fail, tag};
use crate::request::ById;
use crate::{Answer, ErrorClass, Progress, Result, SystemError, TransactionStatus};

/// A request that was sent and is not answered yet. It holds plain numbers only, since one is made for
/// every statement.
#[derive(Clone, Copy)]
pub(crate) struct Exchange {
    pub sent: Sent,
    /// The server reported that the statement is complete (or that the text was empty).
    pub(crate) is_complete: bool,
    /// The server sends COPY data: they count as returned rows, not as changed rows.
    pub(crate) copies_out: bool,
    /// The server requested rows, as a bulk load expects.
    pub(crate) took_rows: bool,
    /// The answer has arrays, in the columns of `SessionState::elements`.
    pub(crate) has_arrays: bool,
}

#[derive(Clone, Copy)]
pub(crate) enum Sent {
    Text,
    Prepare {
        id: u32,
    },
    Execute {
        id: u32,
        /// How the answer begins.
        tag: CommandTag,
        /// Whether the statement is known to return rows.
        has_columns: bool,
    },
    /// Parsed, bound and executed in one exchange.
    Direct,
    Bulk,
    Pipeline {
        /// Answers not received yet.
        owed: usize,
    },
}

impl Exchange {
    pub fn new(sent: Sent) -> Self {
        Self {
            sent,
            is_complete: false,
            copies_out: false,
            took_rows: false,
            has_arrays: false,
        }
    }

    /// Skips the messages of a common answer that has no rows, or whose rows are only counted. Returns their
    /// length in bytes, and whether the answer is complete; other messages, and an incomplete one, are left
    /// to [`Exchange::read`].
    #[inline]
    pub fn skim(&mut self, input: &[u8], answer: &mut Answer) -> (usize, bool) {
        let wants_rows = answer.wants_cells();
        let expected = match self.sent {
            Sent::Execute { has_columns, .. } if has_columns && wants_rows => return (0, false),
            Sent::Execute { tag, .. } => tag,
            Sent::Direct | Sent::Text => CommandTag::ANY,
            Sent::Prepare { .. } | Sent::Bulk | Sent::Pipeline { .. } => return (0, false),
        };
        let mut at = 0;
        while let Some(&[tag, a, b, c, d]) = input[at..].first_chunk() {
            let length = u32::from_be_bytes([a, b, c, d]) as usize;
            let Some(body) = input.get(at + 5..at + 1 + length) else {
                break;
            };
            match tag {
                tag::DATA_ROW | tag::ROW_DESCRIPTION if wants_rows => break,
                tag::DATA_ROW => answer.pass_row(),
                // Column names are not needed where cells are not.
                tag::BIND_COMPLETE | tag::ROW_DESCRIPTION | tag::NO_DATA => {}
                tag::PARSE_COMPLETE if matches!(self.sent, Sent::Direct) => {}
                tag::COMMAND_COMPLETE if !self.copies_out && expected.is_of(body) => {
                    self.is_complete = true;
                    answer.affected = answer.affected.saturating_add(rows::affected(body));
                    rows::note_end(body, answer);
                }
                tag::READY if self.is_complete && answer.error.is_none() => {
                    answer.transaction = transaction(body);
                    return (at + 1 + length, true);
                }
                _ => break,
            }
            at += 1 + length;
        }
        (at, false)
    }

    /// Reads one message; returns `None` if more messages follow.
    ///
    /// # Errors
    /// Where the session has ended, or the message is not valid in this state.
    #[inline]
    pub fn read(
        &mut self,
        message: Message<'_>,
        kept: &mut SessionState,
        out: &mut Vec<u8>,
        answer: &mut Answer,
    ) -> Result<Option<Progress>> {
        match message.tag {
            tag::DATA_ROW if self.has_arrays => {
                rows::row_with_arrays(message.body, &kept.elements, answer)?;
            }
            tag::DATA_ROW => rows::row(message.body, answer)?,
            tag::BIND_COMPLETE => {
                if answer.wants_columns() {
                    self.name_columns(kept, answer);
                }
            }
            tag::COMMAND_COMPLETE => {
                self.is_complete = true;
                self.check_tag(message.body, kept, answer)?;
                if !self.copies_out {
                    answer.affected = answer.affected.saturating_add(rows::affected(message.body));
                    rows::note_end(message.body, answer);
                }
                // Of several statements in one text, the next may be of another kind.
                self.copies_out = false;
                return self.one_answered();
            }
            tag::READY => return self.end(message.body, kept, answer).map(Some),
            _ => return self.read_rare(message, kept, out, answer),
        }
        Ok(None)
    }

    /// Notes that the answer is that of another statement. In a pipeline its session must end: which of the
    /// answers that follow belongs to which statement is not known.
    #[inline]
    fn check_tag(&self, tag: &[u8], kept: &SessionState, answer: &mut Answer) -> Result<()> {
        let expected = match self.sent {
            Sent::Execute { tag, .. } => tag,
            Sent::Pipeline { .. } => self
                .statement(kept)
                .map_or(CommandTag::ANY, |statement| statement.tag),
            _ => return Ok(()),
        };
        if !expected.is_of(tag) {
            let error = expected.refuse(tag);
            if let Sent::Pipeline { .. } = self.sent {
                return Err(error);
            }
            answer.error.get_or_insert(error);
        }
        Ok(())
    }

    /// A statement is complete: in a pipeline that is an answer.
    #[inline]
    pub(crate) fn one_answered(&mut self) -> Result<Option<Progress>> {
        let Sent::Pipeline { owed } = &mut self.sent else {
            return Ok(None);
        };
        self.has_arrays = false;
        *owed = owed
            .checked_sub(1)
            .ok_or_else(|| SystemError::protocol("the end of the pipeline", "another answer"))?;
        Ok(Some(Progress::Answered))
    }

    /// The prepared statement whose execution is being answered.
    pub(crate) fn statement<'a>(&self, kept: &'a SessionState) -> Option<&'a Statement> {
        let id = match self.sent {
            Sent::Execute { id, .. } => id,
            Sent::Pipeline { owed } => {
                let number = kept.pipeline.len().checked_sub(owed)?;
                (*kept.pipeline.get(number)?)?
            }
            _ => return None,
        };
        kept.statements.get(id).map(Arc::as_ref)
    }

    #[cold]
    fn name_columns(&mut self, kept: &mut SessionState, answer: &mut Answer) {
        let mut elements = std::mem::take(&mut kept.elements);
        elements.clear();
        for column in self
            .statement(kept)
            .iter()
            .flat_map(|statement| &statement.columns)
        {
            answer.typed_column(&column.name, column.cell_type);
            elements.push(column.elements);
        }
        kept.elements = elements;
        self.has_arrays = kept.elements.iter().any(Option::is_some);
    }
}

/// The state of the session's transaction in ReadyForQuery.
#[inline]
pub(crate) fn transaction(status: &[u8]) -> TransactionStatus {
    match status.first() {
        Some(b'I') => TransactionStatus::None,
        Some(b'T') => TransactionStatus::Open,
        Some(b'E') => TransactionStatus::Failed,
        _ => TransactionStatus::Unknown,
    }
}

/// Reads a message outside a request; an error ends the session.
pub(crate) fn while_idle(message: Message<'_>) -> Result<()> {
    match message.tag {
        tag::NOTICE | tag::NOTIFICATION | tag::PARAMETER_STATUS => Ok(()),
        tag::ERROR => Err(refusal::read(message.body)?.error.lost()),
        _ => Err(message.unexpected("no message before the next request")),
    }
}

impl Exchange {
    /// Reads a message that a common execution does not have.
    #[cold]
    pub(crate) fn read_rare(
        &mut self,
        message: Message<'_>,
        kept: &mut SessionState,
        out: &mut Vec<u8>,
        answer: &mut Answer,
    ) -> Result<Option<Progress>> {
        match message.tag {
            tag::ERROR => {
                kept.undeclare();
                let refusal = refusal::read(message.body)?;
                answer.is_unprepared |= refusal.is_unprepared && self.statement(kept).is_some();
                let error = of_statement(refusal)?;
                let error = match kept.gave_up.take() {
                    Some(reason) if error.class == ErrorClass::Timeout => SystemError {
                        code: error.code,
                        ..reason
                    },
                    _ => error,
                };
                answer.error.get_or_insert(error);
                if let Sent::Pipeline { owed } = &mut self.sent
                    && *owed > 0
                {
                    *owed = 0; // the server skips the rest
                    return Ok(Some(Progress::Answered));
                }
            }
            tag::EMPTY_QUERY => {
                self.is_complete = true;
                return self.one_answered();
            }
            tag::ROW_DESCRIPTION => match self.sent {
                Sent::Prepare { .. } => {
                    let columns = &mut kept.description.columns;
                    rows::columns(message.body, |column| columns.push(column))?;
                }
                _ if answer.wants_columns() => {
                    // With several result sets, the columns are those of the last.
                    answer.forget_columns();
                    kept.elements.clear();
                    rows::columns(message.body, |column| {
                        answer.typed_column(&column.name, column.cell_type);
                        kept.elements.push(column.elements);
                    })?;
                    self.has_arrays = kept.elements.iter().any(Option::is_some);
                }
                _ => {}
            },
            tag::PARAMETER_DESCRIPTION => {
                if let Sent::Prepare { .. } = self.sent {
                    kept.description.types = parameter_types(message.body)?;
                }
            }
            tag::COPY_IN => return self.copy_in(message.body, kept, out),
            tag::COPY_OUT => self.copies_out = true,
            tag::COPY_DATA if self.copies_out => answer.pass_row(),
            tag::PARSE_COMPLETE => {
                // In a pipeline a text is parsed as well, and declares no types.
                if self.statement(kept).is_some() && !kept.declaring.is_empty() {
                    kept.declaring.remove(0);
                }
            }
            tag::COPY_DONE
            | tag::CLOSE_COMPLETE
            | tag::NO_DATA
            | tag::NOTICE
            | tag::NOTIFICATION
            | tag::PARAMETER_STATUS => {}
            _ => return Err(message.unexpected("the answer to a statement")),
        }
        Ok(None)
    }

    /// The server requests rows. Only a bulk load sends them, and only in the format it requested.
    fn copy_in(
        &mut self,
        body: &[u8],
        kept: &mut SessionState,
        out: &mut Vec<u8>,
    ) -> Result<Option<Progress>> {
        let is_text = Fields(body).byte()? == 0;
        if let Sent::Pipeline { .. } = self.sent {
            // The rest of the pipeline has been sent already, and would be read as rows.
            return Err(SystemError::protocol(
                "the answer to a statement in a pipeline",
                "a request for rows (COPY … FROM STDIN)",
            ));
        }
        let reason = match self.sent {
            Sent::Bulk if is_text == kept.bulk_types.is_empty() => {
                self.took_rows = true;
                return Ok(Some(Progress::BulkReady));
            }
            Sent::Bulk => "rows are sent in the text format of COPY",
            _ => "COPY … FROM STDIN is for bulk loads only",
        };
        copy_fail(reason, out);
        kept.gave_up = Some(SystemError::new(ErrorClass::Other, "", reason));
        if matches!(self.sent, Sent::Execute { .. } | Sent::Direct) {
            // The server dropped the Sync of the execution as part of the rows.
            out.extend_from_slice(b"S\0\0\0\x04");
        }
        Ok(None)
    }

    pub(crate) fn end(
        &mut self,
        status: &[u8],
        kept: &mut SessionState,
        answer: &mut Answer,
    ) -> Result<Progress> {
        answer.transaction = transaction(status);
        if let Some(error) = &answer.error {
            // Only outside a transaction: otherwise the error has aborted it.
            if let Sent::Prepare { id } = self.sent
                && kept.description.count > 0
                && refusal::is_of_types(&error.code)
                && status == b"I"
            {
                let Description { text, count, .. } = std::mem::take(&mut kept.description);
                let statement = Statement::unknown(id, text, count)?;
                *kept.statements.place(id) = Some(statement.shared());
                answer.error = None;
            }
            return Ok(Progress::Ready);
        }
        match self.sent {
            Sent::Prepare { id } => {
                let described = std::mem::take(&mut kept.description);
                let statement =
                    Statement::new(id, described.text, described.types, described.columns)?;
                *kept.statements.place(id) = Some(statement.shared());
            }
            Sent::Pipeline { owed: 0 } => {}
            Sent::Pipeline { owed } => {
                let found = format_args!("the end of the pipeline");
                return Err(SystemError::protocol(
                    &format!("{owed} further answers"),
                    found,
                ));
            }
            _ if !self.is_complete => {
                return Err(SystemError::protocol(
                    "the end of a statement",
                    "ReadyForQuery before it",
                ));
            }
            Sent::Bulk if !self.took_rows => {
                let message =
                    "expected COPY … FROM STDIN, found a statement that does not request rows";
                answer.error = Some(SystemError::new(ErrorClass::Other, "", message));
            }
            _ => {}
        }
        Ok(Progress::Ready)
    }
}

fn parameter_types(body: &[u8]) -> Result<Box<[ParameterType]>> {
    let mut fields = Fields(body);
    let count = fields.count()?;
    (0..count)
        .map(|_| Ok(ParameterType::from_oid(fields.int32()?.cast_unsigned())))
        .collect()
}

/// The error of a statement; `Err` if it ends the session.
fn of_statement(refusal: Refusal) -> Result<SystemError> {
    let Refusal {
        mut error,
        is_fatal,
        ..
    } = refusal;
    match (is_fatal, error.class.ends_the_session()) {
        (true, true) => Err(error),
        (true, false) => Err(error.lost()),
        // The server lost another server (of a foreign table); this session continues.
        (false, true) => {
            error.class = ErrorClass::Other;
            Ok(error)
        }
        (false, false) => Ok(error),
    }
}

/// The statement that is being prepared, and the server's description of it so far.
#[derive(Default)]
pub(crate) struct Description {
    pub text: Box<str>,
    /// Number of parameters in the text.
    pub count: usize,
    pub types: Box<[ParameterType]>,
    pub columns: Vec<Column>,
}

impl Description {
    /// A description without types and columns yet.
    pub fn of(text: String, count: usize) -> Self {
        Self {
            text: text.into(),
            count,
            ..Self::default()
        }
    }
}

/// State of a session; the names and the statements first, of which every execution needs one.
#[derive(Default)]
#[repr(C)]
pub(crate) struct SessionState {
    pub names: crate::postgresql::client::statement::Names,
    pub statements: ById<Arc<Statement>>,
    pub description: Description,
    /// The current pipeline: the prepared statement of each request, `None` where it was sent as text.
    pub pipeline: Vec<Option<u32>>,
    /// The text statements of the pipeline that is being written, if any.
    pub batched_send: crate::postgresql::client::direct::BatchedSend,
    /// The statements whose types were declared again, in the order of the server's answers.
    pub declaring: Vec<u32>,
    /// Column types of the bulk load, if its rows are sent in binary; empty: as text.
    pub bulk_types: Box<[ColumnType]>,
    /// The same, if they are sent as text.
    pub bulk_text_types: Box<[ColumnType]>,
    /// Of each column of the last answer whose columns were named, if it holds arrays.
    pub elements: Vec<Option<BracedElement>>,
    /// Why the load was aborted: the server reports that as a cancelled query.
    pub gave_up: Option<SystemError>,
}

impl SessionState {
    /// Declarations that the server has not confirmed did not take effect.
    #[cold]
    pub fn undeclare(&mut self) {
        for id in self.declaring.drain(..) {
            if let Some(statement) = self.statements.get_mut(id) {
                *statement = statement.undeclared().shared();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::postgresql::PostgresqlWire;
    use crate::{Answer, ConnectOptions, Keep, Progress, Request, TransactionStatus, Wire as _};
    use assay_values::Piece;

    fn message(tag: u8, body: &[u8]) -> Vec<u8> {
        let length = u32::try_from(body.len() + 4).expect("it is short");
        [&[tag], &length.to_be_bytes()[..], body].concat()
    }

    fn session() -> PostgresqlWire {
        let mut wire = PostgresqlWire::new(ConnectOptions::default());
        wire.connected(&mut Vec::new());
        let login = [message(b'R', &[0; 4]), message(b'Z', b"I")].concat();
        answered(&mut wire, &login);
        wire
    }

    fn answered(wire: &mut PostgresqlWire, bytes: &[u8]) -> Answer {
        let mut answer = Answer::new(Keep::Count);
        let received = wire.receive(bytes, &mut Vec::new(), &mut answer);
        assert_eq!(received, Ok((bytes.len(), Progress::Ready)));
        answer
    }

    /// A text of several statements, each of which is answered by one of these.
    fn text(parts: &[&[u8]], status: u8) -> Answer {
        let mut wire = session();
        (wire.request(&Request::Text("…"), &mut Vec::new())).expect("it is short");
        answered(
            &mut wire,
            &[&parts.concat()[..], &message(b'Z', &[status])].concat(),
        )
    }

    #[test]
    fn rows_that_are_copied_out_are_not_those_that_the_next_statement_changes() {
        let copied = [
            message(b'H', &[0, 0, 1, 0, 0]),
            message(b'd', b"1\n"),
            message(b'd', b"2\n"),
            message(b'c', &[]),
            message(b'C', b"COPY 2\0"),
        ]
        .concat();
        let answer = text(&[&copied, &message(b'C', b"UPDATE 3\0")], b'I');
        assert_eq!((answer.rows, answer.affected), (2, 3));
    }

    #[test]
    fn the_tags_show_what_ended_in_the_midst_of_an_answer() {
        let tag = |text: &[u8]| message(b'C', text);
        let answer = text(&[&tag(b"COMMIT\0"), &tag(b"BEGIN\0")], b'T');
        assert!(answer.has_committed && !answer.has_rolled_back);
        assert_eq!(answer.transaction, TransactionStatus::Open);
        let answer = text(&[&tag(b"ROLLBACK\0")], b'I');
        assert!(answer.has_rolled_back && !answer.has_committed);
        let answer = text(&[&tag(b"CREATE TABLE\0"), &tag(b"CALL\0")], b'I');
        assert!(!answer.has_rolled_back && !answer.has_committed);
    }

    #[test]
    fn a_statement_whose_result_changed_must_be_prepared_again() {
        let error = |code: &str, routine: &str| {
            let body = format!("SERROR\0VERROR\0C{code}\0Mchanged\0R{routine}\0\0");
            [message(b'E', body.as_bytes()), message(b'Z', b"I")].concat()
        };
        let prepared =
            [message(b'1', &[]), message(b't', &[0, 0]), message(b'n', &[]), message(b'Z', b"I")]
                .concat();
        for (code, routine, expected) in [
            ("0A000", "RevalidateCachedQuery", true),
            ("0A000", "transformSelect", false),
            ("26000", "FetchPreparedStatement", true),
            ("40001", "", false),
        ] {
            let mut wire = session();
            let pieces = [Piece::Text("UPDATE t SET a = 1".into())];
            let prepare = Request::Prepare {
                id: 0,
                pieces: &pieces,
            };
            wire.request(&prepare, &mut Vec::new())
                .expect("it is short");
            assert!(!answered(&mut wire, &prepared).is_unprepared);
            let execute = Request::Execute {
                id: 0,
                parameters: &[],
            };
            wire.request(&execute, &mut Vec::new())
                .expect("it is prepared");
            let answer = answered(&mut wire, &error(code, routine));
            assert_eq!(answer.is_unprepared, expected, "{code} {routine}");
            assert!(answer.error.is_some());
        }
    }
}

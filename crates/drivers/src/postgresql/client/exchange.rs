//! Takes the messages that answer one request; fills the answer, and reports when the next request may be
//! sent.
//!
//! Every request ends in ReadyForQuery, also after an error: the server skips the rest of the request. A
//! pipeline is one such exchange with several answers.

use crate::postgresql::client::command_tag::CommandTag;
use crate::postgresql::client::session_state::SessionState;
use crate::postgresql::client::statement::Statement;
use crate::postgresql::client::{command_tag, refusal, rows};
use crate::postgresql::message::{Message, tag};
use crate::{Answer, Progress, SystemError, TransactionStatus};

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
                    command_tag::note_end(body, answer);
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
    ) -> Result<Option<Progress>, SystemError> {
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
                    command_tag::note_end(message.body, answer);
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
    fn check_tag(
        &self,
        tag: &[u8],
        kept: &SessionState,
        answer: &mut Answer,
    ) -> Result<(), SystemError> {
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
    pub(crate) fn one_answered(&mut self) -> Result<Option<Progress>, SystemError> {
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
        kept.statements.get(id as usize)?.as_deref()
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
pub(crate) fn while_idle(message: Message<'_>) -> Result<(), SystemError> {
    match message.tag {
        tag::NOTICE | tag::NOTIFICATION | tag::PARAMETER_STATUS => Ok(()),
        tag::ERROR => Err(refusal::read(message.body)?.error.lost()),
        _ => Err(message.unexpected("no message before the next request")),
    }
}

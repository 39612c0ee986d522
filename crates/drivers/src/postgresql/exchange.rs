//! Takes the messages that answer one request; fills the answer, and says when the next may come.
//!
//! Every request ends in ReadyForQuery, also after an error: the server skips what was still to do. A
//! pipeline is one such exchange with several answers.

use super::kept::Kept;
use super::message::{Message, tag};
use super::refusal;
use super::rows;
use super::statement::Statement;
use crate::{Answer, Progress, SystemError, TransactionStatus};

/// A request that was sent and is not yet answered. Plain numbers: one begins and ends with every
/// statement, and has nothing to give back.
#[derive(Clone, Copy)]
pub(super) struct Exchange {
    pub asked: Asked,
    /// The server said that the statement is done (or that there was none).
    pub(super) is_complete: bool,
    /// The data are on their way from the server: they count as rows, not as changed ones.
    pub(super) copies_out: bool,
    /// The server waited for rows, as a bulk load expects.
    pub(super) took_rows: bool,
}

#[derive(Clone, Copy)]
pub(super) enum Asked {
    Text,
    Prepare {
        id: u32,
    },
    Execute {
        id: u32,
    },
    /// Parsed, bound and executed in one go.
    Direct,
    Bulk,
    Pipeline {
        /// Answers still to come.
        owed: usize,
    },
}

impl Exchange {
    pub fn new(asked: Asked) -> Self {
        Self {
            asked,
            is_complete: false,
            copies_out: false,
            took_rows: false,
        }
    }

    /// Passes over the messages of a usual answer whose rows are only counted. Gives how many bytes they
    /// had, and whether the answer is complete; any other message, and one whose end is missing, is
    /// left for [`Exchange::read`].
    #[inline]
    pub fn skim(&mut self, input: &[u8], answer: &mut Answer) -> (usize, bool) {
        let mut at = 0;
        if answer.wants_cells()
            || !matches!(
                self.asked,
                Asked::Execute { .. } | Asked::Direct | Asked::Text
            )
        {
            return (0, false);
        }
        while let Some(&[tag, a, b, c, d]) = input[at..].first_chunk() {
            let length = u32::from_be_bytes([a, b, c, d]) as usize;
            let Some(body) = input.get(at + 5..at + 1 + length) else {
                break;
            };
            match tag {
                tag::DATA_ROW => answer.pass_row(),
                // No columns are named where no cells are wanted.
                tag::BIND_COMPLETE | tag::ROW_DESCRIPTION | tag::NO_DATA => {}
                tag::PARSE_COMPLETE if matches!(self.asked, Asked::Direct) => {}
                tag::COMMAND_COMPLETE if !self.copies_out => {
                    self.is_complete = true;
                    answer.affected = answer.affected.saturating_add(rows::affected(body));
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

    /// Reads one message; `None` where more must follow.
    ///
    /// # Errors
    /// Where the session is over, or a message came that has no place here.
    #[inline]
    pub fn read(
        &mut self,
        message: Message<'_>,
        kept: &mut Kept,
        out: &mut Vec<u8>,
        answer: &mut Answer,
    ) -> Result<Option<Progress>, SystemError> {
        match message.tag {
            tag::DATA_ROW => rows::row(message.body, answer)?,
            tag::BIND_COMPLETE => {
                if answer.wants_columns() {
                    self.name_columns(kept, answer);
                }
            }
            tag::COMMAND_COMPLETE => {
                self.is_complete = true;
                if !self.copies_out {
                    answer.affected = answer.affected.saturating_add(rows::affected(message.body));
                }
                return self.one_answered();
            }
            tag::READY => return self.end(message.body, kept, answer).map(Some),
            _ => return self.read_rare(message, kept, out, answer),
        }
        Ok(None)
    }

    /// A statement is done: in a pipeline that is an answer.
    #[inline]
    pub(super) fn one_answered(&mut self) -> Result<Option<Progress>, SystemError> {
        let Asked::Pipeline { owed } = &mut self.asked else {
            return Ok(None);
        };
        self.copies_out = false;
        *owed = owed.checked_sub(1).ok_or_else(|| {
            SystemError::protocol("the end of the pipeline", "an answer to nothing")
        })?;
        Ok(Some(Progress::Answered))
    }

    /// The prepared statement whose execution is being answered.
    pub(super) fn statement<'a>(&self, kept: &'a Kept) -> Option<&'a Statement> {
        let id = match self.asked {
            Asked::Execute { id } => id,
            Asked::Pipeline { owed } => {
                let number = kept.pipeline.len().checked_sub(owed)?;
                (*kept.pipeline.get(number)?)?
            }
            _ => return None,
        };
        kept.statements.get(id as usize)?.as_ref()
    }

    #[cold]
    fn name_columns(&self, kept: &Kept, answer: &mut Answer) {
        for column in self
            .statement(kept)
            .iter()
            .flat_map(|statement| &statement.columns)
        {
            answer.typed_column(&column.name, column.cell_type);
        }
    }
}

/// What ReadyForQuery says of the session's transaction.
#[inline]
pub(super) fn transaction(status: &[u8]) -> TransactionStatus {
    match status.first() {
        Some(b'I') => TransactionStatus::None,
        Some(b'T') => TransactionStatus::Open,
        Some(b'E') => TransactionStatus::Failed,
        _ => TransactionStatus::Unknown,
    }
}

/// The error of a session that nobody had asked anything.
pub(super) fn while_idle(message: Message<'_>) -> Result<(), SystemError> {
    match message.tag {
        tag::NOTICE | tag::NOTIFICATION | tag::PARAMETER_STATUS => Ok(()),
        tag::ERROR => Err(refusal::read(message.body)?.error.lost()),
        _ => Err(message.unexpected("silence until the next request")),
    }
}

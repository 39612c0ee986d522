//! Takes the messages that answer one request; fills the answer, and says when the next may come.
//!
//! Every request ends in ReadyForQuery, also after an error: the server skips what was still to do. A
//! pipeline is one such exchange with several answers.

use super::kept::{Description, Kept};
use super::message::{Fields, Message, tag};
use super::outgoing::copy_fail;
use super::parameter::ParameterType;
use super::refusal::{self, Refusal};
use super::rows;
use super::statement::Statement;
use crate::{Answer, ErrorClass, Progress, SystemError, TransactionStatus};

/// A request that was sent and is not yet answered. Plain numbers: one begins and ends with every
/// statement, and has nothing to give back.
#[derive(Clone, Copy)]
pub(super) struct Exchange {
    pub asked: Asked,
    /// The server said that the statement is done (or that there was none).
    is_complete: bool,
    /// The data are on their way from the server: they count as rows, not as changed ones.
    copies_out: bool,
    /// The server waited for rows, as a bulk load expects.
    took_rows: bool,
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
    fn one_answered(&mut self) -> Result<Option<Progress>, SystemError> {
        let Asked::Pipeline { owed } = &mut self.asked else {
            return Ok(None);
        };
        self.copies_out = false;
        *owed = owed.checked_sub(1).ok_or_else(|| {
            SystemError::protocol("the end of the pipeline", "an answer to nothing")
        })?;
        Ok(Some(Progress::Answered))
    }

    /// The messages that the usual execution does not see.
    #[cold]
    fn read_rare(
        &mut self,
        message: Message<'_>,
        kept: &mut Kept,
        out: &mut Vec<u8>,
        answer: &mut Answer,
    ) -> Result<Option<Progress>, SystemError> {
        match message.tag {
            tag::ERROR => {
                kept.undeclare();
                let error = of_statement(refusal::read(message.body)?)?;
                let error = match kept.gave_up.take() {
                    Some(reason) if error.class == ErrorClass::Timeout => SystemError {
                        code: error.code,
                        ..reason
                    },
                    _ => error,
                };
                answer.error.get_or_insert(error);
                if let Asked::Pipeline { owed } = &mut self.asked
                    && *owed > 0
                {
                    *owed = 0; // the server passes over the rest
                    return Ok(Some(Progress::Answered));
                }
            }
            tag::EMPTY_QUERY => {
                self.is_complete = true;
                return self.one_answered();
            }
            tag::ROW_DESCRIPTION => match self.asked {
                Asked::Prepare { .. } => {
                    let columns = &mut kept.description.columns;
                    rows::columns(message.body, |column| columns.push(column))?;
                }
                _ if answer.wants_columns() => {
                    // Of several result sets the last one names the columns.
                    answer.forget_columns();
                    rows::columns(message.body, |column| {
                        answer.typed_column(&column.name, column.cell_type);
                    })?;
                }
                _ => {}
            },
            tag::PARAMETER_DESCRIPTION => {
                if let Asked::Prepare { .. } = self.asked {
                    kept.description.types = parameter_types(message.body)?;
                }
            }
            tag::COPY_IN => return self.copy_in(message.body, kept, out),
            tag::COPY_OUT => self.copies_out = true,
            tag::COPY_DATA if self.copies_out => answer.pass_row(),
            tag::PARSE_COMPLETE => {
                // A text of a pipeline is parsed as well, and has no types to declare.
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

    /// The server waits for rows. Only a bulk load has them, and only in the format it asked for.
    fn copy_in(
        &mut self,
        body: &[u8],
        kept: &mut Kept,
        out: &mut Vec<u8>,
    ) -> Result<Option<Progress>, SystemError> {
        let is_text = Fields(body).byte()? == 0;
        if let Asked::Pipeline { .. } = self.asked {
            // What follows in the pipeline is already on its way, and would be taken for rows.
            return Err(SystemError::protocol(
                "the answer to a statement in a pipeline",
                "a question for rows (COPY … FROM STDIN)",
            ));
        }
        let reason = match self.asked {
            Asked::Bulk if is_text == kept.bulk_types.is_empty() => {
                self.took_rows = true;
                return Ok(Some(Progress::BulkReady));
            }
            Asked::Bulk => "rows are sent in the text format of COPY",
            _ => "COPY … FROM STDIN is for bulk loads only",
        };
        copy_fail(reason, out);
        kept.gave_up = Some(SystemError::new(ErrorClass::Other, "", reason));
        if matches!(self.asked, Asked::Execute { .. } | Asked::Direct) {
            // The Sync that came with the execution was dropped as part of the rows.
            out.extend_from_slice(b"S\0\0\0\x04");
        }
        Ok(None)
    }

    fn end(
        &mut self,
        status: &[u8],
        kept: &mut Kept,
        answer: &mut Answer,
    ) -> Result<Progress, SystemError> {
        answer.transaction = transaction(status);
        if let Some(error) = &answer.error {
            // A transaction that the error aborted would not go on.
            if let Asked::Prepare { id } = self.asked
                && kept.description.count > 0
                && refusal::is_of_types(&error.code)
                && status == b"I"
            {
                let Description { text, count, .. } = std::mem::take(&mut kept.description);
                kept.statements[id as usize] = Some(Statement::unknown(id, text, count)?);
                answer.error = None;
            }
            return Ok(Progress::Ready);
        }
        match self.asked {
            Asked::Prepare { id } => {
                let told = std::mem::take(&mut kept.description);
                let statement = Statement::new(id, told.text, told.types, told.columns)?;
                kept.statements[id as usize] = Some(statement);
            }
            Asked::Pipeline { owed: 0 } => {}
            Asked::Pipeline { owed } => {
                let found = format_args!("the end of the pipeline");
                return Err(SystemError::protocol(
                    &format!("{owed} more answers"),
                    found,
                ));
            }
            _ if !self.is_complete => {
                return Err(SystemError::protocol(
                    "the end of a statement",
                    "ReadyForQuery before it",
                ));
            }
            Asked::Bulk if !self.took_rows => {
                let message = "expected COPY … FROM STDIN, found a statement that takes no rows";
                answer.error = Some(SystemError::new(ErrorClass::Other, "", message));
            }
            _ => {}
        }
        Ok(Progress::Ready)
    }

    /// The prepared statement whose execution is being answered.
    fn statement<'a>(&self, kept: &'a Kept) -> Option<&'a Statement> {
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
fn transaction(status: &[u8]) -> TransactionStatus {
    match status.first() {
        Some(b'I') => TransactionStatus::None,
        Some(b'T') => TransactionStatus::Open,
        Some(b'E') => TransactionStatus::Failed,
        _ => TransactionStatus::Unknown,
    }
}

fn parameter_types(body: &[u8]) -> Result<Box<[ParameterType]>, SystemError> {
    let mut fields = Fields(body);
    let count = fields.count()?;
    (0..count)
        .map(|_| Ok(ParameterType::from_oid(fields.int32()?.cast_unsigned())))
        .collect()
}

/// The error of a statement, or `Err` with it where it ends the session.
fn of_statement(refusal: Refusal) -> Result<SystemError, SystemError> {
    let Refusal {
        mut error,
        is_fatal,
    } = refusal;
    match (is_fatal, error.class.ends_the_session()) {
        (true, true) => Err(error),
        (true, false) => Err(error.lost()),
        // The server itself failed to reach another (a foreign table): ours is still there.
        (false, true) => {
            error.class = ErrorClass::Other;
            Ok(error)
        }
        (false, false) => Ok(error),
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

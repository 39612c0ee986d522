//! Takes the messages that answer one request; fills the answer, and says when the next may come.
//!
//! Every request ends in ReadyForQuery, also after an error: the server skips what was still to do.

use super::message::{Fields, Message, tag};
use super::parameter::ParameterType;
use super::refusal::{self, Refusal};
use super::rows;
use super::statement::Statement;
use crate::{Answer, ErrorClass, Progress, SystemError};

/// A request that was sent and is not yet answered.
pub(super) struct Exchange {
    pub asked: Asked,
    /// The server said that the statement is done (or that there was none).
    is_complete: bool,
    /// The data are on their way from the server: they count as rows, not as changed ones.
    copies_out: bool,
    /// The server waited for rows, as a bulk load expects.
    took_rows: bool,
    /// We told the server to give up the rows; it words that as a cancelled query, which it is not.
    pub gave_up: bool,
}

pub(super) enum Asked {
    Text,
    Prepare {
        id: u32,
        types: Box<[ParameterType]>,
        columns: Vec<String>,
    },
    Execute {
        id: u32,
    },
    Bulk,
}

impl Exchange {
    pub fn new(asked: Asked) -> Self {
        Self {
            asked,
            is_complete: false,
            copies_out: false,
            took_rows: false,
            gave_up: false,
        }
    }

    /// Reads one message; `None` where more must follow.
    ///
    /// # Errors
    /// Where the session is over, or a message came that has no place here.
    #[inline]
    pub fn read(
        &mut self,
        message: Message<'_>,
        statements: &mut [Option<Statement>],
        out: &mut Vec<u8>,
        answer: &mut Answer,
    ) -> Result<Option<Progress>, SystemError> {
        match message.tag {
            tag::DATA_ROW => rows::row(message.body, answer)?,
            tag::BIND_COMPLETE => {
                if answer.wants_columns() {
                    self.name_columns(statements, answer);
                }
            }
            tag::COMMAND_COMPLETE => {
                self.is_complete = true;
                if !self.copies_out {
                    answer.affected += rows::affected(message.body);
                }
            }
            tag::READY => return self.end(statements, answer).map(Some),
            _ => return self.read_rare(message, out, answer),
        }
        Ok(None)
    }

    /// The messages that the usual execution does not see.
    #[cold]
    fn read_rare(
        &mut self,
        message: Message<'_>,
        out: &mut Vec<u8>,
        answer: &mut Answer,
    ) -> Result<Option<Progress>, SystemError> {
        match message.tag {
            tag::ERROR => {
                let mut error = of_statement(refusal::read(message.body)?)?;
                if self.gave_up && error.class == ErrorClass::Timeout {
                    error.class = ErrorClass::Other;
                }
                answer.error.get_or_insert(error);
            }
            tag::EMPTY_QUERY => self.is_complete = true,
            tag::ROW_DESCRIPTION => match &mut self.asked {
                Asked::Prepare { columns, .. } => {
                    rows::columns(message.body, |name| columns.push(name.to_owned()))?;
                }
                _ if answer.wants_columns() => {
                    // Of several result sets the last one names the columns.
                    answer.columns.clear();
                    rows::columns(message.body, |name| answer.column(name))?;
                }
                _ => {}
            },
            tag::PARAMETER_DESCRIPTION => {
                if let Asked::Prepare { types, .. } = &mut self.asked {
                    *types = parameter_types(message.body)?;
                }
            }
            tag::COPY_IN => return self.copy_in(message.body, out),
            tag::COPY_OUT => self.copies_out = true,
            tag::COPY_DATA if self.copies_out => answer.pass_row(),
            tag::COPY_DONE
            | tag::PARSE_COMPLETE
            | tag::CLOSE_COMPLETE
            | tag::NO_DATA
            | tag::NOTICE
            | tag::NOTIFICATION
            | tag::PARAMETER_STATUS => {}
            _ => return Err(message.unexpected("the answer to a statement")),
        }
        Ok(None)
    }

    /// The server waits for rows. Only a bulk load has them, and only in text.
    fn copy_in(&mut self, body: &[u8], out: &mut Vec<u8>) -> Result<Option<Progress>, SystemError> {
        let is_text = Fields(body).byte()? == 0;
        match self.asked {
            Asked::Bulk if is_text => {
                self.took_rows = true;
                return Ok(Some(Progress::BulkReady));
            }
            Asked::Bulk => super::copy_fail("rows are sent in the text format of COPY", out),
            _ => super::copy_fail("COPY … FROM STDIN is for bulk loads only", out),
        }
        self.gave_up = true;
        if matches!(self.asked, Asked::Execute { .. }) {
            // The Sync that came with the execution was dropped as part of the rows.
            out.extend_from_slice(b"S\0\0\0\x04");
        }
        Ok(None)
    }

    fn end(
        &mut self,
        statements: &mut [Option<Statement>],
        answer: &mut Answer,
    ) -> Result<Progress, SystemError> {
        if answer.error.is_some() {
            return Ok(Progress::Ready);
        }
        match &mut self.asked {
            Asked::Prepare { id, types, columns } => {
                let statement =
                    Statement::new(*id, std::mem::take(types), std::mem::take(columns))?;
                statements[*id as usize] = Some(statement);
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

    #[cold]
    fn name_columns(&self, statements: &[Option<Statement>], answer: &mut Answer) {
        if let Asked::Execute { id } = self.asked
            && let Some(Some(statement)) = statements.get(id as usize)
        {
            statement
                .columns
                .iter()
                .for_each(|name| answer.column(name));
        }
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
        (true, false) => {
            error.class = ErrorClass::LostConnection;
            Err(error)
        }
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
        tag::ERROR => {
            let mut error = refusal::read(message.body)?.error;
            error.class = ErrorClass::LostConnection;
            Err(error)
        }
        _ => Err(message.unexpected("silence until the next request")),
    }
}

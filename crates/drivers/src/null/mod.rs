//! The null system: takes any statement, does nothing, and answers with the delays and errors that its
//! options set (see [`options`]). The whole tool can be tried and tested with nothing installed, and the
//! cost of the load generator itself can be measured.
//!
//! It stores only the number of rows of each table, so that a load can be verified.

mod deployment;
mod lines;
mod loading;
mod local_session;
mod meaning;
mod model;
mod options;
pub(crate) mod query;
mod selection;
mod statement;
mod tuples;
mod words;

use assay_values::{Piece, Row};

use crate::lexer::Literals;
use crate::{
    Answer, Blocking, BulkForm, Canceller, ErrorClass, LocalOptions, Request, SystemError,
    TransactionStatus,
};

pub(crate) use lines::Lines;
pub(crate) use local_session::LocalSession;
pub use meaning::Statement;
pub(crate) use meaning::{Change, Meaning};
pub use model::{PlannedReply, ResultSize, ServerModel, SessionModel};
pub(crate) use tuples::Tuples;

/// A session of the null system.
pub struct NullConnection {
    session: LocalSession,
    prepared: Vec<Option<Statement>>,
    transaction: TransactionStatus,
}

impl NullConnection {
    /// Files that a session has open: none.
    pub const OPEN_FILES: u32 = 0;

    /// # Errors
    /// Where an option is invalid, or the deployment has reached its limit of sessions.
    pub fn open(deployment: &LocalOptions<'_>) -> Result<Self, SystemError> {
        Ok(Self {
            session: LocalSession::open(deployment)?,
            prepared: Vec::new(),
            transaction: TransactionStatus::None,
        })
    }

    fn execute(&mut self, statement: &Statement, answer: &mut Answer) -> Result<(), SystemError> {
        let transaction = &mut self.transaction;
        self.session.execute(statement, answer, |given, answer| {
            *transaction = statement.meaning.after(*transaction);
            write_rows(statement, given, answer);
        })?;
        answer.transaction = self.transaction;
        Ok(())
    }
}

fn statement_of(pieces: &[Piece]) -> Statement {
    let text = Piece::join(pieces, |_, text| text.push('?'));
    Statement::of(&text, Literals::Doubled)
}

fn write_rows(statement: &Statement, given: ResultSize, answer: &mut Answer) {
    statement
        .columns
        .iter()
        .for_each(|name| answer.column(name));
    for row in 0..given.rows {
        if answer.wants_cells() {
            answer.begin_row();
            let number = (given.first + row).to_string();
            for _ in &statement.columns {
                answer.cell(Some(number.as_bytes()));
            }
            answer.end_row();
        } else {
            answer.pass_row();
        }
    }
}

impl Blocking for NullConnection {
    fn request(&mut self, request: &Request<'_>, answer: &mut Answer) -> Result<(), SystemError> {
        match *request {
            Request::Text(text) => self.execute(&Statement::of(text, Literals::Doubled), answer),
            Request::Direct { pieces, .. } => self.execute(&statement_of(pieces), answer),
            Request::Begin => self.execute(&Meaning::Begin.bare(), answer),
            Request::Commit => self.execute(&Meaning::Commit.bare(), answer),
            Request::Rollback => self.execute(&Meaning::Rollback.bare(), answer),
            Request::Prepare { id, pieces } => {
                let index = id as usize;
                if self.prepared.len() <= index {
                    self.prepared.resize(index + 1, None);
                }
                self.prepared[index] = Some(statement_of(pieces));
                Ok(())
            }
            Request::Execute { id, .. } => {
                let Some(statement) = self.prepared.get_mut(id as usize).and_then(Option::take)
                else {
                    let message = format!("statement {id} was never prepared");
                    answer.error = Some(SystemError::new(ErrorClass::Other, "", message));
                    return Ok(());
                };
                let executed = self.execute(&statement, answer);
                self.prepared[id as usize] = Some(statement);
                executed
            }
            Request::Bulk {
                text,
                form: BulkForm::Native | BulkForm::MultiRow,
                ..
            } => {
                self.session.begin_bulk(loading::table_of_bulk(text));
                Ok(())
            }
        }
    }

    fn bulk_row(&mut self, _row: &Row) -> Result<(), SystemError> {
        self.session.bulk_row()
    }

    fn bulk_end(&mut self, abort: Option<&str>, answer: &mut Answer) -> Result<(), SystemError> {
        self.session.bulk_end(abort, answer)
    }

    fn server_version(&self) -> &str {
        concat!("null ", env!("CARGO_PKG_VERSION"))
    }

    fn canceller(&self) -> Option<Canceller> {
        Some(self.session.canceller())
    }
}

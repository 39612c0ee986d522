//! The null system: takes any statement, does nothing, and answers with the delays and errors that its
//! options set (see [`options`]). The whole tool can be tried and tested with nothing installed, and the
//! cost of the load generator itself can be measured.
//!
//! It stores only the number of rows of each table, so that a load can be verified.

mod bulk_rows;
mod model;
mod options;
mod statement;

pub(crate) use bulk_rows::{Lines, Tuples};
pub use model::{PlannedReply, ResultSize, ServerModel, SessionModel};
pub use statement::Statement;
pub(crate) use statement::{Change, Meaning, parameters_in, statements_in};

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use assay_values::{Piece, Row};

use crate::lexer::Literals;
use crate::null::model::caused_by_option;
use crate::request::ById;
use crate::{
    Answer, Blocking, BulkForm, Canceller, ErrorClass, LocalOptions, Request, Result, SystemError,
    TransactionStatus,
};

/// A session of the null system.
pub struct NullConnection {
    session: LocalSession,
    prepared: ById<Statement>,
    transaction: TransactionStatus,
}

impl NullConnection {
    /// Files that a session has open: none.
    pub const OPEN_FILES: u32 = 0;

    /// # Errors
    /// Where an option is invalid, or the deployment has reached its limit of sessions.
    pub fn open(deployment: &LocalOptions<'_>) -> Result<Self> {
        Ok(Self {
            session: LocalSession::open(deployment)?,
            prepared: ById::default(),
            transaction: TransactionStatus::None,
        })
    }

    fn execute(&mut self, statement: &Statement, answer: &mut Answer) -> Result<()> {
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
    fn request(&mut self, request: &Request<'_>, answer: &mut Answer) -> Result<()> {
        match *request {
            Request::Text(text) => self.execute(&Statement::of(text, Literals::Doubled), answer),
            Request::Direct { pieces, .. } => self.execute(&statement_of(pieces), answer),
            Request::Begin => self.execute(&Meaning::Begin.bare(), answer),
            Request::Commit => self.execute(&Meaning::Commit.bare(), answer),
            Request::Rollback => self.execute(&Meaning::Rollback.bare(), answer),
            Request::Prepare { id, pieces } => {
                *self.prepared.place(id) = Some(statement_of(pieces));
                Ok(())
            }
            Request::Execute { id, .. } => match self.prepared.take(id) {
                Ok(statement) => {
                    let executed = self.execute(&statement, answer);
                    *self.prepared.place(id) = Some(statement);
                    executed
                }
                Err(error) => {
                    answer.error = Some(error);
                    Ok(())
                }
            },
            Request::Bulk {
                text,
                form: BulkForm::Native | BulkForm::MultiRow,
                ..
            } => {
                self.session.begin_bulk(statement::table_of_bulk(text));
                Ok(())
            }
        }
    }

    fn bulk_row(&mut self, _row: &Row) -> Result<()> {
        self.session.bulk_row()
    }

    fn bulk_end(&mut self, abort: Option<&str>, answer: &mut Answer) -> Result<()> {
        self.session.bulk_end(abort, answer)
    }

    fn server_version(&self) -> &str {
        concat!("null ", env!("CARGO_PKG_VERSION"))
    }

    fn canceller(&self) -> Option<Canceller> {
        Some(self.session.canceller())
    }
}

pub(crate) struct LocalSession {
    model: SessionModel,
    bulk: Option<Bulk>,
    is_cancelled: Arc<AtomicBool>,
}

/// The current bulk load: the table, if the statement names one, and the rows so far.
struct Bulk {
    table: Option<String>,
    rows: u64,
}

impl LocalSession {
    /// # Errors
    /// Where an option is invalid, or the deployment has reached its limit of sessions.
    pub fn open(deployment: &LocalOptions<'_>) -> Result<Self> {
        Ok(Self {
            model: ServerModel::shared(deployment.options)?.open_session()?,
            bulk: None,
            is_cancelled: Arc::new(AtomicBool::new(false)),
        })
    }

    /// Executes a statement; if it succeeds, `write_rows` puts its rows into the answer.
    ///
    /// # Errors
    /// Where the session is lost during the statement.
    pub fn execute(
        &mut self,
        statement: &Statement,
        answer: &mut Answer,
        write_rows: impl FnOnce(ResultSize, &mut Answer),
    ) -> Result<()> {
        self.is_cancelled.store(false, Ordering::Relaxed);
        let began = Instant::now();
        let PlannedReply::Answered { after, error } = self.model.plan_reply(statement, began)
        else {
            return Err(SystemError::new(
                ErrorClass::LostConnection,
                "",
                caused_by_option("lose"),
            ));
        };
        if !wait_until(began + after, &self.is_cancelled) {
            answer.error = Some(SystemError::new(ErrorClass::Timeout, "", "cancelled"));
        } else if error.is_some() {
            answer.error = error;
        } else {
            let given = self.model.answer(statement);
            answer.affected = given.affected;
            write_rows(given, answer);
        }
        Ok(())
    }

    pub fn begin_bulk(&mut self, table: Option<String>) {
        self.bulk = Some(Bulk { table, rows: 0 });
    }

    /// # Errors
    /// Where no bulk load is open.
    pub fn bulk_row(&mut self) -> Result<()> {
        match &mut self.bulk {
            Some(bulk) => bulk.rows += 1,
            None => return Err(SystemError::protocol("an open bulk load", "a row")),
        }
        Ok(())
    }

    /// # Errors
    /// Where no bulk load is open.
    pub fn bulk_end(&mut self, abort: Option<&str>, answer: &mut Answer) -> Result<()> {
        let Some(bulk) = self.bulk.take() else {
            return Err(SystemError::protocol("an open bulk load", "its end"));
        };
        if let Some(reason) = abort {
            answer.error = Some(SystemError::new(ErrorClass::Other, "", reason));
            return Ok(());
        }
        answer.affected = bulk.rows;
        if let Some(table) = bulk.table {
            self.model.loaded(&table, bulk.rows);
        }
        Ok(())
    }

    pub fn canceller(&self) -> Canceller {
        let is_cancelled = Arc::clone(&self.is_cancelled);
        Box::new(move || is_cancelled.store(true, Ordering::Relaxed))
    }
}

/// Waits until that instant; returns false if cancelled before.
///
/// A sleeping thread wakes up some 60 µs late: it sleeps until shortly before, then polls the clock and
/// yields in between.
fn wait_until(instant: Instant, is_cancelled: &AtomicBool) -> bool {
    const WOKEN_LATE: Duration = Duration::from_micros(100);
    const LONGEST_SLEEP: Duration = Duration::from_millis(20);
    loop {
        let left = instant.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return true;
        }
        if is_cancelled.load(Ordering::Relaxed) {
            return false;
        }
        match left.checked_sub(WOKEN_LATE) {
            Some(asleep) => std::thread::sleep(asleep.min(LONGEST_SLEEP)),
            None => std::thread::yield_now(),
        }
    }
}

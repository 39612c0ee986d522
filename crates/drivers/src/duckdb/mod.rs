//! DuckDB in this process: takes requests and calls the library, on the client's thread.
//!
//! The library is not compiled in, because that takes many minutes: it is loaded when the first session
//! opens, from the path in the option `library`. A plain `libduckdb.so` will do, and so will the extension
//! module of DuckDB's Python package, which exports the same C interface.

mod appender;
mod bind;
mod cell;
mod column;
mod data_chunk;
mod database;
mod library;
mod refusal;
mod statement;

use std::sync::Arc;

use assay_values::Row;

use crate::duckdb::appender::Appender;
use crate::duckdb::database::{Connection, Database, Options};
use crate::duckdb::statement::{Buffers, Control, Statement, spelled};
use crate::request::{ById, never_prepared};
use crate::{
    Answer, Blocking, BulkForm, Canceller, ErrorClass, Keep, LocalOptions, Request, Result,
    SystemError, TransactionStatus, run_session_statements,
};

/// One session with a database.
pub struct DuckdbConnection {
    // Statements and loads are dropped before the connection that they belong to.
    prepared: ById<Statement>,
    begin: Statement,
    commit: Statement,
    rollback: Statement,
    /// A statement that works unless the transaction has failed.
    question: Statement,
    bulk: Option<Appender>,
    /// Whether the load began the transaction that it is in.
    bulk_transaction: bool,
    buffers: Buffers,
    /// The library does not report it: kept from the statements that succeeded.
    transaction: TransactionStatus,
    version: String,
    connection: Arc<Connection>,
}

impl DuckdbConnection {
    /// All sessions share the files of the database.
    pub const OPEN_FILES: u32 = 0;

    /// Opens the file, or makes it, and runs the session statements.
    ///
    /// # Errors
    /// Where no file or no library is given, one of the two cannot be opened, or a session statement fails.
    pub fn open(deployment: &LocalOptions<'_>) -> Result<Self> {
        let database = Database::open(
            deployment.database_file()?,
            Options::parse(deployment.options)?,
        )?;
        let version = database.library.version();
        let connection = Arc::new(database.connect()?);
        let own = |text: &str| match Statement::compile(&connection, text)? {
            Some(statement) => Ok(statement),
            None => Err(refusal::connecting(format!("{text:?} is no statement"))),
        };
        let mut opened = Self {
            prepared: ById::default(),
            begin: own("BEGIN")?,
            commit: own("COMMIT")?,
            rollback: own("ROLLBACK")?,
            question: own("SELECT 1")?,
            bulk: None,
            bulk_transaction: false,
            buffers: Buffers::default(),
            transaction: TransactionStatus::None,
            version,
            connection,
        };
        run_session_statements(&mut opened, deployment.session_statements)?;
        Ok(opened)
    }

    fn prepare(&mut self, id: u32, text: &str) -> Result<()> {
        *self.prepared.place(id) = Statement::compile(&self.connection, text)?;
        Ok(())
    }

    /// Executes a request other than those of a bulk load; returns what it did to the transaction.
    fn execute(
        &mut self,
        request: &Request<'_>,
        answer: &mut Answer,
    ) -> Result<Option<Control>, (SystemError, Option<Control>)> {
        let once;
        let (statement, values) = match *request {
            Request::Begin => (&self.begin, [].as_slice()),
            Request::Commit => (&self.commit, [].as_slice()),
            Request::Rollback => (&self.rollback, [].as_slice()),
            Request::Execute { id, parameters } => {
                let known = self.prepared.get(id);
                (known.ok_or_else(|| (never_prepared(id), None))?, parameters)
            }
            _ => {
                let (text, values) = match *request {
                    Request::Direct { pieces, parameters } => (spelled(pieces), parameters),
                    Request::Text(text) => (text.to_owned(), [].as_slice()),
                    _ => return Err((no_bulk(), None)),
                };
                once =
                    Statement::compile(&self.connection, &text).map_err(|error| (error, None))?;
                match &once {
                    Some(statement) => (statement, values),
                    None => return Ok(None),
                }
            }
        };
        match statement.run(values, &mut self.buffers, answer) {
            Ok(()) => Ok(statement.control),
            Err(error) => Err((error, statement.control)),
        }
    }

    /// The state of the transaction after a statement that succeeded.
    fn after(&self, control: Option<Control>) -> TransactionStatus {
        match control {
            None => self.transaction,
            Some(Control::Begin) => TransactionStatus::Open,
            Some(Control::Commit | Control::Rollback) => TransactionStatus::None,
        }
    }

    /// The state of the transaction after an error. A commit that fails rolls back.
    fn after_error(&mut self, control: Option<Control>) -> TransactionStatus {
        if self.transaction == TransactionStatus::None || control == Some(Control::Commit) {
            return TransactionStatus::None;
        }
        let mut unused = Answer::new(Keep::Count);
        match self.question.run(&[], &mut self.buffers, &mut unused) {
            Ok(()) => TransactionStatus::Open,
            Err(_) => TransactionStatus::Failed,
        }
    }

    fn run(&mut self, request: &Request<'_>, answer: &mut Answer) -> Result<()> {
        match self.execute(request, answer) {
            Ok(control) => {
                self.transaction = self.after(control);
                Ok(())
            }
            Err((error, control)) => {
                self.transaction = self.after_error(control);
                match control {
                    Some(Control::Commit) => Err(refusal::of_commit(error)),
                    _ => Err(error),
                }
            }
        }
    }

    /// Begins a load. Outside a transaction it gets one of its own, so that an aborted load leaves no rows.
    fn bulk_begin(&mut self, text: &str) -> Result<()> {
        let appender = Appender::begin(&self.connection, text)?;
        self.bulk_transaction = self.transaction == TransactionStatus::None;
        if self.bulk_transaction {
            self.run(&Request::Begin, &mut Answer::default())?;
        }
        self.bulk = Some(appender);
        Ok(())
    }

    fn bulk_close(
        &mut self,
        appender: Appender,
        abort: Option<&str>,
        answer: &mut Answer,
    ) -> Result<()> {
        let ended = match abort {
            Some(reason) => {
                drop(appender);
                Err(SystemError::new(ErrorClass::Other, "", reason))
            }
            None => appender.end(),
        };
        if ended.is_err() {
            self.transaction = self.after_error(None);
        }
        if std::mem::take(&mut self.bulk_transaction) {
            let last = match ended {
                Ok(_) => Request::Commit,
                Err(_) => Request::Rollback,
            };
            self.run(&last, &mut Answer::default())?;
        }
        answer.affected = ended?;
        Ok(())
    }
}

impl Blocking for DuckdbConnection {
    fn request(&mut self, request: &Request<'_>, answer: &mut Answer) -> Result<()> {
        let done = match *request {
            Request::Prepare { id, pieces } => {
                self.prepare(id, &spelled(pieces)).inspect_err(|_| {
                    self.transaction = self.after_error(None);
                })
            }
            // The library has an error for it.
            Request::Rollback if self.transaction == TransactionStatus::None => Ok(()),
            Request::Bulk {
                text,
                form: BulkForm::Native,
                ..
            } => self.bulk_begin(text),
            Request::Bulk { .. } => {
                let expected = "a bulk load in the native form";
                return Err(SystemError::protocol(expected, "multi-row"));
            }
            _ => self.run(request, answer),
        };
        answer.transaction = self.transaction;
        answer.error = done.err();
        ended(answer)
    }

    fn bulk_row(&mut self, row: &Row) -> Result<()> {
        match &mut self.bulk {
            Some(bulk) => bulk.row(row),
            None => return Err(no_bulk()),
        }
        Ok(())
    }

    fn bulk_end(&mut self, abort: Option<&str>, answer: &mut Answer) -> Result<()> {
        let bulk = self.bulk.take().ok_or_else(no_bulk)?;
        answer.error = self.bulk_close(bulk, abort, answer).err();
        answer.transaction = self.transaction;
        ended(answer)
    }

    fn server_version(&self) -> &str {
        &self.version
    }

    fn canceller(&self) -> Option<Canceller> {
        // It does not keep the database open.
        let connection = Arc::downgrade(&self.connection);
        Some(Box::new(move || {
            if let Some(connection) = connection.upgrade() {
                connection.interrupt();
            }
        }))
    }
}

/// An error after which the library refuses everything ends the session.
fn ended(answer: &mut Answer) -> Result<()> {
    match &answer.error {
        Some(error) if error.class.ends_the_session() => {
            Err(answer.error.take().expect("it was just found"))
        }
        _ => Ok(()),
    }
}

fn no_bulk() -> SystemError {
    SystemError::protocol("an open bulk load", "a row or its end")
}

//! Takes requests; makes them calls of the library, and reports what it answers.

use std::path::Path;
use std::sync::Arc;

use assay_values::{CellType, Piece, Row, Value};
use rusqlite::config::DbConfig;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags, Statement};

use super::bulk::Bulk;
use super::failure::Failure;
use super::options::Options;
use super::patience::Patience;
use super::value::{bind, cell_type, spelled};
use super::{counters, refusal, regexp};
use crate::{
    Answer, Blocking, BulkForm, Canceller, ErrorClass, LocalOptions, Request, SystemError,
    TransactionStatus,
};

/// One session with a database file.
pub struct SqliteConnection {
    connection: Connection,
    patience: Arc<Patience>,
    /// Texts of prepared statements by their id; the library's handles are kept by text.
    prepared: Vec<Option<Box<str>>>,
    bulk: Option<Bulk>,
    version: String,
}

impl SqliteConnection {
    /// The database, its journal, and a temporary file now and then.
    pub const OPEN_FILES: u32 = 3;

    /// Opens the file, which is made where it is missing (unless the session is to read only), and
    /// runs the session's statements.
    ///
    /// # Errors
    /// Where there is no file, it cannot be opened, is no database, or a session statement is refused.
    pub fn open(site: &LocalOptions<'_>) -> Result<Self, SystemError> {
        let file = site.file.filter(|file| !file.is_empty()).ok_or_else(|| {
            SystemError::new(
                ErrorClass::ConnectionRefused,
                "",
                "expected a database file, found none",
            )
        })?;
        let path = Path::new(file);
        let options = Options::parse(site.options)?;
        let mode = if options.read_only {
            OpenFlags::SQLITE_OPEN_READ_ONLY
        } else {
            OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE
        };
        // One thread uses the session at a time, so it needs no lock of its own.
        let flags = mode | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let refused = |error: rusqlite::Error| refusal::opening(path, &error);
        let mut connection = Connection::open_with_flags(path, flags).map_err(refused)?;
        let patience = Patience::new(options.busy_timeout);
        let waiting = Arc::clone(&patience);
        connection
            .busy_handler(Some(move |tries| waiting.wait(tries)))
            .map_err(refused)?;
        connection
            .set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_FKEY, false)
            .map_err(refused)?;
        regexp::define(&connection).map_err(refused)?;
        // SQLite has not read the file so far: a file that is no database is reported here.
        connection
            .query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))
            .map_err(refused)?;
        let mut opened = Self {
            connection,
            patience,
            prepared: Vec::new(),
            bulk: None,
            version: format!("SQLite {}", rusqlite::version()),
        };
        let mut answer = Answer::default();
        for statement in site.session_statements {
            answer.clear(crate::Keep::Count);
            opened.request(&Request::Text(statement), &mut answer)?;
            if let Some(error) = answer.error.take() {
                return Err(SystemError {
                    message: format!("session statement {statement:?}: {}", error.message),
                    ..error
                });
            }
        }
        Ok(opened)
    }

    fn prepare(&mut self, id: u32, text: &str) -> rusqlite::Result<()> {
        let index = id as usize;
        if self.prepared.len() <= index {
            self.prepared.resize(index + 1, None);
            // All statements of the workload stay, with room for a few of our own.
            self.connection
                .set_prepared_statement_cache_capacity(index + 8);
        }
        drop(self.connection.prepare_cached(text)?);
        self.prepared[index] = Some(text.into());
        Ok(())
    }

    fn execute(&self, id: u32, parameters: &[Value], answer: &mut Answer) -> Result<(), Failure> {
        let text = self.prepared.get(id as usize).and_then(Option::as_deref);
        let text = text.ok_or_else(|| {
            SystemError::new(
                ErrorClass::Other,
                "",
                format!("statement {id} was never prepared"),
            )
        })?;
        let mut statement = self.connection.prepare_cached(text)?;
        self.run(&mut statement, parameters, answer)
    }

    /// Begins, commits or rolls back.
    fn operation(&self, text: &str, answer: &mut Answer) -> Result<(), Failure> {
        let mut statement = self.connection.prepare_cached(text)?;
        Ok(self.step(&mut statement, answer)?)
    }

    fn transaction(&self) -> TransactionStatus {
        match self.connection.is_autocommit() {
            true => TransactionStatus::None,
            false => TransactionStatus::Open,
        }
    }

    /// Compiled for this execution alone.
    fn direct(
        &self,
        pieces: &[Piece],
        parameters: &[Value],
        answer: &mut Answer,
    ) -> Result<(), Failure> {
        let mut statement = self.connection.prepare(&spelled(pieces))?;
        self.run(&mut statement, parameters, answer)
    }

    fn run(
        &self,
        statement: &mut Statement<'_>,
        parameters: &[Value],
        answer: &mut Answer,
    ) -> Result<(), Failure> {
        if statement.parameter_count() != parameters.len() {
            return Err(Failure::Ours(SystemError::new(
                ErrorClass::Data,
                "",
                format!(
                    "the statement takes {} parameters, {} were given",
                    statement.parameter_count(),
                    parameters.len()
                ),
            )));
        }
        for (index, value) in parameters.iter().enumerate() {
            bind(statement, index + 1, value)?;
        }
        self.step(statement, answer)?;
        Ok(())
    }

    /// Runs a statement whose parameters are bound to its end, and reports its rows.
    fn step(&self, statement: &mut Statement<'_>, answer: &mut Answer) -> rusqlite::Result<()> {
        let columns = statement.column_count();
        if answer.wants_columns() {
            for (index, column) in statement.columns().enumerate() {
                let cell_type = column.decl_type().map_or(CellType::Plain, cell_type);
                answer.typed_column(statement.column_name(index)?, cell_type);
            }
        }
        // The library's count of changed rows stays as it was after a statement that changes none.
        let changes_before = self.connection.total_changes();
        if columns == 0 {
            match statement.raw_execute() {
                // A text of blanks and comments has no statement, which the library dislikes to run.
                Err(_) if statement.expanded_sql().is_none() => return Ok(()),
                executed => executed?,
            };
        } else {
            let mut number = Vec::new();
            let mut rows = statement.raw_query();
            while let Some(row) = rows.next()? {
                if !answer.wants_cells() {
                    answer.pass_row();
                    continue;
                }
                answer.begin_row();
                for index in 0..columns {
                    match row.get_ref(index)? {
                        ValueRef::Null => answer.cell(None),
                        ValueRef::Text(text) | ValueRef::Blob(text) => answer.cell(Some(text)),
                        ValueRef::Integer(integer) => {
                            use std::io::Write as _;
                            number.clear();
                            write!(number, "{integer}").expect("writing to memory is infallible");
                            answer.cell(Some(&number));
                        }
                        ValueRef::Real(real) => answer.cell(Some(self.real_text(real)?.as_bytes())),
                    }
                }
                answer.end_row();
            }
        }
        if self.connection.total_changes() != changes_before {
            answer.affected = self.connection.changes();
        }
        Ok(())
    }

    /// The library's own text of a real number: how many digits it has differs between versions.
    fn real_text(&self, real: f64) -> rusqlite::Result<String> {
        self.connection
            .prepare_cached("SELECT CAST(? AS TEXT)")?
            .query_row([real], |row| row.get(0))
    }
}

impl Blocking for SqliteConnection {
    fn request(&mut self, request: &Request<'_>, answer: &mut Answer) -> Result<(), SystemError> {
        self.patience.begin();
        let done = match *request {
            Request::Text(text) => self
                .connection
                .prepare(text)
                .and_then(|mut statement| self.step(&mut statement, answer))
                .map_err(Failure::Library),
            Request::Prepare { id, pieces } => {
                self.prepare(id, &spelled(pieces)).map_err(Failure::Library)
            }
            Request::Direct { pieces, parameters } => self.direct(pieces, parameters, answer),
            // The library may have rolled back by itself, and refuses to do so twice.
            Request::Rollback if self.connection.is_autocommit() => Ok(()),
            Request::Begin | Request::Commit | Request::Rollback => {
                self.operation(request.sql().unwrap_or_default(), answer)
            }
            Request::Execute { id, parameters } => self.execute(id, parameters, answer),
            Request::Bulk {
                text,
                form: BulkForm::Native,
                ..
            } => Bulk::begin(&self.connection, text).map(|bulk| self.bulk = Some(bulk)),
            Request::Bulk {
                form: BulkForm::MultiRow,
                ..
            } => {
                return Err(SystemError::protocol(
                    "a bulk load in native form",
                    "multi-row",
                ));
            }
        };
        answer.transaction = self.transaction();
        answer.error = match done {
            Ok(()) => return Ok(()),
            Err(Failure::Ours(error)) => Some(error),
            Err(Failure::Library(error)) => {
                let is_open = answer.transaction == TransactionStatus::Open;
                Some(refusal::of(&error, self.patience.is_exhausted(), is_open))
            }
        };
        Ok(())
    }

    fn bulk_row(&mut self, row: &Row) -> Result<(), SystemError> {
        match &mut self.bulk {
            Some(bulk) => {
                self.patience.begin();
                bulk.row(&self.connection, row);
            }
            None => return Err(SystemError::protocol("a bulk load under way", "a row")),
        }
        Ok(())
    }

    fn bulk_end(&mut self, abort: Option<&str>, answer: &mut Answer) -> Result<(), SystemError> {
        match self.bulk.take() {
            Some(bulk) => {
                self.patience.begin();
                bulk.end(&self.connection, abort, answer);
            }
            None => return Err(SystemError::protocol("a bulk load under way", "its end")),
        }
        answer.transaction = self.transaction();
        Ok(())
    }

    fn server_version(&self) -> &str {
        &self.version
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        counters::of(&self.connection)
    }

    fn canceller(&self) -> Option<Canceller> {
        let (statement, patience) = (
            self.connection.get_interrupt_handle(),
            self.patience.clone(),
        );
        Some(Box::new(move || {
            patience.cancel();
            statement.interrupt();
        }))
    }
}

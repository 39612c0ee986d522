//! SQLite in this process: takes requests and calls the library, on the client's thread.
//!
//! The library is compiled in, so its version does not depend on the machine. It is opened as the
//! `sqlite3` shell opens it (foreign keys are enforced only if a session statement enables them), and
//! has the shell's `REGEXP`.

mod bulk;
mod opening;
mod refusal;

use std::cell::RefCell;
use std::ffi::c_int;
use std::path::Path;
use std::sync::Arc;

use assay_values::{CellType, Piece, Row, Value};
use rusqlite::config::DbConfig;
use rusqlite::types::{Null, ToSqlOutput, ValueRef};
use rusqlite::{Connection, OpenFlags, Statement, ffi};

use crate::request::{ById, never_prepared};
use crate::sqlite::bulk::Bulk;
use crate::sqlite::opening::{BusyHandler, Options, Permit, WriteQueue, confine};
use crate::sqlite::refusal::Failure;
use crate::{
    Answer, Blocking, BulkForm, Canceller, LocalOptions, Request, Result, SystemError,
    TransactionStatus, run_session_statements,
};

/// One session with a database file.
pub struct SqliteConnection {
    connection: Connection,
    busy_handler: Arc<BusyHandler>,
    write_queue: Option<Arc<WriteQueue>>,
    /// While it writes.
    permit: RefCell<Option<Permit>>,
    /// Texts of prepared statements by id; the library's handles are cached by text.
    prepared: ById<Box<str>>,
    /// How many statements the library keeps.
    cached: usize,
    bulk: Option<Bulk>,
    version: String,
}

impl SqliteConnection {
    /// The database, its journal, and sometimes a temporary file.
    pub const OPEN_FILES: u32 = 3;

    /// Opens the file, creates it if it is missing (unless the session is read-only), and runs the
    /// session statements.
    ///
    /// # Errors
    /// Where no file is given, it cannot be opened or is not a database, or a session statement fails.
    pub fn open(deployment: &LocalOptions<'_>) -> Result<Self> {
        let path = Path::new(deployment.database_file()?);
        let options = Options::parse(deployment.options)?;
        let mode = if options.read_only {
            OpenFlags::SQLITE_OPEN_READ_ONLY
        } else {
            OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE
        };
        // One thread uses the session at a time, so it needs no mutex.
        let flags = mode | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let refused = |error: rusqlite::Error| refusal::opening(path, &error);
        let mut connection = Connection::open_with_flags(path, flags).map_err(refused)?;
        let busy_handler = BusyHandler::new(options.busy_timeout, deployment.stop);
        let waiting = Arc::clone(&busy_handler);
        connection
            .busy_handler(Some(move |tries| waiting.wait(tries)))
            .map_err(refused)?;
        connection
            .set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_FKEY, false)
            .map_err(refused)?;
        opening::define_regexp(&connection).map_err(refused)?;
        if options.is_confined {
            confine(&mut connection).map_err(refused)?;
        }
        // SQLite has not read the file so far: a file that is not a database is reported here.
        connection
            .query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))
            .map_err(refused)?;
        let mut opened = Self {
            connection,
            busy_handler,
            write_queue: WriteQueue::of(path).filter(|_| options.has_write_queue),
            permit: RefCell::default(),
            prepared: ById::default(),
            cached: 0,
            bulk: None,
            version: format!("SQLite {}", rusqlite::version()),
        };
        run_session_statements(&mut opened, deployment.session_statements)?;
        Ok(opened)
    }

    fn prepare(&mut self, id: u32, text: &str) -> rusqlite::Result<()> {
        let capacity = id as usize + 8;
        if self.cached < capacity {
            // All statements of the workload stay cached, with room for a few internal ones.
            self.connection
                .set_prepared_statement_cache_capacity(capacity);
            self.cached = capacity;
        }
        drop(self.connection.prepare_cached(text)?);
        *self.prepared.place(id) = Some(text.into());
        Ok(())
    }

    fn execute(&self, id: u32, parameters: &[Value], answer: &mut Answer) -> Result<(), Failure> {
        let text = self.prepared.get(id).ok_or_else(|| never_prepared(id))?;
        let mut statement = self.connection.prepare_cached(text)?;
        self.run(&mut statement, parameters, answer)
    }

    /// Executes begin, commit or rollback.
    fn operation(&self, text: &str, answer: &mut Answer) -> Result<(), Failure> {
        let mut statement = self.connection.prepare_cached(text)?;
        Ok(self.step(&mut statement, answer)?)
    }

    /// Before a statement that may write: waits in the queue. One whose transaction has read already does
    /// not: SQLite has it fail at once where another session writes, as waiting might never end.
    fn begin_write(&self, statement: &Statement<'_>) -> rusqlite::Result<()> {
        let mut permit = self.permit.borrow_mut();
        if let Some(queue) = &self.write_queue
            && permit.is_none()
            && !statement.readonly()
            && self.state() == ffi::SQLITE_TXN_NONE
        {
            let busy = ffi::Error::new(ffi::SQLITE_BUSY);
            let granted = queue.wait(&self.busy_handler);
            *permit = Some(granted.ok_or(rusqlite::Error::SqliteFailure(busy, None))?);
        }
        Ok(())
    }

    /// The next session may write, unless this one still does.
    fn end_write(&self) {
        let mut permit = self.permit.borrow_mut();
        if permit.is_some() && self.state() != ffi::SQLITE_TXN_WRITE {
            *permit = None;
        }
    }

    /// Whether a transaction is open in the file, and has written.
    fn state(&self) -> c_int {
        // SAFETY: the handle is that of an open connection, and the name is a C string.
        unsafe { ffi::sqlite3_txn_state(self.connection.handle(), c"main".as_ptr()) }
    }

    fn transaction(&self) -> TransactionStatus {
        match self.connection.is_autocommit() {
            true => TransactionStatus::None,
            false => TransactionStatus::Open,
        }
    }

    /// Executes a statement that is compiled only for this execution.
    fn direct(
        &self,
        pieces: &[Piece],
        parameters: &[Value],
        answer: &mut Answer,
    ) -> Result<(), Failure> {
        let mut statement = self.connection.prepare(&spelled(pieces))?;
        self.run(&mut statement, parameters, answer)
    }
}

impl Blocking for SqliteConnection {
    fn request(&mut self, request: &Request<'_>, answer: &mut Answer) -> Result<()> {
        self.busy_handler.begin();
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
            // The library may have rolled back already, and a second ROLLBACK is an error.
            Request::Rollback if self.connection.is_autocommit() => Ok(()),
            Request::Begin | Request::Commit | Request::Rollback => {
                self.operation(request.sql().unwrap_or_default(), answer)
            }
            Request::Execute { id, parameters } => self.execute(id, parameters, answer),
            Request::Bulk {
                text,
                form: BulkForm::Native,
                types,
            } => Bulk::begin(&self.connection, text, types).map(|bulk| self.bulk = Some(bulk)),
            Request::Bulk {
                form: BulkForm::MultiRow,
                ..
            } => {
                return Err(SystemError::protocol(
                    "a bulk load in the native form",
                    "multi-row",
                ));
            }
        };
        self.end_write();
        answer.transaction = self.transaction();
        answer.error = match done {
            Ok(()) => return Ok(()),
            Err(Failure::Driver(error)) => Some(error),
            Err(Failure::Library(error)) => {
                let is_open = answer.transaction == TransactionStatus::Open;
                Some(refusal::of(
                    &error,
                    self.busy_handler.is_exhausted(),
                    is_open,
                ))
            }
        };
        Ok(())
    }

    fn bulk_row(&mut self, row: &Row) -> Result<()> {
        match &mut self.bulk {
            Some(bulk) => {
                self.busy_handler.begin();
                bulk.row(&self.connection, row);
            }
            None => return Err(SystemError::protocol("an open bulk load", "a row")),
        }
        Ok(())
    }

    fn bulk_end(&mut self, abort: Option<&str>, answer: &mut Answer) -> Result<()> {
        match self.bulk.take() {
            Some(bulk) => {
                self.busy_handler.begin();
                bulk.end(&self.connection, abort, answer);
            }
            None => return Err(SystemError::protocol("an open bulk load", "its end")),
        }
        answer.transaction = self.transaction();
        Ok(())
    }

    fn server_version(&self) -> &str {
        &self.version
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        counters_of(&self.connection)
    }

    fn canceller(&self) -> Option<Canceller> {
        let (statement, busy_handler) = (
            self.connection.get_interrupt_handle(),
            self.busy_handler.clone(),
        );
        Some(Box::new(move || {
            busy_handler.cancel();
            statement.interrupt();
        }))
    }
}

/// Pages found in the session's cache and pages that had to be read, since it was opened.
fn counters_of(connection: &Connection) -> Vec<(&'static str, u64)> {
    [
        ("buffer_hits", ffi::SQLITE_DBSTATUS_CACHE_HIT),
        ("buffer_misses", ffi::SQLITE_DBSTATUS_CACHE_MISS),
    ]
    .into_iter()
    .filter_map(|(name, which)| Some((name, count(connection, which)?)))
    .collect()
}

fn count(connection: &Connection, which: c_int) -> Option<u64> {
    let (mut current, mut highest, keep) = (0, 0, 0);
    // SAFETY: the handle is that of an open connection, borrowed for the duration of the call, and the
    // library writes nothing but the two numbers.
    let status = unsafe {
        ffi::sqlite3_db_status(
            connection.handle(),
            which,
            &raw mut current,
            &raw mut highest,
            keep,
        )
    };
    // The library counts in unsigned 32 bits, but returns a signed integer.
    (status == ffi::SQLITE_OK).then(|| u64::from(current.cast_unsigned()))
}

impl SqliteConnection {
    /// Binds the values, and runs the statement.
    fn run(
        &self,
        statement: &mut Statement<'_>,
        parameters: &[Value],
        answer: &mut Answer,
    ) -> Result<(), Failure> {
        let (expected, found) = (statement.parameter_count(), parameters.len());
        if expected != found {
            let error = SystemError::wrong_parameters(expected, found);
            return Err(Failure::Driver(error));
        }
        for (index, value) in parameters.iter().enumerate() {
            bind(statement, index + 1, value)?;
        }
        self.step(statement, answer)?;
        Ok(())
    }

    /// Runs a statement whose parameters are bound, and reports its rows.
    fn step(&self, statement: &mut Statement<'_>, answer: &mut Answer) -> rusqlite::Result<()> {
        self.begin_write(statement)?;
        let columns = statement.column_count();
        if answer.wants_columns() {
            for (index, column) in statement.columns().enumerate() {
                let cell_type = column.decl_type().map_or(CellType::Plain, cell_type);
                answer.typed_column(statement.column_name(index)?, cell_type);
            }
        }
        // A statement that changes nothing does not reset the library's count of changed rows.
        let changes_before = self.connection.total_changes();
        if columns == 0 {
            match statement.raw_execute() {
                // A text of blanks and comments has no statement, and running it is an error.
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

    /// The library's text of a real number: its number of digits differs between versions.
    fn real_text(&self, real: f64) -> rusqlite::Result<String> {
        self.connection
            .prepare_cached("SELECT CAST(? AS TEXT)")?
            .query_row([real], |row| row.get(0))
    }
}

/// The text with `?1`, `?2` … for the values.
fn spelled(pieces: &[Piece]) -> String {
    Piece::join(pieces, |number, text| {
        text.push('?');
        text.push_str(&(number + 1).to_string());
    })
}

/// The cell type of a column, by its declared type, which the library does not enforce.
fn cell_type(declared: &str) -> CellType {
    let word = declared.split(['(', ' ']).next().unwrap_or_default();
    let types = [
        ("blob", CellType::Bytes),
        ("decimal", CellType::Decimal),
        ("numeric", CellType::Decimal),
        ("date", CellType::Date),
        ("time", CellType::Time),
        ("timestamp", CellType::Timestamp),
        ("datetime", CellType::Timestamp),
        ("json", CellType::Document),
    ];
    let found = types
        .iter()
        .find(|(name, _)| word.eq_ignore_ascii_case(name));
    found.map_or(CellType::Plain, |&(_, cell_type)| cell_type)
}

/// Binds one parameter, counted from 1. Booleans are 1 and 0, as the library has no boolean type.
fn bind(statement: &mut Statement<'_>, index: usize, value: &Value) -> rusqlite::Result<()> {
    match value {
        Value::Null => statement.raw_bind_parameter(index, Null),
        Value::Bool(truth) => statement.raw_bind_parameter(index, truth),
        Value::Int(integer) => statement.raw_bind_parameter(index, integer),
        Value::Double(real) => statement.raw_bind_parameter(index, real),
        Value::Text(text) => {
            let text = ToSqlOutput::Borrowed(ValueRef::Text(text.as_bytes()));
            statement.raw_bind_parameter(index, text)
        }
        Value::Bytes(bytes) => {
            statement.raw_bind_parameter(index, ToSqlOutput::Borrowed(ValueRef::Blob(bytes)))
        }
        // The library has no decimals: bound like a literal of these digits.
        Value::Decimal(decimal) => match decimal.whole() {
            Some(integer) if decimal.scale() == 0 => statement.raw_bind_parameter(index, integer),
            _ => statement.raw_bind_parameter(index, decimal.double()),
        },
        other => statement.raw_bind_parameter(index, other.to_text()),
    }
}

//! Takes requests; calls the connection and the cursors of a module, and returns their answers.

use assay_drivers::{
    Answer, Blocking, BulkForm, Canceller, ErrorClass, Request, SystemError, TransactionStatus,
};
use assay_script::{Lexer, StatementKind};
use assay_values::{ColumnType, Row, Value};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString, PyTuple};

use crate::dbapi::fetch;
use crate::dbapi::fetch::Reader;
use crate::dbapi::parameter::{Binder, ParameterStyle};

/// How transactions begin and end. PEP 249 knows no beginning: a statement begins one, and the connection's
/// methods end it.
pub enum Transactions {
    /// By statements, while the connection itself commits each statement; `\begin` sends this one.
    ByStatement(Box<str>),
    /// By the connection's methods; between transactions each statement is committed by itself. The switch is
    /// turned only when the next request needs it.
    ByAutocommit {
        /// Takes whether each statement is committed.
        switch: Py<PyAny>,
        /// As it was set last.
        is_on: bool,
    },
    /// By the connection's methods; outside transactions a commit follows each statement.
    Implicit,
}

/// What a session is made of.
pub struct Parts {
    pub style: ParameterStyle,
    pub transactions: Transactions,
    pub connection: Py<PyAny>,
    /// Makes the current call end early, from another thread.
    pub cancel: Option<Py<PyAny>>,
    pub version: String,
    pub binder: Binder,
    pub reader: Reader,
    pub describe: Describe,
}

/// A statement that is kept, with a cursor of its own: modules keep what they prepared with the cursor.
struct Prepared {
    text: Py<PyString>,
    cursor: Py<PyAny>,
    /// The names of its values; empty where they are passed in order.
    names: Vec<Py<PyString>>,
}

/// One connection of a module.
pub struct DbapiSession {
    parts: Parts,
    /// By the statement's id.
    prepared: Vec<Option<Prepared>>,
    /// For everything else.
    cursor: Option<Py<PyAny>>,
    status: TransactionStatus,
    bulk: Option<Bulk>,
}

impl DbapiSession {
    pub fn new(parts: Parts) -> Self {
        Self {
            parts,
            prepared: Vec::new(),
            cursor: None,
            status: TransactionStatus::None,
            bulk: None,
        }
    }

    fn answer(
        &mut self,
        py: Python<'_>,
        request: &Request<'_>,
        answer: &mut Answer,
    ) -> Result<(), Failure> {
        match *request {
            Request::Text(text) => match Lexer::default().kind(text) {
                StatementKind::Begin => self.begin(py, Some(text), answer),
                StatementKind::Commit => self.commit(py, Some(text), answer),
                StatementKind::Rollback => self.rollback(py, Some(text), answer),
                StatementKind::Rows | StatementKind::Other => {
                    self.before(py)?;
                    let cursor = self.cursor(py)?;
                    cursor.call_method1(intern!(py, "execute"), (text,))?;
                    fetch::rows(&cursor, &self.parts.reader, answer)?;
                    self.after(py)
                }
            },
            Request::Prepare { id, pieces } => {
                let prepared = self.prepare(py, pieces)?;
                let index = id as usize;
                if self.prepared.len() <= index {
                    self.prepared.resize_with(index + 1, || None);
                }
                self.prepared[index] = Some(prepared);
                Ok(())
            }
            Request::Execute { id, parameters } => {
                self.before(py)?;
                let prepared = self.prepared.get(id as usize).and_then(Option::as_ref);
                let prepared = prepared.ok_or_else(|| {
                    let message = format!("statement {id} was never prepared");
                    Failure::Driver(SystemError::new(ErrorClass::Other, "", message))
                })?;
                self.execute(py, prepared, parameters, answer)?;
                self.after(py)
            }
            Request::Direct { pieces, parameters } => {
                self.before(py)?;
                let prepared = self.prepare(py, pieces)?;
                self.execute(py, &prepared, parameters, answer)?;
                prepared.cursor.call_method0(py, intern!(py, "close"))?;
                self.after(py)
            }
            Request::Bulk {
                text,
                form: BulkForm::MultiRow,
                types,
            } => {
                self.before(py)?;
                self.bulk = Some(Bulk::begin(text, types));
                Ok(())
            }
            Request::Bulk {
                form: BulkForm::Native,
                ..
            } => Err(Failure::Driver(SystemError::new(
                ErrorClass::Other,
                "",
                "a DB-API module has no bulk load but executemany: expected the form multi-row, found native",
            ))),
            Request::Begin => self.begin(py, None, answer),
            Request::Commit => self.commit(py, None, answer),
            Request::Rollback => self.rollback(py, None, answer),
        }
    }

    /// The cursor for statements that are not kept.
    fn cursor<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        if let Some(cursor) = &self.cursor {
            return Ok(cursor.bind(py).clone());
        }
        let cursor = self.new_cursor(py)?;
        self.cursor = Some(cursor.clone().unbind());
        Ok(cursor)
    }

    fn new_cursor<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let connection = self.parts.connection.bind(py);
        connection.call_method0(intern!(py, "cursor"))
    }

    fn prepare(&self, py: Python<'_>, pieces: &[assay_values::Piece]) -> PyResult<Prepared> {
        let count = match self.parts.style.is_by_name() {
            true => assay_values::Piece::count_values(pieces),
            false => 0,
        };
        let names = names(count);
        Ok(Prepared {
            text: PyString::new(py, &self.parts.style.spell(pieces)).unbind(),
            cursor: self.new_cursor(py)?.unbind(),
            names: (names.iter().map(|name| PyString::intern(py, name).unbind())).collect(),
        })
    }

    fn execute(
        &self,
        py: Python<'_>,
        prepared: &Prepared,
        parameters: &[Value],
        answer: &mut Answer,
    ) -> PyResult<()> {
        let cursor = prepared.cursor.bind(py);
        let (name, text) = (intern!(py, "execute"), &prepared.text);
        let binder = &self.parts.binder;
        if parameters.is_empty() {
            cursor.call_method1(name, (text,))?;
        } else if prepared.names.is_empty() {
            let values: Vec<Bound<'_, PyAny>> = (parameters.iter())
                .map(|value| binder.value(py, value))
                .collect::<PyResult<_>>()?;
            cursor.call_method1(name, (text, PyTuple::new(py, values)?))?;
        } else {
            let values = PyDict::new(py);
            for (name, value) in prepared.names.iter().zip(parameters) {
                values.set_item(name, binder.value(py, value)?)?;
            }
            cursor.call_method1(name, (text, values))?;
        }
        fetch::rows(cursor, &self.parts.reader, answer)
    }

    /// Executes a text without rows on the common cursor.
    fn run(&mut self, py: Python<'_>, text: &str, answer: &mut Answer) -> PyResult<()> {
        let cursor = self.cursor(py)?;
        cursor.call_method1(intern!(py, "execute"), (text,))?;
        fetch::rows(&cursor, &self.parts.reader, answer)
    }

    fn call(&self, py: Python<'_>, method: &str) -> PyResult<()> {
        self.parts.connection.bind(py).call_method0(method)?;
        Ok(())
    }

    fn begin(
        &mut self,
        py: Python<'_>,
        text: Option<&str>,
        answer: &mut Answer,
    ) -> Result<(), Failure> {
        if let Transactions::ByStatement(begin) = &self.parts.transactions {
            let text = text.map_or_else(|| begin.to_string(), str::to_owned);
            self.run(py, &text, answer)?;
        }
        self.switch(py, false)?;
        self.status = TransactionStatus::Open;
        Ok(())
    }

    fn commit(
        &mut self,
        py: Python<'_>,
        text: Option<&str>,
        answer: &mut Answer,
    ) -> Result<(), Failure> {
        match self.parts.transactions {
            Transactions::ByStatement(_) => self.run(py, text.unwrap_or("COMMIT"), answer)?,
            _ => self.call(py, "commit")?,
        }
        self.status = TransactionStatus::None;
        Ok(())
    }

    /// Rolls back where a transaction may be open. After an error the system may have done so itself, and then
    /// refuses the statement.
    fn rollback(
        &mut self,
        py: Python<'_>,
        text: Option<&str>,
        answer: &mut Answer,
    ) -> Result<(), Failure> {
        let is_known = self.status != TransactionStatus::Unknown;
        if matches!(self.parts.transactions, Transactions::ByStatement(_)) {
            let is_none = self.status == TransactionStatus::None;
            if is_none && text.is_none() {
                return Ok(());
            }
            match self.run(py, text.unwrap_or("ROLLBACK"), answer) {
                Err(error) if is_known => return Err(error.into()),
                Err(_) => self.call(py, "rollback")?,
                Ok(()) => {}
            }
        } else {
            self.call(py, "rollback")?;
        }
        self.status = TransactionStatus::None;
        Ok(())
    }

    /// Turns the switch of autocommit, where it is used and stands otherwise.
    fn switch(&mut self, py: Python<'_>, on: bool) -> PyResult<()> {
        if let Transactions::ByAutocommit { switch, is_on } = &mut self.parts.transactions
            && *is_on != on
        {
            switch.call1(py, (on,))?;
            *is_on = on;
        }
        Ok(())
    }

    /// Before a statement that neither begins nor ends a transaction.
    fn before(&mut self, py: Python<'_>) -> PyResult<()> {
        match self.status {
            TransactionStatus::None => self.switch(py, true),
            _ => Ok(()),
        }
    }

    /// After one: outside a transaction it is committed.
    fn after(&self, py: Python<'_>) -> Result<(), Failure> {
        let is_alone = self.status == TransactionStatus::None;
        if is_alone && matches!(self.parts.transactions, Transactions::Implicit) {
            self.call(py, "commit")?;
        }
        Ok(())
    }

    /// The error of a request; `Err` where the session is over.
    fn failed(
        &mut self,
        py: Python<'_>,
        failure: Failure,
        is_commit: bool,
    ) -> Result<SystemError, SystemError> {
        let parts = &self.parts;
        let error = (parts.describe).error(py, failure, Some(&parts.connection));
        if error.class.ends_the_session() {
            return Err(error);
        }
        if self.status == TransactionStatus::Open {
            self.status = TransactionStatus::Unknown;
        } else if matches!(self.parts.transactions, Transactions::Implicit) {
            // The statement has begun a transaction, which stays open otherwise.
            let _ = self.call(py, "rollback");
        }
        // Whether the commit has happened is known only where the system says what is wrong.
        let is_vague = matches!(error.class, ErrorClass::Other | ErrorClass::Timeout);
        Ok(match is_commit && is_vague {
            true => error.unknown(),
            false => error,
        })
    }

    /// Inserts the rows of the bulk load that wait.
    fn insert(&mut self, py: Python<'_>) -> Result<(), SystemError> {
        let inserted = self.cursor(py).and_then(|cursor| match &mut self.bulk {
            Some(bulk) => bulk.insert(py, &cursor, self.parts.style, &self.parts.binder),
            None => Ok(()),
        });
        if let Err(error) = inserted {
            let error = self.failed(py, error.into(), false)?;
            if let Some(bulk) = &mut self.bulk {
                bulk.failed(error);
            }
        }
        Ok(())
    }
}

impl Blocking for DbapiSession {
    fn request(&mut self, request: &Request<'_>, answer: &mut Answer) -> Result<(), SystemError> {
        Python::attach(|py| {
            if let Err(failure) = self.answer(py, request, answer) {
                let is_commit = match request {
                    Request::Text(text) => Lexer::default().kind(text) == StatementKind::Commit,
                    request => matches!(request, Request::Commit),
                };
                answer.error = Some(self.failed(py, failure, is_commit)?);
            }
            answer.transaction = self.status;
            Ok(())
        })
    }

    fn bulk_row(&mut self, row: &Row) -> Result<(), SystemError> {
        let Some(bulk) = &mut self.bulk else {
            return Err(SystemError::protocol("an open bulk load", "a row"));
        };
        match bulk.take(row) {
            true => Python::attach(|py| self.insert(py)),
            false => Ok(()),
        }
    }

    fn bulk_end(&mut self, abort: Option<&str>, answer: &mut Answer) -> Result<(), SystemError> {
        Python::attach(|py| {
            if abort.is_none() {
                self.insert(py)?;
            }
            let Some(bulk) = self.bulk.take() else {
                return Err(SystemError::protocol("an open bulk load", "its end"));
            };
            bulk.end(abort, answer);
            if answer.error.is_none()
                && let Err(failure) = self.after(py)
            {
                answer.error = Some(self.failed(py, failure, true)?);
            }
            answer.transaction = self.status;
            Ok(())
        })
    }

    fn server_version(&self) -> &str {
        &self.parts.version
    }

    fn canceller(&self) -> Option<Canceller> {
        let cancel = self.parts.cancel.as_ref()?;
        let cancel = Python::attach(|py| cancel.clone_ref(py));
        Some(Box::new(move || {
            Python::attach(|py| {
                // Where nothing runs a module may refuse it.
                let _ = cancel.call0(py);
            });
        }))
    }
}

impl Drop for DbapiSession {
    fn drop(&mut self) {
        // At the interpreter's end there is nothing left to close.
        Python::try_attach(|py| {
            // A connection that is lost may refuse to be closed.
            let _ = self.call(py, "close");
        });
    }
}

// Takes what a module raised; returns the engine's error, as Python's side describes it.

/// What a call of a module ended in, if not in an answer.
pub enum Failure {
    /// It raised this.
    Raised(PyErr),
    /// The request cannot be passed on.
    Driver(SystemError),
}

impl From<PyErr> for Failure {
    fn from(error: PyErr) -> Self {
        Self::Raised(error)
    }
}

/// Takes an exception and the connection; returns (class, code, message, is unknown).
pub struct Describe(pub Py<PyAny>);

impl Describe {
    pub fn clone_ref(&self, py: Python<'_>) -> Self {
        Self(self.0.clone_ref(py))
    }

    /// `connection`: none while connecting.
    pub fn error(
        &self,
        py: Python<'_>,
        failure: Failure,
        connection: Option<&Py<PyAny>>,
    ) -> SystemError {
        let raised = match failure {
            Failure::Driver(error) => return error,
            Failure::Raised(raised) => raised,
        };
        let described = (self.0.bind(py).call1((raised.value(py), connection)))
            .and_then(|found| found.extract::<(String, String, String, bool)>());
        match described {
            Ok((class, code, message, is_unknown)) => {
                let class = ErrorClass::from_word(&class).unwrap_or(ErrorClass::Other);
                let error = SystemError::new(class, code, message);
                if is_unknown { error.unknown() } else { error }
            }
            // The describing function itself has failed.
            Err(error) => SystemError::new(ErrorClass::Other, "", error.to_string()).unknown(),
        }
    }
}

// Takes the rows of a bulk load; inserts them in batches by `cursor.executemany`.

/// Rows of a batch: enough to make the cost of a call negligible, few enough for one network message of
/// modules that make one INSERT of them.
const BATCH_ROWS: usize = 1000;

pub struct Bulk {
    /// Up to the word VALUES.
    text: Box<str>,
    types: Box<[ColumnType]>,
    rows: Vec<Row>,
    inserted: u64,
    /// The first error; later rows are skipped.
    pub error: Option<SystemError>,
}

impl Bulk {
    pub fn begin(text: &str, types: &[ColumnType]) -> Self {
        Self {
            text: text.into(),
            types: types.into(),
            rows: Vec::new(),
            inserted: 0,
            error: None,
        }
    }

    /// Takes a row; whether the batch is full.
    pub fn take(&mut self, row: &Row) -> bool {
        if self.error.is_none() {
            self.rows.push(row.clone());
        }
        self.rows.len() == BATCH_ROWS
    }

    /// Inserts the batch.
    pub fn insert(
        &mut self,
        py: Python<'_>,
        cursor: &Bound<'_, PyAny>,
        style: ParameterStyle,
        binder: &Binder,
    ) -> PyResult<()> {
        let Some(columns) = self.rows.first().map(Row::len) else {
            return Ok(());
        };
        let names = names(columns);
        let batch = PyList::empty(py);
        for row in &self.rows {
            let cells = row.cells().enumerate();
            let cells: Vec<Bound<'_, PyAny>> = cells
                .map(|(place, cell)| binder.cell(py, cell, self.types.get(place).copied()))
                .collect::<PyResult<_>>()?;
            if style.is_by_name() {
                let named = PyDict::new(py);
                for (name, cell) in names.iter().zip(cells) {
                    named.set_item(name, cell)?;
                }
                batch.append(named)?;
            } else {
                batch.append(PyTuple::new(py, cells)?)?;
            }
        }
        let text = format!("{} {}", self.text.trim_end(), style.places(columns));
        cursor.call_method1(intern!(py, "executemany"), (text, batch))?;
        self.inserted += self.rows.len() as u64;
        self.rows.clear();
        Ok(())
    }

    /// Keeps the error of a batch.
    pub fn failed(&mut self, error: SystemError) {
        let (first, last) = (self.inserted + 1, self.inserted + self.rows.len() as u64);
        let message = format!("rows {first} to {last}: {}", error.message);
        self.error = Some(SystemError { message, ..error });
        self.rows.clear();
    }

    pub fn end(self, abort: Option<&str>, answer: &mut Answer) {
        answer.affected = self.inserted;
        let aborted = abort.map(|reason| SystemError::new(ErrorClass::Other, "", reason));
        answer.error = aborted.or(self.error);
    }
}

/// The names of so many values.
pub fn names(count: usize) -> Vec<String> {
    (1..=count).map(|number| format!("p{number}")).collect()
}

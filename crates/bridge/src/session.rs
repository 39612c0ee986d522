//! Takes a deployment document; returns a session to Python, for schema, settings and queries.

use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};

use assay_drivers::{Answer, Keep};
use assay_engine::{DeploymentDocument, DriveDocument, EngineError};
use assay_values::{ColumnType, UnknownType};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::failure::{Failure, raise};
use crate::progress::ProgressCallback;

/// The answer to one statement, in text form.
#[pyclass(frozen, module = "assay._engine")]
pub struct Rows {
    #[pyo3(get)]
    is_query: bool,
    #[pyo3(get)]
    columns: Vec<String>,
    rows: Vec<Vec<Option<Box<[u8]>>>>,
    #[pyo3(get)]
    affected: u64,
}

#[pymethods]
impl Rows {
    /// A list of tuples of text, `None` for NULL. Bytes that are not UTF-8 become U+FFFD.
    #[getter]
    fn rows<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyTuple>>> {
        self.rows
            .iter()
            .map(|row| {
                PyTuple::new(
                    py,
                    row.iter()
                        .map(|cell| cell.as_deref().map(String::from_utf8_lossy)),
                )
            })
            .collect()
    }
}

/// (transaction, rows) of every statement of a drive document's scripts, run once in one session. `look` is called
/// while they are waited for; what it raises ends the wait.
#[pyfunction]
#[pyo3(signature = (document, look=None))]
pub fn query(
    py: Python<'_>,
    document: &str,
    look: Option<Py<PyAny>>,
) -> PyResult<Vec<(String, Rows)>> {
    let document = DriveDocument::parse(document).map_err(raise)?;
    let mut callback = ProgressCallback::new(look);
    let answered = py.detach(|| assay_engine::query(&document, &mut || callback.report(&())));
    if let Some(failure) = callback.into_failure() {
        return Err(failure);
    }
    let rows = |answered: assay_engine::Answered| {
        let rows = Rows {
            is_query: answered.is_query,
            columns: answered.columns,
            rows: answered.rows,
            affected: 0,
        };
        (answered.transaction, rows)
    };
    Ok(answered.map_err(raise)?.into_iter().map(rows).collect())
}

/// One session with a system.
#[pyclass(frozen, module = "assay._engine")]
pub struct Session {
    open: Mutex<Option<assay_engine::Session>>,
    /// Called while an answer is waited for; what it raises ends the wait.
    look: Option<Py<PyAny>>,
    #[pyo3(get)]
    server_version: String,
    #[pyo3(get)]
    session_id: u64,
}

#[pymethods]
impl Session {
    #[new]
    #[pyo3(signature = (deployment, look=None))]
    fn new(py: Python<'_>, deployment: &str, look: Option<Py<PyAny>>) -> PyResult<Self> {
        let deployment = DeploymentDocument::parse(deployment).map_err(raise)?;
        let mut callback = ProgressCallback::new(look.as_ref().map(|look| look.clone_ref(py)));
        let go_on = &mut || callback.report(&());
        let opened = py.detach(|| assay_engine::Session::open_while(&deployment, go_on));
        if let Some(failure) = callback.into_failure() {
            return Err(failure);
        }
        let open = opened.map_err(raise)?;
        Ok(Self {
            server_version: open.server_version().to_owned(),
            session_id: open.session_id(),
            open: Mutex::new(Some(open)),
            look,
        })
    }

    /// Executes one statement and keeps its rows.
    fn execute(&self, py: Python<'_>, statement: &str) -> PyResult<Rows> {
        let mut answer = self.query(py, statement, Keep::Rows)?;
        Ok(Rows {
            is_query: answer.is_query,
            columns: std::mem::take(&mut answer.columns),
            rows: std::mem::take(&mut answer.kept),
            affected: answer.affected,
        })
    }

    /// Executes one statement; counts its rows and digests them in any order. With the neutral types of the
    /// columns, equal values have equal digests even if systems print them differently.
    #[pyo3(signature = (statement, types=None))]
    fn digest(
        &self,
        py: Python<'_>,
        statement: &str,
        types: Option<Vec<String>>,
    ) -> PyResult<(u64, String)> {
        let types: Vec<ColumnType> = types
            .unwrap_or_default()
            .iter()
            .map(|word| word.parse())
            .collect::<Result<_, _>>()
            .map_err(|error: UnknownType| Failure::document(error.to_string()).into_exception())?;
        let answer =
            self.with_session(py, |open, go_on| open.digest_while(statement, types, go_on))?;
        Ok((answer.rows, format!("{:016x}", answer.digest)))
    }

    fn close(&self) {
        *self.open.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

impl Session {
    fn query(&self, py: Python<'_>, statement: &str, keep: Keep) -> PyResult<Answer> {
        self.with_session(py, |open, go_on| open.query_while(statement, keep, go_on))
    }

    /// Runs `work` with the session and a callback that checks for signals and looks; raises an error of the statement.
    fn with_session(
        &self,
        py: Python<'_>,
        work: impl FnOnce(
            &mut assay_engine::Session,
            &mut dyn FnMut() -> ControlFlow<()>,
        ) -> Result<Answer, EngineError>
        + Send,
    ) -> PyResult<Answer> {
        // The lock is taken inside: a thread that waits for it must not hold the interpreter lock.
        let look = self.look.as_ref().map(|look| look.clone_ref(py));
        let mut callback = ProgressCallback::new(look);
        let answered = py.detach(|| {
            let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
            let go_on = &mut || callback.report(&());
            open.as_mut().map(|open| work(open, go_on))
        });
        if let Some(failure) = callback.into_failure() {
            return Err(failure);
        }
        let answer = answered
            .ok_or_else(|| Failure::document("the session is closed").into_exception())?
            .map_err(raise)?;
        match answer.error {
            Some(error) => Err(Failure::from(error).into_exception()),
            None => Ok(answer),
        }
    }
}

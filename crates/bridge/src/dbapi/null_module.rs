//! A DB-API module that does nothing: a query has one row, and every other statement none. What clients
//! reach with it is the most that they can reach with any module.

use pyo3::prelude::*;
use pyo3::types::{PyAny, PyList};

/// A connection to nothing.
#[pyclass(module = "assay._engine")]
pub struct NullDbapiConnection {
    #[pyo3(get, set)]
    autocommit: bool,
}

#[pymethods]
impl NullDbapiConnection {
    #[new]
    fn new() -> Self {
        Self { autocommit: false }
    }

    #[staticmethod]
    fn cursor() -> NullDbapiCursor {
        NullDbapiCursor { has_row: false }
    }

    #[staticmethod]
    fn commit() {}

    #[staticmethod]
    fn rollback() {}

    #[staticmethod]
    fn close() {}
}

/// A cursor over nothing.
#[pyclass(module = "assay._engine")]
pub struct NullDbapiCursor {
    /// The row of a query that is not fetched yet.
    has_row: bool,
}

/// A column as `description` has it: its name, and six facts that are not known.
type Column = (
    &'static str,
    Option<i64>,
    Option<i64>,
    Option<i64>,
    Option<i64>,
    Option<i64>,
    Option<i64>,
);

#[pymethods]
impl NullDbapiCursor {
    #[getter]
    fn description(&self) -> Option<[Column; 1]> {
        self.has_row
            .then_some([("value", None, None, None, None, None, None)])
    }

    #[getter]
    #[expect(clippy::unused_self, reason = "a getter is a method")]
    fn rowcount(&self) -> i64 {
        1
    }

    #[pyo3(signature = (operation, parameters=None))]
    fn execute(&mut self, operation: &str, parameters: Option<&Bound<'_, PyAny>>) {
        let _ = parameters;
        self.has_row = operation.starts_with("SELECT");
    }

    #[staticmethod]
    fn executemany(operation: &str, parameters: &Bound<'_, PyAny>) {
        let _ = (operation, parameters);
    }

    #[pyo3(signature = (size=1))]
    fn fetchmany<'py>(&mut self, py: Python<'py>, size: usize) -> PyResult<Bound<'py, PyList>> {
        let rows = usize::from(self.has_row && size > 0);
        if rows > 0 {
            self.has_row = false;
        }
        PyList::new(py, (0..rows).map(|_| (1_i64,)))
    }

    #[staticmethod]
    fn close() {}
}

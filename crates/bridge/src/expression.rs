//! Takes an expression and the values of its names; returns its value to Python.

use assay_script::expression::{Origin, compile};
use assay_values::{Random, Value};
use pyo3::IntoPyObjectExt as _;
use pyo3::prelude::*;

use crate::failure::Failure;

/// A value passed from Python.
#[derive(FromPyObject)]
pub enum PythonValue {
    Bool(bool),
    Int(i64),
    Double(f64),
    Text(String),
}

/// The value of an expression with these constants; random functions use a fixed stream.
#[pyfunction]
pub fn evaluate(
    py: Python<'_>,
    text: &str,
    constants: Vec<(String, PythonValue)>,
    file: &str,
    line: u32,
    column: u32,
) -> PyResult<Py<PyAny>> {
    let constants: Vec<(String, Value)> = constants
        .into_iter()
        .map(|(name, given)| (name, value_of(given)))
        .collect();
    let origin = Origin {
        path: file,
        line,
        column,
    };
    let value = compile(text, &[], &constants, origin)
        .map_err(|error| Failure::from(error).into_exception())?
        .evaluate(&[], &mut Random::stream(0, 0))
        .map_err(|fault| Failure {
            kind: "script",
            message: fault.to_string(),
            file: file.to_owned(),
            line: line.into(),
            column: column.into(),
            ..Failure::default()
        })
        .map_err(Failure::into_exception)?;
    match value {
        Value::Null => Ok(py.None()),
        Value::Bool(value) => value.into_py_any(py),
        Value::Int(value) => value.into_py_any(py),
        Value::Double(value) => value.into_py_any(py),
        Value::Bytes(value) => value.into_py_any(py),
        other => other.to_text().into_py_any(py),
    }
}

fn value_of(given: PythonValue) -> Value {
    match given {
        PythonValue::Bool(value) => Value::Bool(value),
        PythonValue::Int(value) => Value::Int(value),
        PythonValue::Double(value) => Value::Double(value),
        PythonValue::Text(value) => Value::Text(value.into()),
    }
}

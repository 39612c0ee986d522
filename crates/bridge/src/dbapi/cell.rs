//! Takes an object that a module fetched; appends its text form, and returns the type of its column.

use assay_values::{CellType, write_double, write_int};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyByteArray, PyBytes, PyFloat, PyInt, PyString};

/// Python's classes for what has no text form of its own.
pub struct Reader {
    decimal: Py<PyAny>,
    timestamp: Py<PyAny>,
    date: Py<PyAny>,
    /// Takes any other object; returns its text or its bytes.
    text_of: Py<PyAny>,
}

impl Reader {
    pub fn new(py: Python<'_>, text_of: Py<PyAny>) -> PyResult<Self> {
        let datetime = py.import("datetime")?;
        Ok(Self {
            decimal: py.import("decimal")?.getattr("Decimal")?.unbind(),
            timestamp: datetime.getattr("datetime")?.unbind(),
            date: datetime.getattr("date")?.unbind(),
            text_of,
        })
    }

    /// Appends the text of an object that is not None.
    pub fn write(&self, object: &Bound<'_, PyAny>, out: &mut Vec<u8>) -> PyResult<()> {
        let py = object.py();
        if let Ok(text) = object.cast::<PyString>() {
            out.extend_from_slice(text.to_str()?.as_bytes());
        } else if let Ok(truth) = object.cast::<PyBool>() {
            out.extend_from_slice(if truth.is_true() { b"t" } else { b"f" });
        } else if let Ok(number) = object.cast::<PyInt>() {
            match number.extract::<i64>() {
                Ok(number) => write_int(number, out),
                Err(_) => out.extend_from_slice(number.str()?.to_str()?.as_bytes()),
            }
        } else if let Ok(number) = object.cast::<PyFloat>() {
            write_double(number.value(), out);
        } else if let Ok(bytes) = object.cast::<PyBytes>() {
            out.extend_from_slice(bytes.as_bytes());
        } else if object.is_instance(self.decimal.bind(py))? {
            let text = object.call_method1(intern!(py, "__format__"), (intern!(py, "f"),))?;
            out.extend_from_slice(text.cast::<PyString>()?.to_str()?.as_bytes());
        } else if object.is_instance(self.timestamp.bind(py))? {
            let text = object.call_method1(intern!(py, "isoformat"), (intern!(py, " "),))?;
            out.extend_from_slice(text.cast::<PyString>()?.to_str()?.as_bytes());
        } else {
            let text = self.text_of.bind(py).call1((object,))?;
            match text.cast::<PyString>() {
                Ok(text) => out.extend_from_slice(text.to_str()?.as_bytes()),
                Err(_) => out.extend_from_slice(text.cast::<PyBytes>()?.as_bytes()),
            }
        }
        Ok(())
    }

    /// How the text of such an object is to be read.
    pub fn cell_type(&self, object: &Bound<'_, PyAny>) -> PyResult<CellType> {
        let py = object.py();
        let is_bytes = object.is_instance_of::<PyBytes>() || object.is_instance_of::<PyByteArray>();
        Ok(if is_bytes {
            CellType::Bytes
        } else if object.is_instance(self.decimal.bind(py))? {
            CellType::Decimal
        } else if object.is_instance(self.timestamp.bind(py))? {
            CellType::Timestamp
        } else if object.is_instance(self.date.bind(py))? {
            CellType::Date
        } else {
            CellType::Plain
        })
    }
}

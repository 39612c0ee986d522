//! Takes a cursor that has executed a statement; fetches its rows into the answer.

use assay_drivers::Answer;
use assay_values::{CellType, write_double, write_int};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyByteArray, PyBytes, PyFloat, PyInt, PyList, PyString};

/// Rows of one call: enough to make its cost negligible.
const BATCH_ROWS: usize = 256;

/// Fetches all rows; for a statement that has none, takes how many it changed.
pub fn rows(cursor: &Bound<'_, PyAny>, reader: &Reader, answer: &mut Answer) -> PyResult<()> {
    let py = cursor.py();
    let description = cursor.getattr(intern!(py, "description"))?;
    if description.is_none() {
        // PEP 249 gives -1 where the number is not known.
        let changed = cursor.getattr(intern!(py, "rowcount"))?.extract::<i64>();
        answer.affected = changed.ok().and_then(|n| n.try_into().ok()).unwrap_or(0);
        return Ok(());
    }
    let mut has_columns = !answer.wants_columns();
    let mut text = Vec::new();
    loop {
        let batch = cursor.call_method1(intern!(py, "fetchmany"), (BATCH_ROWS,))?;
        let batch = match batch.cast_into::<PyList>() {
            Ok(list) => list,
            Err(other) => PyList::new(
                py,
                other
                    .into_inner()
                    .try_iter()?
                    .collect::<PyResult<Vec<_>>>()?,
            )?,
        };
        if !has_columns {
            columns(&description, &batch, reader, answer)?;
            has_columns = true;
        }
        for row in &batch {
            if !answer.wants_cells() {
                answer.pass_row();
                continue;
            }
            answer.begin_row();
            for cell in row.try_iter()? {
                let cell = cell?;
                if cell.is_none() {
                    answer.cell(None);
                } else {
                    text.clear();
                    reader.write(&cell, &mut text)?;
                    answer.cell(Some(&text));
                }
            }
            answer.end_row();
        }
        if batch.len() < BATCH_ROWS {
            return Ok(());
        }
    }
}

/// Names the columns. The type of each is that of its first value: PEP 249 has no common words for types.
fn columns(
    description: &Bound<'_, PyAny>,
    batch: &Bound<'_, PyList>,
    reader: &Reader,
    answer: &mut Answer,
) -> PyResult<()> {
    for (place, column) in description.try_iter()?.enumerate() {
        let name = column?.get_item(0)?;
        let mut cell_type = CellType::Plain;
        for row in batch {
            let cell = row.get_item(place)?;
            if !cell.is_none() {
                cell_type = reader.cell_type(&cell)?;
                break;
            }
        }
        answer.typed_column(name.cast::<PyString>()?.to_str()?, cell_type);
    }
    Ok(())
}

// Takes an object that a module fetched; appends its text form, and returns the type of its column.

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

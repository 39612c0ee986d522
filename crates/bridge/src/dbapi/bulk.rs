//! Takes the rows of a bulk load; inserts them in batches by `cursor.executemany`.

use assay_drivers::{Answer, ErrorClass, SystemError};
use assay_values::{ColumnType, Row};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};

use super::parameter::Binder;
use super::style::ParameterStyle;

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

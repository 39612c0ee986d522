//! Takes tables' rows from Python, as a mapping from table to rows; passes them to a load.

use std::sync::{Arc, Mutex, PoisonError};

use assay_engine::LoadDocument;
use assay_values::{Row, RowSource, SourceError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyFloat, PyInt, PyIterator, PyMapping, PyString};

use crate::failure::Failure;

/// Rows read each time the interpreter lock is held: enough to make its cost per row negligible.
const BATCH_ROWS: usize = 256;

/// The exception raised while iterating, for the caller to raise again.
pub type Raised = Arc<Mutex<Option<PyErr>>>;

pub struct PythonRows {
    /// In reverse order.
    tables: Vec<Table>,
    batch: Vec<Row>,
    /// How many rows of the batch are valid.
    filled: usize,
    taken: usize,
    raised: Raised,
}

struct Table {
    number: usize,
    name: String,
    /// 0 if the document does not define them.
    columns: usize,
    rows: Py<PyIterator>,
    /// Rows read so far.
    count: u64,
}

impl PythonRows {
    /// # Errors
    /// If the mapping has a table that the document does not have, or a value that cannot be iterated over.
    pub fn new(document: &LoadDocument, rows: &Bound<'_, PyMapping>) -> PyResult<Self> {
        let mut tables = Vec::new();
        for key in rows.keys()?.iter() {
            let name: String = key.extract()?;
            let place = document.tables.iter().position(|table| table.name == name);
            let Some(number) = place else {
                let message = format!("source: rows for the table {name}, which is not loaded");
                return Err(Failure::document(message).into_exception());
            };
            tables.push(Table {
                number,
                columns: document.tables[number].types.len(),
                rows: rows.get_item(&name)?.try_iter()?.unbind(),
                name,
                count: 0,
            });
        }
        tables.sort_by_key(|table| std::cmp::Reverse(table.number));
        Ok(Self {
            tables,
            batch: Vec::new(),
            filled: 0,
            taken: 0,
            raised: Raised::default(),
        })
    }

    pub fn raised(&self) -> Raised {
        Arc::clone(&self.raised)
    }

    /// Reads more rows of the current table; none are left if `filled` stays 0.
    fn fill(&mut self) -> Result<(), SourceError> {
        (self.filled, self.taken) = (0, 0);
        let Some(table) = self.tables.last_mut() else {
            return Ok(());
        };
        let batch = &mut self.batch;
        let filled = Python::attach(|py| -> PyResult<usize> {
            let mut rows = table.rows.bind(py).clone();
            let mut filled = 0;
            while filled < BATCH_ROWS {
                let Some(cells) = rows.next() else { break };
                if filled == batch.len() {
                    batch.push(Row::new());
                }
                read(&cells?, &mut batch[filled])?;
                filled += 1;
            }
            Ok(filled)
        });
        let of_table = |message: String| SourceError {
            message: format!("rows of the table {}: {message}", table.name),
            file: String::new(),
            line: 0,
            column: 0,
            hint: None,
        };
        self.filled = filled.map_err(|error| {
            let message = error.to_string();
            *self.raised.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
            of_table(message)
        })?;
        for row in &batch[..self.filled] {
            table.count += 1;
            if table.columns > 0 && row.len() != table.columns {
                let (found, expected, number) = (row.len(), table.columns, table.count);
                return Err(of_table(format!(
                    "expected {expected} cells, found {found} in row {number}"
                )));
            }
        }
        Ok(())
    }
}

impl RowSource for PythonRows {
    fn next_row(&mut self, row: &mut Row) -> Result<Option<usize>, SourceError> {
        loop {
            let Some(number) = self.tables.last().map(|table| table.number) else {
                return Ok(None);
            };
            if self.taken == self.filled {
                self.fill()?;
            }
            if self.taken < self.filled {
                std::mem::swap(row, &mut self.batch[self.taken]);
                self.taken += 1;
                return Ok(Some(number));
            }
            self.tables.pop();
        }
    }

    /// The size of Python's input is unknown.
    fn bytes_read(&self) -> u64 {
        0
    }
}

fn read(cells: &Bound<'_, PyAny>, row: &mut Row) -> PyResult<()> {
    row.clear();
    for cell in cells.try_iter()? {
        let cell = cell?;
        if cell.is_none() {
            row.push_null();
        } else if let Ok(text) = cell.cast::<PyString>() {
            row.push_bytes(text.to_cow()?.as_bytes());
        } else if let Ok(truth) = cell.cast::<PyBool>() {
            row.push_bool(truth.is_true());
        } else if let Some(whole) = whole(&cell) {
            row.push_int(whole);
        } else if let Ok(real) = cell.cast::<PyFloat>() {
            row.push_double(real.value());
        } else if let Ok(bytes) = cell.cast::<PyBytes>() {
            row.push_bytes(bytes.as_bytes());
        } else {
            row.push_bytes(cell.str()?.to_cow()?.as_bytes());
        }
    }
    Ok(())
}

/// An integer of 64 bits; a larger one is sent as text.
fn whole(cell: &Bound<'_, PyAny>) -> Option<i64> {
    cell.cast::<PyInt>().ok()?.extract().ok()
}

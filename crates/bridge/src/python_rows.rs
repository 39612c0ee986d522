//! Takes tables' rows from Python, as a mapping from table to rows; passes them to a load.

use std::sync::{Arc, Mutex, PoisonError};

use assay_engine::LoadDocument;
use assay_values::{ColumnType, Row, RowSource, SourceError};
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::types::{
    PyBool, PyBytes, PyDict, PyFloat, PyInt, PyIterator, PyList, PyMapping, PySequence, PyString,
};

use crate::failure::Failure;

/// Rows read each time the interpreter lock is held: enough to make its cost per row negligible.
const BATCH_ROWS: usize = 256;

/// The most characters of a wrong value that a message shows.
const LONGEST_SHOWN: usize = 60;

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
    /// Of its columns; empty if the document does not define them.
    types: Vec<ColumnType>,
    rows: Py<PyIterator>,
    /// Rows read so far.
    count: u64,
}

impl PythonRows {
    /// # Errors
    /// If the mapping has a table that the document does not have, or rows that cannot be iterated over.
    pub fn new(document: &LoadDocument, rows: &Bound<'_, PyMapping>) -> PyResult<Self> {
        let mut tables = Vec::new();
        for key in rows.keys()?.iter() {
            let name = key.str()?.to_string();
            let place = document.tables.iter().position(|table| table.name == name);
            let Some(number) = place else {
                let message = format!("rows for the table {name}, which is not loaded");
                return Err(Failure::from(of_source(message)).into_exception());
            };
            let found = rows.get_item(&key)?;
            let Ok(iterator) = found.try_iter() else {
                let message = format!(
                    "rows of the table {name}: expected something to iterate over, found {}",
                    shown(&found)
                );
                return Err(Failure::from(of_source(message)).into_exception());
            };
            tables.push(Table {
                number,
                types: document.tables[number].types.clone(),
                rows: iterator.unbind(),
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
        let filled = Python::attach(|py| -> Result<usize, Wrong> {
            let mut rows = table.rows.bind(py).clone();
            let mut filled = 0;
            while filled < BATCH_ROWS {
                let Some(cells) = rows.next() else { break };
                if filled == batch.len() {
                    batch.push(Row::new());
                }
                table.count += 1;
                let row = &mut batch[filled];
                read(&cells?, &table.types, row).map_err(|wrong| wrong.in_row(table.count))?;
                filled += 1;
            }
            Ok(filled)
        });
        self.filled = filled.map_err(|wrong| {
            let message = match wrong {
                Wrong::Row(message) => message,
                Wrong::Raised(error) => {
                    let message = error.to_string();
                    *self.raised.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                    message
                }
            };
            of_source(format!("rows of the table {}: {message}", table.name))
        })?;
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

/// Why a row cannot be loaded.
enum Wrong {
    /// The iterator raised this.
    Raised(PyErr),
    /// The row or a cell of it is not what the table needs.
    Row(String),
}

impl From<PyErr> for Wrong {
    fn from(error: PyErr) -> Self {
        Self::Raised(error)
    }
}

impl Wrong {
    fn in_row(self, number: u64) -> Self {
        match self {
            Self::Row(message) => Self::Row(format!("row {number}: {message}")),
            raised @ Self::Raised(_) => raised,
        }
    }
}

/// An error without a place in a file, which Python gets with the name of the source.
fn of_source(message: String) -> SourceError {
    SourceError {
        message,
        file: String::new(),
        line: 0,
        column: 0,
        hint: None,
    }
}

fn read(cells: &Bound<'_, PyAny>, types: &[ColumnType], row: &mut Row) -> Result<(), Wrong> {
    row.clear();
    let is_text = cells.is_instance_of::<PyString>() || cells.is_instance_of::<PyBytes>();
    let Some(cells) = cells.cast::<PySequence>().ok().filter(|_| !is_text) else {
        return Err(Wrong::Row(format!(
            "expected a list or tuple of {} cells, found {}",
            types.len(),
            shown(cells)
        )));
    };
    let found = cells.len()?;
    if !types.is_empty() && found != types.len() {
        let expected = types.len();
        return Err(Wrong::Row(format!(
            "expected {expected} cells, found {found}"
        )));
    }
    for (index, cell) in cells.try_iter()?.enumerate() {
        let cell = cell?;
        let expected = types.get(index).copied();
        let wrong = || {
            let (number, found) = (index + 1, shown(&cell));
            Wrong::Row(match expected {
                Some(expected) => format!("cell {number}: expected {expected}, found {found}"),
                None => format!("cell {number}: {found} has no text form"),
            })
        };
        let is_pushed = match expected {
            Some(ColumnType::Json | ColumnType::Array(_)) => push_json(&cell, row)?,
            _ => push(&cell, row)?,
        };
        if !is_pushed || expected.is_some_and(|kind| !kind.accepts(row.cell(index))) {
            return Err(wrong());
        }
    }
    Ok(())
}

/// Appends the cell; returns whether it has a form that systems can store.
fn push(cell: &Bound<'_, PyAny>, row: &mut Row) -> PyResult<bool> {
    if cell.is_none() {
        row.push_null();
    } else if let Ok(text) = cell.cast::<PyString>() {
        return Ok(push_text(text, row));
    } else if let Ok(truth) = cell.cast::<PyBool>() {
        row.push_bool(truth.is_true());
    } else if let Some(whole) = whole(cell) {
        row.push_int(whole);
    } else if let Ok(real) = cell.cast::<PyFloat>() {
        row.push_double(real.value());
    } else if let Ok(bytes) = cell.cast::<PyBytes>() {
        row.push_bytes(bytes.as_bytes());
    } else if has_text(cell)? {
        return Ok(push_text(&cell.str()?, row));
    } else {
        return Ok(false);
    }
    Ok(true)
}

/// Appends a cell of a column that holds JSON: a dict or a list as its JSON text, a text as it is.
fn push_json(cell: &Bound<'_, PyAny>, row: &mut Row) -> PyResult<bool> {
    if !cell.is_instance_of::<PyDict>() && !cell.is_instance_of::<PyList>() {
        return push(cell, row);
    }
    let json = cell.py().import("json")?;
    match json.call_method1("dumps", (cell,)) {
        Ok(text) => Ok(push_text(&text.str()?, row)),
        // A member has no form in JSON. Others are no errors of the cell: KeyboardInterrupt.
        Err(error) if error.is_instance_of::<PyException>(cell.py()) => Ok(false),
        Err(error) => Err(error),
    }
}

/// False for half of a surrogate pair, which UTF-8 has no bytes for.
fn push_text(text: &Bound<'_, PyString>, row: &mut Row) -> bool {
    let Ok(text) = text.to_cow() else {
        return false;
    };
    row.push_bytes(text.as_bytes());
    true
}

/// Whether its class defines a text, as those of decimal numbers and dates do; the inherited text is a
/// description for programmers (`<object object at 0x7f…>`).
fn has_text(cell: &Bound<'_, PyAny>) -> PyResult<bool> {
    let text = pyo3::intern!(cell.py(), "__str__");
    let inherited = cell.py().get_type::<PyAny>().getattr(text)?;
    Ok(!cell.get_type().getattr(text)?.is(&inherited))
}

/// What was found, for a message: its type and the beginning of its value.
fn shown(value: &Bound<'_, PyAny>) -> String {
    let kind = value.get_type();
    let kind = kind
        .name()
        .map_or_else(|_| "a value".to_owned(), |name| name.to_string());
    let text = value.repr().map_or_else(
        |_| String::new(),
        |text| text.to_string_lossy().into_owned(),
    );
    let mut beginning: String = text.chars().take(LONGEST_SHOWN).collect();
    if beginning.len() < text.len() {
        beginning.push('…');
    }
    format!("{kind} {beginning}")
}

/// An integer of 64 bits; a larger one is sent as text.
fn whole(cell: &Bound<'_, PyAny>) -> Option<i64> {
    cell.cast::<PyInt>().ok()?.extract().ok()
}

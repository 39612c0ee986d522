//! Takes a cursor that has executed a statement; fetches its rows into the answer.

use assay_drivers::Answer;
use assay_values::CellType;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString};

use super::cell::Reader;

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

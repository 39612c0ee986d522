//! Helpers that compile documents and return their rows as text.

#![allow(dead_code, reason = "each test file uses its part of this")]

use std::sync::Arc;

use assay_datagen::{Dataset, GeneratedDocument, GeneratedSource, Part};
use assay_values::{Row, RowSource as _, SourceError};

pub fn dataset(document: &serde_json::Value) -> Arc<Dataset> {
    let document: GeneratedDocument = serde_json::from_value(document.clone()).unwrap();
    Dataset::compile(&document).unwrap_or_else(|error| panic!("{error} {:?}", error.hint))
}

/// The error of an invalid document: place, message, hint.
pub fn error(document: &serde_json::Value) -> String {
    let document: GeneratedDocument = serde_json::from_value(document.clone()).unwrap();
    match Dataset::compile(&document) {
        Ok(_) => panic!("expected an error"),
        Err(error) => format!("{error}; {}", error.hint.as_deref().unwrap_or_default()),
    }
}

/// (table, its cells) of each row; NULL is `∅`.
pub fn try_rows(dataset: &Arc<Dataset>, part: Part) -> Result<Vec<(usize, String)>, SourceError> {
    let mut source = GeneratedSource::new(Arc::clone(dataset), part);
    let (mut row, mut rows, mut scratch) = (Row::new(), Vec::new(), Vec::new());
    while let Some(table) = source.next_row(&mut row)? {
        let mut text = |cell: assay_values::Cell<'_>| match cell.text_in(&mut scratch) {
            Some(text) => String::from_utf8(text.to_vec()).unwrap(),
            None => "∅".to_owned(),
        };
        rows.push((
            table,
            row.cells().map(&mut text).collect::<Vec<_>>().join("|"),
        ));
    }
    Ok(rows)
}

pub fn rows(dataset: &Arc<Dataset>, part: Part) -> Vec<(usize, String)> {
    try_rows(dataset, part).unwrap()
}

pub fn rows_of(dataset: &Arc<Dataset>, table: usize) -> Vec<String> {
    let rows = rows(dataset, Part::WHOLE).into_iter();
    rows.filter(|(place, _)| *place == table)
        .map(|(_, cells)| cells)
        .collect()
}

//! A source of numbered rows that can fail at a given row.

use std::ops::ControlFlow;

use assay_engine::{EngineError, LoadDocument, LoadProgress, LoadReport, load};
use assay_values::{Row, RowSource, SourceError};
use serde_json::{Value, json};

/// Goes on until this many rows are loaded.
pub fn until(rows: u64) -> impl FnMut(&LoadProgress) -> ControlFlow<()> {
    move |progress| match progress.rows < rows {
        true => ControlFlow::Continue(()),
        false => ControlFlow::Break(()),
    }
}

/// The load of one table.
pub fn loaded(
    deployment: &Value,
    table: &str,
    bulk: &str,
    rows: u64,
) -> Result<LoadReport, EngineError> {
    let table = json!({ "name": table, "bulk": bulk, "form": "native" });
    let document = json!({ "deployment": deployment, "tables": [table] });
    loaded_by(&document, Counting::new(1, rows), u64::MAX)
}

pub fn loaded_by(
    document: &Value,
    mut source: Counting,
    breaks_at: u64,
) -> Result<LoadReport, EngineError> {
    let document = LoadDocument::parse(&document.to_string()).unwrap();
    load(&document, &mut source, &mut until(breaks_at))
}

/// `rows` rows (number, text of the number) for each table in turn.
pub struct Counting {
    pub tables: usize,
    pub rows: u64,
    /// The row of the last table that is invalid: its first cell is not a number.
    pub wrong_at: Option<u64>,
    /// The row of the last table at which the source fails.
    pub fails_at: Option<u64>,
    table: usize,
    next: u64,
}

impl Counting {
    pub fn new(tables: usize, rows: u64) -> Self {
        Self {
            tables,
            rows,
            wrong_at: None,
            fails_at: None,
            table: 0,
            next: 0,
        }
    }
}

impl RowSource for Counting {
    fn next_row(&mut self, row: &mut Row) -> Result<Option<usize>, SourceError> {
        row.clear();
        if self.next == self.rows {
            (self.table, self.next) = (self.table + 1, 0);
        }
        if self.table >= self.tables {
            return Ok(None);
        }
        let number = self.next;
        self.next += 1;
        let is_last = self.table + 1 == self.tables;
        if is_last && self.fails_at == Some(number) {
            return Err(SourceError {
                message: "the source failed".to_owned(),
                file: "rows.txt".to_owned(),
                line: number,
                column: 0,
                hint: None,
            });
        }
        if is_last && self.wrong_at == Some(number) {
            row.push_bytes(b"no number");
        } else {
            row.push_int(i64::try_from(number).unwrap());
        }
        row.push_bytes(format!("row {number} of table {}", self.table).as_bytes());
        Ok(Some(self.table))
    }

    fn bytes_read(&self) -> u64 {
        0
    }
}

//! Takes a data set and a part of it; returns the rows of its loaded tables to a load, table by table.

use std::sync::Arc;

use assay_values::{Row, RowSource, SourceError};

use crate::cursor::Cursor;
use crate::{Dataset, Part};

/// The rows of one part.
pub struct GeneratedSource {
    dataset: Arc<Dataset>,
    part: Part,
    table: usize,
    /// The table's number among those that are loaded.
    number: usize,
    cursor: Option<Cursor>,
}

impl GeneratedSource {
    /// The rows of one part of all tables.
    #[must_use]
    pub fn new(dataset: Arc<Dataset>, part: Part) -> Self {
        Self {
            dataset,
            part,
            table: 0,
            number: 0,
            cursor: None,
        }
    }
}

impl RowSource for GeneratedSource {
    #[inline]
    fn next_row(&mut self, row: &mut Row) -> Result<Option<usize>, SourceError> {
        let dataset = &*self.dataset;
        while let Some(table) = dataset.tables.get(self.table) {
            if !table.is_loaded {
                self.table += 1;
                continue;
            }
            let cursor = self.cursor.get_or_insert_with(|| {
                Cursor::new(dataset, self.table, dataset.roots(self.table, self.part))
            });
            if cursor.advance(dataset)? {
                cursor.write(dataset, row)?;
                return Ok(Some(self.number));
            }
            self.table += 1;
            self.number += 1;
            self.cursor = None;
        }
        Ok(None)
    }

    /// Nothing is read: the rows are computed.
    fn bytes_read(&self) -> u64 {
        0
    }
}

//! Takes a data set and a part of it; returns the rows of all tables to a load, table by table.

use std::sync::Arc;

use assay_values::{Row, RowSource, SourceError};

use crate::cursor::Cursor;
use crate::{Dataset, Part};

/// The rows of one part.
pub struct GeneratedSource {
    dataset: Arc<Dataset>,
    part: Part,
    table: usize,
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
            cursor: None,
        }
    }
}

impl RowSource for GeneratedSource {
    #[inline]
    fn next_row(&mut self, row: &mut Row) -> Result<Option<usize>, SourceError> {
        let dataset = &*self.dataset;
        while self.table < dataset.tables.len() {
            let cursor = self.cursor.get_or_insert_with(|| {
                Cursor::new(dataset, self.table, dataset.roots(self.table, self.part))
            });
            if cursor.advance(dataset)? {
                cursor.write(dataset, row)?;
                return Ok(Some(self.table));
            }
            self.table += 1;
            self.cursor = None;
        }
        Ok(None)
    }

    /// Nothing is read: the rows are computed.
    fn bytes_read(&self) -> u64 {
        0
    }
}

//! Takes a data set; returns the exact number of rows of each table.

use assay_script::expression::Fault;
use assay_values::{Random, SourceError, Value};

use crate::cursor::Cursor;
use crate::dataset::{Dataset, row_count};
use crate::part::Part;

impl Dataset {
    /// How many rows of the table are in the part. If the number of children varies, it is computed for every
    /// parent row, without the row's other values.
    ///
    /// # Errors
    /// If a number of rows cannot be computed.
    pub fn count(&self, table: usize, part: Part) -> Result<u64, SourceError> {
        let compiled = &self.tables[table];
        let Some(parent) = compiled.parent else {
            let range = part.range(compiled.total);
            return Ok(range.end - range.start);
        };
        if !compiled.has_constant_count() {
            return Cursor::new(self, table, self.roots(table, part)).count(self);
        }
        let each = compiled
            .rows
            .evaluate(
                &vec![Value::Null; compiled.slots()],
                &mut Random::stream(0, 0),
            )
            .map_err(|Fault(message)| message.into_owned())
            .and_then(|value| row_count(&value))
            .map_err(|message| {
                let what = format!("the rows of {}", compiled.name);
                self.error_at(compiled.rows_line, &what, &message)
            })?;
        Ok(self.count(parent, part)? * each)
    }
}

//! Takes a data set; gives the exact number of rows of each table.

use std::ops::Range;

use assay_script::expression::Fault;
use assay_values::{Random, SourceError, Value};

use crate::cursor::{Cursor, error_at};
use crate::table::Table;
use crate::{Dataset, Part};

impl Dataset {
    /// How many rows of the table the part holds. Where children are counted row by row, every parent
    /// row is asked, and none of their values is made.
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
            .and_then(|value| whole_number(&value))
            .map_err(|message| {
                let what = format!("the rows of {}", compiled.name);
                error_at(self, compiled.rows_line, &what, &message)
            })?;
        Ok(self.count(parent, part)? * each)
    }

    /// The rows of the table's first ancestor (or of itself) that the part holds.
    pub(crate) fn roots(&self, table: usize, part: Part) -> Range<u64> {
        part.range(self.root_of(table).total)
    }

    /// The first ancestor of the table, or itself.
    pub(crate) fn root_of(&self, table: usize) -> &Table {
        let mut root = &self.tables[table];
        while let Some(parent) = root.parent {
            root = &self.tables[parent];
        }
        root
    }
}

/// A number of rows, or what is wrong with it. A double is one where it is whole: `1000 * :scale` may be.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the bounds are tested before"
)]
pub(crate) fn whole_number(value: &Value) -> Result<u64, String> {
    let found = match value {
        Value::Int(number) => match u64::try_from(*number) {
            Ok(number) => return Ok(number),
            Err(_) => number.to_string(),
        },
        Value::Double(number) if number.fract() == 0.0 && (0.0..9.0e18).contains(number) => {
            return Ok(*number as u64);
        }
        Value::Double(number) => number.to_string(),
        Value::Null => "NULL".to_owned(),
        Value::Bool(truth) => truth.to_string(),
        other => format!("{:?}", other.to_text()),
    };
    Err(format!(
        "expected a whole number of 0 or more, found {found}"
    ))
}

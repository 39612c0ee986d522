//! The compiled tables of a source document, and the selected part of their rows.

use std::ops::Range;

use assay_values::{SourceError, Value};

use crate::part::Part;
use crate::table::Table;

/// Tables whose rows are functions of a seed.
pub struct Dataset {
    pub(crate) file: Box<str>,
    pub(crate) tables: Vec<Table>,
    /// The part of the rows that the document selects.
    pub part: Part,
}

impl Dataset {
    /// The names of the tables, in order.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.tables.iter().map(|table| &*table.name)
    }

    /// The part's rows of the table's root ancestor (or of the table itself).
    pub(crate) fn roots(&self, table: usize, part: Part) -> Range<u64> {
        part.range(self.root_of(table).total)
    }

    /// The table's root ancestor, or itself.
    pub(crate) fn root_of(&self, table: usize) -> &Table {
        let mut root = &self.tables[table];
        while let Some(parent) = root.parent {
            root = &self.tables[parent];
        }
        root
    }

    /// An error at a line of the file that contains the expressions.
    #[cold]
    pub(crate) fn error_at(&self, line: u32, what: &str, message: &str) -> SourceError {
        SourceError {
            message: format!("{what}: {message}"),
            file: self.file.to_string(),
            line: line.into(),
            column: 0,
            hint: None,
        }
    }
}

/// Converts to a number of rows, or returns an error. Integral doubles are accepted: `1000 * :scale` may be
/// one.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the bounds are tested before"
)]
pub(crate) fn row_count(value: &Value) -> Result<u64, String> {
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

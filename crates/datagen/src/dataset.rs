//! The compiled tables of a source document, and the selected part of their rows.

use std::ops::Range;

use assay_values::SourceError;

use crate::part::Part;
use crate::table::Table;

/// Tables whose rows are functions of a seed.
pub struct Dataset {
    pub(crate) file: Box<str>,
    pub(crate) tables: Vec<Table>,
    pub(crate) part: Part,
}

impl Dataset {
    /// The part of the rows that the document selects.
    #[must_use]
    pub fn part(&self) -> Part {
        self.part
    }

    /// The names of the tables, in order.
    #[must_use]
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

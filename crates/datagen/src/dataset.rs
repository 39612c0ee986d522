//! Holds the tables of a source document, ready to make rows of, and the part that is asked for.

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
    /// The part that the document asks for.
    #[must_use]
    pub fn part(&self) -> Part {
        self.part
    }

    /// The names of the tables, in order.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.tables.iter().map(|table| &*table.name)
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

    /// What is wrong at a line of the file that the expressions stand in.
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

//! A table whose expressions are compiled, and the layout of the values that they see.
//!
//! ```text
//!   values:  :row │ the parent's columns … │ its own columns …
//! ```

use assay_script::expression::Formula;
use assay_values::ColumnType;

/// Where the row's own number stands among the values.
pub(crate) const ROW_SLOT: usize = 0;

pub(crate) struct Table {
    pub name: Box<str>,
    /// Its index.
    pub parent: Option<usize>,
    /// Rows per parent row; of a table without one, all rows, and then `total` says how many.
    pub rows: Formula,
    pub rows_line: u32,
    pub total: u64,
    pub columns: Vec<Column>,
    /// Columns of the parent that some expression here uses, and where they stand among the values here.
    pub inherited: Vec<(usize, usize)>,
    pub first_own_slot: usize,
    pub row_seed: u64,
    pub count_seed: u64,
}

pub(crate) struct Column {
    pub name: Box<str>,
    pub formula: Formula,
    pub of: Option<ColumnType>,
    pub line: u32,
    /// Another column of the same table uses it.
    pub is_kept: bool,
}

impl Table {
    pub fn slot(&self, column: usize) -> usize {
        self.first_own_slot + column
    }

    pub fn slots(&self) -> usize {
        self.slot(self.columns.len())
    }

    /// The types of its columns; none where one is not known.
    pub fn types(&self) -> Vec<ColumnType> {
        let types = self.columns.iter().map(|column| column.of);
        types.collect::<Option<_>>().unwrap_or_default()
    }

    /// Whether every parent row has the same number of child rows.
    pub fn has_constant_count(&self) -> bool {
        !self.rows.is_random() && (0..self.slots()).all(|slot| !self.rows.uses(slot))
    }

    /// Which columns must be computed so that those of `asked` are known: these, those that they use, and
    /// those that draw from the row's stream before one of them does.
    pub fn wanted(&self, asked: impl Iterator<Item = usize>) -> Box<[bool]> {
        let mut wanted = vec![false; self.columns.len()].into_boxed_slice();
        asked.for_each(|column| wanted[column] = true);
        let mut draws_later = false;
        for column in (0..self.columns.len()).rev() {
            let formula = &self.columns[column].formula;
            wanted[column] |= draws_later && formula.is_random();
            if wanted[column] {
                draws_later |= formula.is_random();
                (0..column)
                    .filter(|&used| formula.uses(self.slot(used)))
                    .for_each(|used| wanted[used] = true);
            }
        }
        wanted
    }
}

//! A table with compiled expressions, the layout of the values that they use, and the random streams of its rows.
//!
//! ```text
//!   values:  :row │ the columns of its ancestors, from the parent on … │ its own columns …
//! ```

use assay_script::expression::Formula;
use assay_values::{ColumnType, Random, RowHash};

/// The index of the row's own number among the values.
pub(crate) const ROW_SLOT: usize = 0;

pub(crate) struct Table {
    pub name: Box<str>,
    /// The parent's index.
    pub parent: Option<usize>,
    /// Whether its rows are among those of the source, and not only computed for its children.
    pub is_loaded: bool,
    /// Rows per parent row; without a parent, the number of all rows, which is in `total`.
    pub rows: Formula,
    pub rows_line: u32,
    pub total: u64,
    pub columns: Vec<Column>,
    /// Columns of ancestors that an expression here uses.
    pub inherited: Vec<Inherited>,
    pub first_own_slot: usize,
    pub row_seed: u64,
    pub count_seed: u64,
}

/// An ancestor's column, and where its value is here.
pub(crate) struct Inherited {
    /// 1: the parent's.
    pub levels_up: usize,
    pub column: usize,
    pub slot: usize,
}

pub(crate) struct Column {
    pub name: Box<str>,
    pub formula: Formula,
    pub column_type: Option<ColumnType>,
    pub line: u32,
    /// Whether another column of the same table uses it.
    pub is_kept: bool,
}

impl Table {
    pub fn slot(&self, column: usize) -> usize {
        self.first_own_slot + column
    }

    pub fn slots(&self) -> usize {
        self.slot(self.columns.len())
    }

    /// The types of its columns; empty if one is unknown.
    pub fn types(&self) -> Vec<ColumnType> {
        let types = self.columns.iter().map(|column| column.column_type);
        types.collect::<Option<_>>().unwrap_or_default()
    }

    /// Whether every parent row has the same number of child rows.
    pub fn has_constant_count(&self) -> bool {
        !self.rows.is_random() && (0..self.slots()).all(|slot| !self.rows.uses(slot))
    }

    /// Which columns must be computed to know the `requested` ones: these, the columns that they use, and the
    /// columns that draw from the row's stream before them.
    pub fn needed_columns(&self, requested: impl Iterator<Item = usize>) -> Box<[bool]> {
        let mut needed_columns = vec![false; self.columns.len()].into_boxed_slice();
        requested.for_each(|column| needed_columns[column] = true);
        let mut draws_later = false;
        for column in (0..self.columns.len()).rev() {
            let formula = &self.columns[column].formula;
            needed_columns[column] |= draws_later && formula.is_random();
            if needed_columns[column] {
                draws_later |= formula.is_random();
                (0..column)
                    .filter(|&used| formula.uses(self.slot(used)))
                    .for_each(|used| needed_columns[used] = true);
            }
        }
        needed_columns
    }
}

/// The purpose of a stream.
#[derive(Clone, Copy)]
pub(crate) enum Purpose {
    /// The values of the table's rows.
    Rows,
    /// How many rows a parent has.
    Count,
}

/// The seed of all streams of a table for one purpose.
pub(crate) fn table_seed(seed: u64, table: &str, purpose: Purpose) -> u64 {
    let mut name = RowHash::default();
    name.cell(Some(table.as_bytes()));
    Random::derived(Random::derived(seed, purpose as u64), name.sum())
}

/// The seed of a row's children; `ancestors` are the row numbers from the root table on.
pub(crate) fn seed_below(table_seed: u64, ancestors: impl Iterator<Item = u64>) -> u64 {
    ancestors.fold(table_seed, Random::derived)
}

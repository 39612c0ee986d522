//! Takes a table and a range of its root ancestor's rows; moves from row to row of the table, and computes
//! their values. Gives the rows of loaded tables to a load, table by table.
//!
//! A child table is traversed along its ancestors: each parent row is recomputed from its number, as far as
//! its children need it, and determines how many children it has.

use std::ops::Range;
use std::sync::Arc;

use assay_script::expression::Fault;
use assay_values::{Random, Row, RowSource, SourceError, Value};

use crate::dataset::{Dataset, row_count};
use crate::fit::fit;
use crate::part::Part;
use crate::table::{ROW_SLOT, Table, seed_below};

pub(crate) struct Cursor {
    /// From the root ancestor to the table itself.
    levels: Vec<Level>,
}

struct Level {
    table: usize,
    /// The current row, the next one, and the end of the rows of its parent.
    current: u64,
    next: u64,
    end: u64,
    /// The seed of the rows of the current parent.
    seed: u64,
    values: Vec<Value>,
    /// Columns that the levels below need.
    needed_columns: Box<[bool]>,
}

impl Cursor {
    /// Before the first row of `table` that descends from one of `roots`.
    pub fn new(dataset: &Dataset, table: usize, roots: Range<u64>) -> Self {
        let mut path = vec![table];
        while let Some(parent) = dataset.tables[path[path.len() - 1]].parent {
            path.push(parent);
        }
        path.reverse();
        let level = |(depth, &table): (usize, &usize)| {
            let compiled = &dataset.tables[table];
            let below = path.iter().enumerate().skip(depth + 1);
            let needed = below.flat_map(|(lower, &table)| {
                let inherited = dataset.tables[table].inherited.iter();
                let of_this = inherited.filter(move |one| lower - one.levels_up == depth);
                of_this.map(|one| one.column)
            });
            Level {
                table,
                current: 0,
                next: roots.start,
                end: if depth == 0 { roots.end } else { roots.start },
                seed: compiled.row_seed,
                values: vec![Value::Null; compiled.slots()],
                needed_columns: compiled.needed_columns(needed),
            }
        };
        Self {
            levels: path.iter().enumerate().map(level).collect(),
        }
    }

    /// Moves to the next row; returns false after the last one.
    ///
    /// # Errors
    /// If an ancestor's value or a number of children cannot be computed.
    #[inline]
    pub fn advance(&mut self, dataset: &Dataset) -> Result<bool, SourceError> {
        self.advance_at(dataset, self.levels.len() - 1)
    }

    fn advance_at(&mut self, dataset: &Dataset, depth: usize) -> Result<bool, SourceError> {
        loop {
            let level = &mut self.levels[depth];
            if level.next < level.end {
                level.current = level.next;
                level.next += 1;
                return Ok(true);
            }
            if depth == 0 || !self.next_parent(dataset, depth)? {
                return Ok(false);
            }
        }
    }

    /// Moves to the next parent row of the level, before its first child; returns false after the last.
    fn next_parent(&mut self, dataset: &Dataset, depth: usize) -> Result<bool, SourceError> {
        if !self.advance_at(dataset, depth - 1)? {
            return Ok(false);
        }
        self.compute_needed(dataset, depth - 1)?;
        let ancestors = || self.levels[..depth].iter().map(|level| level.current);
        let table = &dataset.tables[self.levels[depth].table];
        let seed = seed_below(table.row_seed, ancestors());
        // A stream of its own: the count depends on nothing else that is drawn.
        let above = seed_below(table.count_seed, ancestors().take(depth - 1));
        let mut random = Random::stream(above, self.levels[depth - 1].current);
        let (parents, own) = self.levels.split_at_mut(depth);
        let level = &mut own[0];
        for one in &table.inherited {
            let ancestor = &parents[depth - one.levels_up];
            let slot = dataset.tables[ancestor.table].slot(one.column);
            level.values[one.slot].clone_from(&ancestor.values[slot]);
        }
        let counted = table.rows.evaluate(&level.values, &mut random);
        let counted = counted.map_err(|Fault(message)| message.into_owned());
        let count = counted
            .and_then(|value| row_count(&value))
            .map_err(|message| {
                let what = format!(
                    "the rows of {} for {}",
                    table.name,
                    self.place(dataset, depth - 1)
                );
                dataset.error_at(table.rows_line, &what, &message)
            })?;
        let level = &mut self.levels[depth];
        (level.seed, level.next, level.end) = (seed, 0, count);
        Ok(true)
    }

    /// Computes the columns of the level's row that the levels below need.
    fn compute_needed(&mut self, dataset: &Dataset, depth: usize) -> Result<(), SourceError> {
        let level = &mut self.levels[depth];
        let table = &dataset.tables[level.table];
        let mut random = Random::stream(level.seed, level.current);
        level.values[ROW_SLOT] = number(level.current);
        for (index, column) in table.columns.iter().enumerate() {
            if !level.needed_columns[index] {
                continue;
            }
            match column.formula.evaluate(&level.values, &mut random) {
                Ok(value) => level.values[table.slot(index)] = value,
                Err(fault) => return Err(self.fault(dataset, depth, index, &fault.0)),
            }
        }
        Ok(())
    }

    /// Fills `row` with the current row.
    ///
    /// # Errors
    /// If a value cannot be computed, or its column cannot store it.
    #[inline]
    pub fn write(&mut self, dataset: &Dataset, row: &mut Row) -> Result<(), SourceError> {
        let depth = self.levels.len() - 1;
        let level = &mut self.levels[depth];
        let table = &dataset.tables[level.table];
        let mut random = Random::stream(level.seed, level.current);
        level.values[ROW_SLOT] = number(level.current);
        row.clear();
        for index in 0..table.columns.len() {
            if let Err(message) = write_cell(table, index, &mut level.values, &mut random, row) {
                return Err(self.fault(dataset, depth, index, &message));
            }
        }
        Ok(())
    }

    /// The current row of the root ancestor (or of the table itself).
    pub fn root(&self) -> u64 {
        self.levels[0].current
    }

    /// The number of remaining rows, computed from each parent row.
    ///
    /// # Errors
    /// As [`Cursor::advance`].
    pub fn count(mut self, dataset: &Dataset) -> Result<u64, SourceError> {
        let depth = self.levels.len() - 1;
        let rest = |level: &Level| level.end - level.next;
        let mut count = rest(&self.levels[depth]);
        while depth > 0 && self.next_parent(dataset, depth)? {
            count += rest(&self.levels[depth]);
        }
        Ok(count)
    }

    /// The row of a level for messages: `row 7 of orders`, `row 3 of lines below row 7 of orders`; counted
    /// from 0, like `:row`.
    fn place(&self, dataset: &Dataset, depth: usize) -> String {
        let level = &self.levels[depth];
        let name = &dataset.tables[level.table].name;
        match depth {
            0 => format!("row {} of {name}", level.current),
            _ => {
                format!(
                    "row {} of {name} below {}",
                    level.current,
                    self.place(dataset, depth - 1)
                )
            }
        }
    }

    #[cold]
    fn fault(&self, dataset: &Dataset, depth: usize, column: usize, message: &str) -> SourceError {
        let column = &dataset.tables[self.levels[depth].table].columns[column];
        let what = format!(
            "the column {} in {}",
            column.name,
            self.place(dataset, depth)
        );
        dataset.error_at(column.line, &what, message)
    }
}

#[inline]
fn write_cell(
    table: &Table,
    index: usize,
    values: &mut [Value],
    random: &mut Random,
    row: &mut Row,
) -> Result<(), String> {
    let column = &table.columns[index];
    let fault = |Fault(message): Fault| message.into_owned();
    if column.is_kept {
        let value = column.formula.evaluate(values, random).map_err(fault)?;
        row.push_value(&value);
        values[table.slot(index)] = value;
    } else {
        column.formula.write(values, random, row).map_err(fault)?;
    }
    column
        .column_type
        .map_or(Ok(()), |column_type| fit(column_type, row))
}

fn number(row: u64) -> Value {
    Value::Int(i64::try_from(row).expect("no table has 2^63 rows"))
}

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

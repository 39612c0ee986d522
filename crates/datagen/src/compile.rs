//! Takes a source document; returns its tables with every expression compiled, or an error with its place.

use std::sync::Arc;

use assay_script::ScriptError;
use assay_values::{ColumnType, Random};

use crate::dataset::{Dataset, row_count};
use crate::document::{GeneratedDocument, GeneratedTable};
use crate::scope::Scope;
use crate::stream::{Purpose, table_seed};
use crate::table::{Column, Inherited, Table};

impl Dataset {
    /// # Errors
    /// If an expression is invalid, a parent is unknown, or a table's number of rows is not an integer.
    pub fn compile(document: &GeneratedDocument) -> Result<Arc<Self>, ScriptError> {
        let mut tables: Vec<Table> = Vec::with_capacity(document.tables.len());
        for (index, table) in document.tables.iter().enumerate() {
            let tables_before = &document.tables[..index];
            tables.push(compile_table(document, table, tables_before)?);
        }
        Ok(Arc::new(Self {
            file: document.file.as_str().into(),
            tables,
            part: document.part,
        }))
    }
}

fn compile_table(
    document: &GeneratedDocument,
    table: &GeneratedTable,
    tables_before: &[GeneratedTable],
) -> Result<Table, ScriptError> {
    let parent = parent_of(document, table, tables_before)?;
    let ancestors = ancestors_of(tables_before, parent);
    let scope = Scope::new(document, table, &ancestors);
    if let Some(line) = repeated_column(table) {
        let message = format!(
            "the table {} has two columns with the same name",
            table.name
        );
        return Err(scope.error(line, message, None));
    }
    let rows = scope.rows(table)?;
    let mut columns: Vec<Column> = Vec::with_capacity(table.columns.len());
    for (index, column) in table.columns.iter().enumerate() {
        let column_type = column.column_type.as_deref().map(str::parse::<ColumnType>);
        let column_type = column_type.transpose().map_err(|unknown| {
            let message = format!("the column {}: {unknown}", column.name);
            scope.error(column.line, message, None)
        })?;
        columns.push(Column {
            name: column.name.as_str().into(),
            formula: scope.column(table, index)?,
            column_type,
            line: column.line,
            is_kept: false,
        });
    }
    let first_own_slot = scope.first_own_slot();
    for index in 0..columns.len() {
        let slot = first_own_slot + index;
        columns[index].is_kept = columns.iter().any(|column| column.formula.uses(slot));
    }
    let is_used = |slot| {
        rows.uses(slot)
            || columns
                .iter()
                .any(|column: &Column| column.formula.uses(slot))
    };
    let inherited = ancestors
        .iter()
        .enumerate()
        .flat_map(|(above, ancestor)| {
            (0..ancestor.columns.len()).map(move |column| (above + 1, column))
        })
        .zip(1..)
        .filter(|&(_, slot)| is_used(slot))
        .map(|((levels_up, column), slot)| Inherited {
            levels_up,
            column,
            slot,
        })
        .collect();
    let seed = |purpose| table_seed(document.seed, &table.name, purpose);
    let mut compiled = Table {
        name: table.name.as_str().into(),
        parent,
        is_loaded: table.is_loaded,
        rows,
        rows_line: table.line,
        total: 0,
        columns,
        inherited,
        first_own_slot,
        row_seed: seed(Purpose::Rows),
        count_seed: seed(Purpose::Count),
    };
    if parent.is_none() {
        let mut random = Random::stream(compiled.count_seed, 0);
        compiled.total = compiled
            .rows
            .evaluate(&[], &mut random)
            .map_err(|fault| fault.to_string())
            .and_then(|value| row_count(&value))
            .map_err(|message| {
                let message = format!("the rows of {}: {message}", table.name);
                scope.error(table.line, message, None)
            })?;
    }
    Ok(compiled)
}

fn parent_of(
    document: &GeneratedDocument,
    table: &GeneratedTable,
    tables_before: &[GeneratedTable],
) -> Result<Option<usize>, ScriptError> {
    let Some(name) = &table.per else {
        return Ok(None);
    };
    let found = tables_before.iter().position(|other| other.name == *name);
    if found.is_some() {
        return Ok(found);
    }
    let names: Vec<&str> = tables_before
        .iter()
        .map(|table| table.name.as_str())
        .collect();
    let hint = match names.is_empty() {
        true => {
            "declare a parent before its children; no table is declared before this one".to_owned()
        }
        false => format!("tables declared before it: {}", names.join(", ")),
    };
    let scope = Scope::new(document, table, &[]);
    let message = format!(
        "the table {}, key `per`: expected a table declared before it, found {name:?}",
        table.name
    );
    Err(scope.error(table.line, message, Some(hint)))
}

/// The parent, its parent, and so on.
fn ancestors_of(tables_before: &[GeneratedTable], parent: Option<usize>) -> Vec<&GeneratedTable> {
    let above = |table: &&GeneratedTable| {
        let name = table.per.as_ref()?;
        tables_before.iter().find(|other| other.name == *name)
    };
    let parent = parent.map(|parent| &tables_before[parent]);
    std::iter::successors(parent, above).collect()
}

/// The line of the first column whose name was used before.
fn repeated_column(table: &GeneratedTable) -> Option<u32> {
    let columns = &table.columns;
    (0..columns.len())
        .find(|&index| {
            columns[..index]
                .iter()
                .any(|earlier| earlier.name == columns[index].name)
        })
        .map(|index| columns[index].line)
}

//! Takes a source document; returns its tables with every expression compiled, or an error with its place.
//!
//! The nearest definition of a name counts: the table's own columns before it, then those of its ancestors.

use std::sync::Arc;

use assay_script::expression::{Formula, Origin};
use assay_script::{ScriptError, expression};
use assay_values::{ColumnType, Random, Value};

use crate::dataset::{Dataset, row_count};
use crate::document::{GeneratedDocument, GeneratedTable};
use crate::table::{Column, Inherited, Purpose, ROW_SLOT, Table, table_seed};

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
    let first_own_slot = scope.first_own_slot;
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

/// What all expressions of one table share.
pub(crate) struct Scope<'d> {
    file: &'d str,
    constants: Vec<(String, Value)>,
    /// By index of the value: `row`, the columns of the parent, of its parent …, the table's own; empty where a
    /// nearer table has a column of the same name.
    names: Vec<&'d str>,
    pub first_own_slot: usize,
}

impl<'d> Scope<'d> {
    pub fn new(
        document: &'d GeneratedDocument,
        table: &'d GeneratedTable,
        ancestors: &[&'d GeneratedTable],
    ) -> Self {
        let mut constants: Vec<(String, Value)> = document
            .variables
            .iter()
            .map(|(name, value)| (name.clone(), value.into()))
            .collect();
        if let Some(instance) = table.instance {
            constants.retain(|(name, _)| name != "instance");
            constants.push(("instance".to_owned(), Value::Int(instance)));
        }
        let mut names = vec!["row"];
        for ancestor in ancestors {
            for column in &ancestor.columns {
                let is_hidden = names.contains(&&*column.name);
                names.push(if is_hidden { "" } else { &column.name });
            }
        }
        let first_own_slot = names.len();
        names.extend(table.columns.iter().map(|column| &*column.name));
        Self {
            file: &document.file,
            constants,
            names,
            first_own_slot,
        }
    }

    /// The expression for the number of rows, in which `:row` is not defined.
    pub fn rows(&self, table: &GeneratedTable) -> Result<Formula, ScriptError> {
        let mut names = self.visible(0);
        names[ROW_SLOT] = "";
        self.compile(&table.rows, &names, table.line, table.column)
    }

    /// The expression of the table's column at `index`.
    pub fn column(&self, table: &GeneratedTable, index: usize) -> Result<Formula, ScriptError> {
        let column = &table.columns[index];
        let names = self.visible(index);
        self.compile(&column.value, &names, column.line, column.column)
    }

    /// An error at a line of the file, like an error of compilation.
    pub fn error(&self, line: u32, message: String, hint: Option<String>) -> ScriptError {
        ScriptError {
            path: self.file.to_owned(),
            line: line.max(1),
            column: 1,
            message,
            hint,
        }
    }

    /// The names visible when the first `own` columns of the table are defined.
    fn visible(&self, own: usize) -> Vec<&'d str> {
        let own = self.first_own_slot..self.first_own_slot + own;
        let is_own = |name: &str| self.names[own.clone()].contains(&name);
        let name_at = |(slot, &name): (usize, &&'d str)| match slot {
            slot if own.contains(&slot) => name,
            slot if slot < own.start && !is_own(name) => name,
            _ => "",
        };
        self.names.iter().enumerate().map(name_at).collect()
    }

    fn compile(
        &self,
        text: &str,
        names: &[&str],
        line: u32,
        column: u32,
    ) -> Result<Formula, ScriptError> {
        let origin = Origin {
            path: self.file,
            line,
            column,
        };
        expression::compile(text, names, &self.constants, origin)
    }
}

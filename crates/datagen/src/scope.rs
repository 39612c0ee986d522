//! Takes the names that an expression could use; returns those that it sees, by the index of their value.
//!
//! The nearest definition of a name counts: the table's own columns before it, then the columns of
//! its ancestors from the parent upwards, then the parameters. So a child may define `w_id = ":w_id"` to copy its parent's.

use assay_script::ScriptError;
use assay_script::expression::{self, Formula, Origin};
use assay_values::Value;

use crate::document::{GeneratedDocument, GeneratedTable};
use crate::table::ROW_SLOT;

/// What all expressions of one table share.
pub(crate) struct Scope<'d> {
    file: &'d str,
    constants: Vec<(String, Value)>,
    /// By index of the value: `row`, the columns of the parent, of its parent …, the table's own; empty where a
    /// nearer table has a column of the same name.
    names: Vec<&'d str>,
    first_own_slot: usize,
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

    pub fn first_own_slot(&self) -> usize {
        self.first_own_slot
    }

    /// The expression for the number of rows, in which `:row` is not defined.
    pub fn rows(&self, table: &GeneratedTable) -> Result<Formula, ScriptError> {
        let mut names = self.visible(0);
        names[ROW_SLOT] = "";
        self.compile(&table.rows, &names, table.line, 1)
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

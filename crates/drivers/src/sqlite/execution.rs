//! Takes a compiled statement and its values; executes it and fills the answer.

use assay_values::{CellType, Value};
use rusqlite::Statement;
use rusqlite::types::ValueRef;

use crate::sqlite::connection::SqliteConnection;
use crate::sqlite::refusal::Failure;
use crate::sqlite::value::{bind, cell_type};
use crate::{Answer, ErrorClass, SystemError};

impl SqliteConnection {
    /// Binds the values, and runs the statement.
    pub(super) fn run(
        &self,
        statement: &mut Statement<'_>,
        parameters: &[Value],
        answer: &mut Answer,
    ) -> Result<(), Failure> {
        if statement.parameter_count() != parameters.len() {
            return Err(Failure::Driver(SystemError::new(
                ErrorClass::Data,
                "",
                format!(
                    "the statement takes {} parameters, {} were given",
                    statement.parameter_count(),
                    parameters.len()
                ),
            )));
        }
        for (index, value) in parameters.iter().enumerate() {
            bind(statement, index + 1, value)?;
        }
        self.step(statement, answer)?;
        Ok(())
    }

    /// Runs a statement whose parameters are bound, and reports its rows.
    pub(super) fn step(
        &self,
        statement: &mut Statement<'_>,
        answer: &mut Answer,
    ) -> rusqlite::Result<()> {
        let columns = statement.column_count();
        if answer.wants_columns() {
            for (index, column) in statement.columns().enumerate() {
                let cell_type = column.decl_type().map_or(CellType::Plain, cell_type);
                answer.typed_column(statement.column_name(index)?, cell_type);
            }
        }
        // A statement that changes nothing does not reset the library's count of changed rows.
        let changes_before = self.connection.total_changes();
        if columns == 0 {
            match statement.raw_execute() {
                // A text of blanks and comments has no statement, and running it is an error.
                Err(_) if statement.expanded_sql().is_none() => return Ok(()),
                executed => executed?,
            };
        } else {
            let mut number = Vec::new();
            let mut rows = statement.raw_query();
            while let Some(row) = rows.next()? {
                if !answer.wants_cells() {
                    answer.pass_row();
                    continue;
                }
                answer.begin_row();
                for index in 0..columns {
                    match row.get_ref(index)? {
                        ValueRef::Null => answer.cell(None),
                        ValueRef::Text(text) | ValueRef::Blob(text) => answer.cell(Some(text)),
                        ValueRef::Integer(integer) => {
                            use std::io::Write as _;
                            number.clear();
                            write!(number, "{integer}").expect("writing to memory is infallible");
                            answer.cell(Some(&number));
                        }
                        ValueRef::Real(real) => answer.cell(Some(self.real_text(real)?.as_bytes())),
                    }
                }
                answer.end_row();
            }
        }
        if self.connection.total_changes() != changes_before {
            answer.affected = self.connection.changes();
        }
        Ok(())
    }

    /// The library's text of a real number: its number of digits differs between versions.
    fn real_text(&self, real: f64) -> rusqlite::Result<String> {
        self.connection
            .prepare_cached("SELECT CAST(? AS TEXT)")?
            .query_row([real], |row| row.get(0))
    }
}

//! Takes the rows of a bulk load; inserts them in batches by one prepared statement.
//!
//! Column affinity converts text that looks like a number, just as for the literals of a script. The library converts
//! text that looks like an integer if the column's declared type contains INT
//! (<https://sqlite.org/datatype3.html>, section 3). Converting before the call saves a quarter of the
//! load's time. Anything not clearly an integer is left to the library.

use assay_values::{Cell, ColumnType, Row};
use rusqlite::types::{Null, ToSqlOutput, ValueRef};
use rusqlite::{CachedStatement, Connection};

use crate::lexer::columns_of;
use crate::sqlite::refusal;
use crate::sqlite::refusal::Failure;
use crate::{Answer, ErrorClass, Result, SystemError};

/// Rows per batch: enough to make the statement cache lookup cheap, few enough to stay in the CPU cache.
const BATCH_ROWS: usize = 64;

pub(super) struct Bulk {
    text: Box<str>,
    columns: usize,
    /// By column, whether integers may be bound as such; empty: none.
    is_integer: Vec<bool>,
    /// By column, whether its values are bound as a BLOB: other libraries cannot read bytes from a TEXT.
    is_bytes: Vec<bool>,
    /// Buffered rows; only the first `gathered` are valid, the rest is reused memory.
    rows: Vec<Row>,
    gathered: usize,
    inserted: u64,
    /// The first error; later rows are skipped.
    error: Option<SystemError>,
}

impl Bulk {
    /// `text` is the INSERT of one row, with a `?` for each column.
    pub(super) fn begin(
        connection: &Connection,
        text: &str,
        types: &[ColumnType],
    ) -> Result<Self, Failure> {
        let columns = connection.prepare_cached(text)?.parameter_count();
        Ok(Self {
            text: text.into(),
            columns,
            is_integer: integer_columns(connection, text),
            is_bytes: (types.iter())
                .map(|kind| *kind == ColumnType::Bytes)
                .collect(),
            rows: Vec::new(),
            gathered: 0,
            inserted: 0,
            error: None,
        })
    }

    pub(super) fn row(&mut self, connection: &Connection, row: &Row) {
        if self.error.is_some() {
            return;
        }
        if self.gathered == self.rows.len() {
            self.rows.push(row.clone());
        } else {
            self.rows[self.gathered].clone_from(row);
        }
        self.gathered += 1;
        if self.gathered == BATCH_ROWS {
            self.insert(connection);
        }
    }

    pub(super) fn end(mut self, connection: &Connection, abort: Option<&str>, answer: &mut Answer) {
        if let Some(reason) = abort {
            answer.error = Some(SystemError::new(ErrorClass::Other, "", reason));
            return;
        }
        self.insert(connection);
        answer.affected = self.inserted;
        answer.error = self.error;
    }

    fn insert(&mut self, connection: &Connection) {
        if self.error.is_none()
            && let Err(error) = self.insert_gathered(connection)
        {
            let message = format!("row {}: {}", self.inserted + 1, error.message);
            self.error = Some(SystemError { message, ..error });
        }
        self.gathered = 0;
    }

    fn insert_gathered(&mut self, connection: &Connection) -> Result<()> {
        let library = |error| refusal::of(&error, true, !connection.is_autocommit());
        let mut statement = connection.prepare_cached(&self.text).map_err(library)?;
        for row in &self.rows[..self.gathered] {
            if row.len() != self.columns {
                return Err(SystemError::new(
                    ErrorClass::Data,
                    "",
                    format!("expected {} cells, found {}", self.columns, row.len()),
                ));
            }
            insert_row(&mut statement, row, &self.is_integer, &self.is_bytes).map_err(library)?;
            self.inserted += 1;
        }
        Ok(())
    }
}

fn insert_row(
    statement: &mut CachedStatement<'_>,
    row: &Row,
    is_integer: &[bool],
    is_bytes: &[bool],
) -> rusqlite::Result<()> {
    for (index, cell) in row.cells().enumerate() {
        let parameter = index + 1;
        match cell {
            Cell::Null => statement.raw_bind_parameter(parameter, Null)?,
            Cell::Int(integer) => statement.raw_bind_parameter(parameter, integer)?,
            Cell::Double(real) => statement.raw_bind_parameter(parameter, real)?,
            Cell::Bool(truth) => statement.raw_bind_parameter(parameter, truth)?,
            Cell::Text(bytes) if is_bytes.get(index).copied().unwrap_or(false) => {
                let bytes = ToSqlOutput::Borrowed(ValueRef::Blob(bytes));
                statement.raw_bind_parameter(parameter, bytes)?;
            }
            Cell::Text(text) => {
                let may_be_integer = is_integer.get(index).copied().unwrap_or(false);
                match may_be_integer.then(|| integer(text)).flatten() {
                    Some(integer) => statement.raw_bind_parameter(parameter, integer)?,
                    None => {
                        let text = ToSqlOutput::Borrowed(ValueRef::Text(text));
                        statement.raw_bind_parameter(parameter, text)?;
                    }
                }
            }
        }
    }
    statement.raw_execute().map(drop)
}

/// For each parameter of `INSERT INTO table (column, …) VALUES (?, …)`, whether its column is declared
/// as an integer. Empty where the text has another form or the table is not known: then nothing is
/// bound as an integer, which is slower but equally correct.
pub(super) fn integer_columns(connection: &Connection, text: &str) -> Vec<bool> {
    columns_of(text)
        .and_then(|(table, columns)| {
            let mut statement = connection
                .prepare("SELECT name, type FROM pragma_table_info(?)")
                .ok()?;
            let declared: Vec<(String, String)> = statement
                .query_map([table], |row| Ok((row.get(0)?, row.get(1)?)))
                .ok()?
                .collect::<Result<_, _>>()
                .ok()?;
            let is_integer = |column: &String| {
                declared.iter().any(|(name, declared_type)| {
                    name.eq_ignore_ascii_case(column)
                        && declared_type.to_ascii_uppercase().contains("INT")
                })
            };
            Some(columns.iter().map(is_integer).collect())
        })
        .unwrap_or_default()
}

/// The integer value of a cell, if the library would print it as the same text.
pub(super) fn integer(cell: &[u8]) -> Option<i64> {
    let digits = cell.strip_prefix(b"-").unwrap_or(cell);
    let is_plain = match digits {
        [] => false,
        [b'0'] => digits.len() == cell.len(),
        // Eighteen digits always fit; longer numbers are left to the library.
        [b'1'..=b'9', rest @ ..] => rest.len() < 18 && rest.iter().all(u8::is_ascii_digit),
        _ => false,
    };
    is_plain.then(|| {
        let number = digits
            .iter()
            .fold(0, |number, digit| number * 10 + i64::from(digit - b'0'));
        if digits.len() == cell.len() {
            number
        } else {
            -number
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_integer_prints_as_the_same_text() {
        for (cell, expected) in [
            ("0", Some(0)),
            ("-7", Some(-7)),
            ("123456789012345678", Some(123_456_789_012_345_678)),
            ("999999999999999999", Some(999_999_999_999_999_999)),
            ("1234567890123456789", None),
            ("-0", None),
            ("007", None),
            ("+1", None),
            ("1 ", None),
            ("1.0", None),
            ("-", None),
            ("", None),
        ] {
            assert_eq!(integer(cell.as_bytes()), expected, "{cell:?}");
        }
    }
}

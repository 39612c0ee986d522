//! Takes a data set; writes the rows of one table as CSV or as SQL text.
//!
//! CSV follows RFC 4180 with a line feed at the end of a line: a field is quoted if it contains a comma, a
//! quote, a carriage return or a line feed, and quotes inside are doubled. NULL is an empty field, and the
//! empty text two quotes.
//!
//! SQL is INSERT statements of several rows each. A statement ends when it has all its rows, and before each
//! group of this many rows of the root ancestor: so statements end at the same rows for any division into
//! parts, and the concatenated texts of all parts equal the text of the whole.

use std::io::{self, ErrorKind, Write};
use std::ops::ControlFlow;

use assay_values::{
    Cell, ColumnType, LiteralStyle, Row, SourceError, braced_of_json, row_sum, write_csv_text,
};
use serde::{Deserialize, Serialize};

use crate::Dataset;
use crate::cursor::Cursor;

/// The table to export, and the format.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExportDocument {
    /// The name of the table that is exported.
    pub table: String,
    /// Whether rows are written as CSV or as SQL text.
    pub form: Form,
    /// CSV: whether to start with the names of the columns.
    #[serde(default)]
    pub header: bool,
    /// SQL: the statement up to its rows, `INSERT INTO t (a, b) VALUES`.
    #[serde(default)]
    pub insert: String,
    /// SQL: how quotes are escaped in literals.
    #[serde(default)]
    pub literal_style: LiteralStyle,
    /// SQL: whether arrays are literals in braces (`'{1,2}'`), not JSON.
    #[serde(default)]
    pub has_braced_arrays: bool,
    /// SQL: the number of rows of each statement.
    #[serde(default = "usual_rows_per_statement")]
    pub rows_per_statement: u64,
    /// Whether the report holds a checksum.
    #[serde(default)]
    pub checksum: bool,
}

fn usual_rows_per_statement() -> u64 {
    100
}

/// In which form rows are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Form {
    /// Comma-separated values, a line for each row.
    Csv,
    /// `INSERT` statements.
    Sql,
}

/// The result of an export.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ExportReport {
    /// Rows written.
    pub rows: u64,
    /// Bytes written.
    pub bytes: u64,
    /// 16 hexadecimal digits, equal for equal rows in any order.
    pub checksum: Option<String>,
    /// The reader closed the pipe before the end.
    pub is_broken_pipe: bool,
}

/// Why an export did not come to its end.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The document is wrong; the message says which key.
    #[error("{0}")]
    Document(String),
    /// A row cannot be made.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// The output cannot be written.
    #[error("the output cannot be written ({0})")]
    Output(#[from] io::Error),
    /// The caller asked to stop.
    #[error("interrupted")]
    Interrupted,
}

/// Rows are buffered up to this size before they are written and `go_on` is called.
const BUFFER_BYTES: usize = 64 * 1024;

/// Writes the rows of one table that are in the data set's part. `go_on` gets the number of rows written.
///
/// # Errors
/// If there is no such table, a row cannot be computed, or `out` cannot be written; a closed pipe is not an
/// error.
pub fn export(
    dataset: &Dataset,
    document: &ExportDocument,
    out: &mut dyn Write,
    go_on: &mut dyn FnMut(u64) -> ControlFlow<()>,
) -> Result<ExportReport, ExportError> {
    let table = dataset
        .tables
        .iter()
        .position(|table| *table.name == document.table)
        .ok_or_else(|| {
            let names: Vec<&str> = dataset.names().collect();
            ExportError::Document(format!(
                "expected one of the tables {}, found {:?}",
                names.join(", "),
                document.table
            ))
        })?;
    if document.form == Form::Sql
        && (document.insert.is_empty() || document.rows_per_statement == 0)
    {
        let message = "SQL needs `insert` and a `rows_per_statement` of at least 1";
        return Err(ExportError::Document(message.to_owned()));
    }
    let mut writer = Writer {
        document,
        buffer: Vec::new(),
        statement: None,
        report: ExportReport::default(),
    };
    match writer.write(dataset, table, out, go_on) {
        Err(ExportError::Output(error)) if error.kind() == ErrorKind::BrokenPipe => {
            writer.report.is_broken_pipe = true;
            Ok(writer.report)
        }
        Err(error) => Err(error),
        Ok(()) => Ok(writer.report),
    }
}

struct Writer<'d> {
    document: &'d ExportDocument,
    buffer: Vec<u8>,
    /// The current statement: its group and its rows so far.
    statement: Option<(u64, u64)>,
    report: ExportReport,
}

impl Writer<'_> {
    fn write(
        &mut self,
        dataset: &Dataset,
        table: usize,
        out: &mut dyn Write,
        go_on: &mut dyn FnMut(u64) -> ControlFlow<()>,
    ) -> Result<(), ExportError> {
        let columns = &dataset.tables[table].columns;
        if self.document.form == Form::Csv && self.document.header {
            let mut names = Row::new();
            columns
                .iter()
                .for_each(|column| names.push_bytes(column.name.as_bytes()));
            csv_line(&names, &mut self.buffer);
        }
        let types = dataset.tables[table].types();
        let (mut sum, mut scratch, mut row) = (0_u64, Vec::new(), Row::new());
        let roots = match self.document.form {
            Form::Csv => dataset.roots(table, dataset.part),
            Form::Sql => {
                let group = self.document.rows_per_statement;
                let part = dataset.part;
                part.range_of_groups(dataset.root_of(table).total, group)
            }
        };
        let mut cursor = Cursor::new(dataset, table, roots);
        while cursor.advance(dataset)? {
            cursor.write(dataset, &mut row)?;
            if self.document.checksum {
                sum = sum.wrapping_add(row_sum(&row, &types, &mut scratch));
            }
            match self.document.form {
                Form::Csv => csv_line(&row, &mut self.buffer),
                Form::Sql => self.sql_row(&row, &types, cursor.root()),
            }
            self.report.rows += 1;
            if self.buffer.len() >= BUFFER_BYTES {
                self.flush(out)?;
                if go_on(self.report.rows).is_break() {
                    return Err(ExportError::Interrupted);
                }
            }
        }
        if self.statement.is_some() {
            self.buffer.extend_from_slice(b";\n");
        }
        self.flush(out)?;
        out.flush()?;
        self.report.checksum = self.document.checksum.then(|| format!("{sum:016x}"));
        Ok(())
    }

    fn sql_row(&mut self, row: &Row, types: &[ColumnType], root: u64) {
        let most = self.document.rows_per_statement;
        let group = root / most;
        let out = &mut self.buffer;
        match self.statement {
            Some((current, rows)) if current == group && rows < most => {
                out.extend_from_slice(b",\n");
                self.statement = Some((group, rows + 1));
            }
            last => {
                out.extend_from_slice(if last.is_some() { b";\n" } else { b"" });
                out.extend_from_slice(self.document.insert.as_bytes());
                out.push(b'\n');
                self.statement = Some((group, 1));
            }
        }
        for (index, cell) in row.cells().enumerate() {
            out.extend_from_slice(if index == 0 { b"(" } else { b", " });
            let style = self.document.literal_style;
            let braced = match (cell, types.get(index)) {
                (Cell::Text(array), Some(&ColumnType::Array(of)))
                    if self.document.has_braced_arrays =>
                {
                    braced_of_json(array, of)
                }
                _ => None,
            };
            match braced {
                Some(text) => style.write(&text, out),
                None => literal(cell, style, out),
            }
        }
        out.push(b')');
    }

    fn flush(&mut self, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(&self.buffer)?;
        self.report.bytes += self.buffer.len() as u64;
        self.buffer.clear();
        Ok(())
    }
}

/// Appends one line.
pub(crate) fn csv_line(row: &Row, out: &mut Vec<u8>) {
    for (index, cell) in row.cells().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        match cell {
            Cell::Text(text) => write_csv_text(text, out),
            cell => cell.write_text(out),
        }
    }
    out.push(b'\n');
}

fn literal(cell: Cell<'_>, style: LiteralStyle, out: &mut Vec<u8>) {
    match cell {
        Cell::Null => out.extend_from_slice(b"NULL"),
        Cell::Bool(true) => out.extend_from_slice(b"TRUE"),
        Cell::Bool(false) => out.extend_from_slice(b"FALSE"),
        Cell::Text(text) => style.write(text, out),
        Cell::Double(number) if !number.is_finite() => {
            let mut text = Vec::new();
            cell.write_text(&mut text);
            style.write(&text, out);
        }
        number => number.write_text(out),
    }
}

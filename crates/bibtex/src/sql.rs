//! Takes the rows of a bibliography; writes the SQL script that loads them, as bibtosql does.

use std::io::{self, ErrorKind, Read, Write};

use assay_values::{Cell, LiteralStyle, Row, RowSource as _, SourceError};
use serde::{Deserialize, Serialize};

use crate::columns::COLUMNS;
use crate::input::STANDARD_INPUT;
use crate::problems::Problems;
use crate::source::{BIBTAB, BibSource, STRTAB, SourceOptions};
use crate::{NAME_COLUMNS, STRING_COLUMNS};

/// The parts of the script in the order in which they are written; every text is written unchanged, followed
/// by a line feed. Everything specific to a server is given here.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct SqlOptions {
    /// The source of the rows; no files means standard input.
    pub source: SourceOptions,
    /// How the server's text literals are written.
    pub literal_style: LiteralStyle,
    /// The expression for a carriage return, if the server's client drops carriage returns within literals.
    pub carriage_return: Option<String>,
    /// Comments at the top.
    pub header: Vec<String>,
    /// Statements that drop and create tables.
    pub create: Vec<String>,
    /// Statements that set up the session.
    pub prologue: Vec<String>,
    /// The statement that begins the transaction.
    pub begin: String,
    /// The statement that commits it.
    pub commit: String,
    /// The statement written instead of `commit` if the input is bad.
    pub rollback: String,
    /// The names of `bibtab`, `strtab` and `namtab` on the server.
    pub tables: Option<[TableName; 3]>,
}

/// The names of a table and its columns, quoted if the server requires it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct TableName {
    /// The name of the table.
    pub table: String,
    /// The names of its columns, in order.
    pub columns: Vec<String>,
}

/// What was written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct WriteSqlReport {
    /// Rows of `bibtab` written.
    pub entries: u64,
    /// Rows of `strtab` written.
    pub strings: u64,
    /// Rows of `namtab` written.
    pub names: u64,
    /// Bytes of all files read.
    pub bytes_read: u64,
    /// Bytes of SQL text written.
    pub bytes_written: u64,
    /// The errors and warnings of the files that did not stop the writing.
    pub problems: Problems,
    /// Whether the reader of the output closed it before the end.
    pub is_broken_pipe: bool,
}

/// Why SQL text or BibTeX could not be written.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// A file cannot be read, or its text is wrong.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// The output cannot be written.
    #[error("the output cannot be written ({0})")]
    Output(#[from] io::Error),
}

/// Statements are buffered up to this many bytes before they are written.
const GATHERED_BYTES: usize = 64 * 1024;

/// Writes the script for the files of `options`, or for standard input if there are none.
///
/// # Errors
/// [`WriteError::Source`] if the input is bad: the script then ends with `rollback`.
/// [`WriteError::Output`] if `out` cannot be written; it is not an error if its reader closed it.
pub fn write_sql(options: &SqlOptions, out: &mut dyn Write) -> Result<WriteSqlReport, WriteError> {
    if options.source.files.is_empty() {
        write_sql_from(options, STANDARD_INPUT, Box::new(io::stdin()), out)
    } else {
        let source = BibSource::new(&options.source)?;
        write(options, source, out)
    }
}

/// Writes the script for one stream, called `name` in messages.
///
/// # Errors
/// As [`write_sql`].
pub fn write_sql_from(
    options: &SqlOptions,
    name: &str,
    stream: Box<dyn Read + Send>,
    out: &mut dyn Write,
) -> Result<WriteSqlReport, WriteError> {
    let source = BibSource::from_reader(&options.source, name, stream)?;
    write(options, source, out)
}

fn write(
    options: &SqlOptions,
    mut source: BibSource,
    out: &mut dyn Write,
) -> Result<WriteSqlReport, WriteError> {
    let mut script = Script { out, gathered: Vec::new(), report: WriteSqlReport::default() };
    let outcome = script.write(options, &mut source);
    script.report.bytes_read = source.bytes_read();
    script.report.problems = source.problems().clone();
    match outcome {
        Err(WriteError::Output(error)) if error.kind() == ErrorKind::BrokenPipe => {
            script.report.is_broken_pipe = true;
            Ok(script.report)
        }
        Err(error) => Err(error),
        Ok(()) => Ok(script.report),
    }
}

struct Script<'o> {
    out: &'o mut dyn Write,
    gathered: Vec<u8>,
    report: WriteSqlReport,
}

impl Script<'_> {
    fn write(&mut self, options: &SqlOptions, source: &mut BibSource) -> Result<(), WriteError> {
        for text in options.header.iter().chain(&options.create).chain(&options.prologue) {
            self.line(text);
        }
        self.line(&options.begin);
        match self.rows(options, source) {
            Ok(()) => self.line(&options.commit),
            Err(WriteError::Source(error)) => {
                self.line(&options.rollback);
                // The bad input is reported rather than an output error that follows it.
                let _ = self.flush();
                return Err(error.into());
            }
            Err(error) => return Err(error),
        }
        self.flush()?;
        self.out.flush()?;
        Ok(())
    }

    fn rows(&mut self, options: &SqlOptions, source: &mut BibSource) -> Result<(), WriteError> {
        let inserts = inserts(options.tables.as_ref());
        let mut row = Row::new();
        while let Some(table) = source.next_row(&mut row)? {
            match table {
                BIBTAB => self.report.entries += 1,
                STRTAB => self.report.strings += 1,
                _ => self.report.names += 1,
            }
            self.gathered.extend_from_slice(inserts[table].as_bytes());
            for (column, cell) in row.cells().enumerate() {
                if column > 0 {
                    self.gathered.extend_from_slice(b", ");
                }
                match cell {
                    Cell::Null => self.gathered.extend_from_slice(b"NULL"),
                    Cell::Text(text) => self.literal(options, text),
                    number => number.write_text(&mut self.gathered),
                }
            }
            self.gathered.extend_from_slice(b");\n");
            if self.gathered.len() >= GATHERED_BYTES {
                self.flush()?;
            }
        }
        Ok(())
    }

    fn literal(&mut self, options: &SqlOptions, text: &[u8]) {
        let style = options.literal_style;
        match &options.carriage_return {
            Some(expression) => style.write_with_returns(text, expression, &mut self.gathered),
            None => style.write(text, &mut self.gathered),
        }
    }

    fn line(&mut self, text: &str) {
        if !text.is_empty() {
            self.gathered.extend_from_slice(text.as_bytes());
            self.gathered.push(b'\n');
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.write_all(&self.gathered)?;
        self.report.bytes_written += self.gathered.len() as u64;
        self.gathered.clear();
        Ok(())
    }
}

/// The beginning of the INSERT statements of the three tables.
fn inserts(tables: Option<&[TableName; 3]>) -> [String; 3] {
    let plain = |table: &str, columns: &[&str]| TableName {
        table: table.to_owned(),
        columns: columns.iter().map(|&column| column.to_owned()).collect(),
    };
    let defaults = [
        plain("bibtab", &COLUMNS),
        plain("strtab", &STRING_COLUMNS),
        plain("namtab", &NAME_COLUMNS),
    ];
    tables.unwrap_or(&defaults).each_ref().map(|TableName { table, columns }| {
        format!("INSERT INTO {table} ({}) VALUES (", columns.join(", "))
    })
}

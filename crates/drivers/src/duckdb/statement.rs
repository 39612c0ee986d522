//! Takes the text of a statement; returns it compiled, and executes it with values. Takes its result; fills the answer
//! with its rows.

use assay_values::{Piece, Value};

use crate::duckdb::bind::Parameter;
use crate::duckdb::column::{ColumnKind, LogicalType, cell_type};
use crate::duckdb::data_chunk::{DataChunk, Vector};
use crate::duckdb::database::{Connection, c_text};
use crate::duckdb::library::{
    CHANGED_ROWS, Handle, Library, NO_ERROR, QUERY_RESULT, RawResult, TRANSACTION_STATEMENT,
    text_of, type_id,
};
use crate::duckdb::{bind, cell, refusal};
use crate::{Answer, ErrorClass, Result, SystemError};

/// A compiled statement. Its owner destroys it before the connection.
pub(super) struct Statement {
    handle: Handle,
    library: &'static Library,
    /// The types that the library expects of its values.
    parameters: Vec<Parameter>,
    /// What it does to the session's transaction.
    pub control: Option<Control>,
}

/// What a statement does to the session's transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Control {
    Begin,
    Commit,
    Rollback,
}

// SAFETY: a statement is used only together with its connection, by one thread at a time.
unsafe impl Send for Statement {}

/// The text with `$1`, `$2` … for the values.
pub(super) fn spelled(pieces: &[Piece]) -> String {
    Piece::join(pieces, |number, text| {
        text.push('$');
        text.push_str(&(number + 1).to_string());
    })
}

impl Statement {
    /// Compiles one statement; `None` for a text of blanks and comments.
    ///
    /// # Errors
    /// Where the text is not one statement that the library understands.
    pub(super) fn compile(connection: &Connection, text: &str) -> Result<Option<Self>> {
        let library = connection.database.library;
        let Some(extracted) = Extracted::of(connection, text)? else {
            return Ok(None);
        };
        let mut handle = std::ptr::null_mut();
        // SAFETY: the connection and the extracted statements are alive, and there is a first one.
        let state = unsafe {
            (library.prepare_extracted_statement)(
                connection.handle,
                extracted.0,
                0,
                &raw mut handle,
            )
        };
        let mut compiled = Self {
            handle,
            library,
            parameters: Vec::new(),
            control: None,
        };
        if state != NO_ERROR {
            // SAFETY: the library gives a statement also where it could not compile it; it holds the message.
            let message = unsafe { text_of((library.prepare_error)(handle)) };
            return Err(refusal::of_message(&message));
        }
        // SAFETY: the statement is alive, here and below.
        let count = unsafe { (library.nparams)(handle) };
        compiled.parameters = (1..=count).map(|index| compiled.parameter(index)).collect();
        // SAFETY: as above.
        if unsafe { (library.prepared_statement_type)(handle) } == TRANSACTION_STATEMENT {
            compiled.control = control(text);
        }
        Ok(Some(compiled))
    }

    fn parameter(&self, index: u64) -> Parameter {
        // SAFETY: the statement is alive, and has this parameter.
        let id = unsafe { (self.library.param_type)(self.handle, index) };
        if id != type_id::DECIMAL {
            return Parameter {
                id,
                width: 0,
                scale: 0,
            };
        }
        // SAFETY: as above; the description is ours.
        let described = unsafe { (self.library.param_logical_type)(self.handle, index) };
        let (width, scale) = LogicalType::of(self.library, described).width_and_scale();
        Parameter { id, width, scale }
    }

    /// Binds the values, executes the statement, and fills the answer.
    ///
    /// # Errors
    /// Where the statement fails, takes another number of values, or a column cannot be read.
    pub(super) fn run(
        &self,
        values: &[Value],
        buffers: &mut Buffers,
        answer: &mut Answer,
    ) -> Result<()> {
        if values.len() != self.parameters.len() {
            let (expected, found) = (self.parameters.len(), values.len());
            return Err(SystemError::wrong_parameters(expected, found));
        }
        for (index, (value, parameter)) in (1..).zip(values.iter().zip(&self.parameters)) {
            // SAFETY: the statement is alive, and has this parameter.
            let state = unsafe { bind::bind(self.library, self.handle, index, value, *parameter) };
            if state != NO_ERROR {
                let text = value.to_text();
                let message = format!("value {index}, {text:?}, cannot be bound");
                return Err(SystemError::new(ErrorClass::Data, "", message));
            }
        }
        let mut raw = RawResult::empty();
        // SAFETY: the statement is alive, and the library fills the result.
        let state = unsafe { (self.library.execute_prepared)(self.handle, &raw mut raw) };
        let mut result = StatementResult::of(self.library, raw);
        match state {
            NO_ERROR => result.report(buffers, answer),
            _ => Err(result.error()),
        }
    }
}

impl Drop for Statement {
    fn drop(&mut self) {
        // SAFETY: the statement is ours; a null one is left alone.
        unsafe { (self.library.destroy_prepare)(&raw mut self.handle) }
    }
}

/// The statements that the library finds in a text.
struct Extracted(Handle, &'static Library);

impl Extracted {
    /// The only statement of a text; `None` where there is none.
    fn of(connection: &Connection, text: &str) -> Result<Option<Self>> {
        let library = connection.database.library;
        let text = c_text(text)?;
        let mut handle = std::ptr::null_mut();
        // SAFETY: the connection is open, the text ends in a NUL byte, and the library writes the handle.
        let count = unsafe {
            (library.extract_statements)(connection.handle, text.as_ptr(), &raw mut handle)
        };
        let extracted = Self(handle, library);
        match count {
            1 => Ok(Some(extracted)),
            0 => {
                // SAFETY: the extracted statements are alive; the text is copied.
                let message = unsafe { text_of((library.extract_statements_error)(extracted.0)) };
                match message.is_empty() {
                    true => Ok(None),
                    false => Err(refusal::of_message(&message)),
                }
            }
            _ => Err(SystemError::new(
                ErrorClass::Syntax,
                "",
                "expected one statement, found several",
            )),
        }
    }
}

impl Drop for Extracted {
    fn drop(&mut self) {
        // SAFETY: what was extracted is ours.
        unsafe { (self.1.destroy_extracted)(&raw mut self.0) }
    }
}

/// What the text of a statement of the type TRANSACTION does.
fn control(text: &str) -> Option<Control> {
    let word = first_word(text);
    let is = |words: &[&str]| words.iter().any(|one| word.eq_ignore_ascii_case(one));
    if is(&["begin", "start"]) {
        Some(Control::Begin)
    } else if is(&["commit", "end"]) {
        Some(Control::Commit)
    } else if is(&["rollback", "abort"]) {
        Some(Control::Rollback)
    } else {
        None
    }
}

/// The first word behind blanks and comments.
fn first_word(text: &str) -> &str {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() && !bytes[at].is_ascii_alphabetic() {
        at = crate::lexer::end_of_token(bytes, at, crate::lexer::Literals::Doubled);
    }
    let rest = text.get(at..).unwrap_or_default();
    let end = rest
        .find(|c: char| !c.is_ascii_alphabetic())
        .unwrap_or(rest.len());
    &rest[..end]
}

/// A result of the library, which is also given for a statement that failed.
pub(super) struct StatementResult {
    raw: RawResult,
    library: &'static Library,
}

impl StatementResult {
    /// `raw` is what the library has filled.
    pub(super) fn of(library: &'static Library, raw: RawResult) -> Self {
        Self { raw, library }
    }

    /// The error of the statement that failed.
    pub(super) fn error(&mut self) -> SystemError {
        // SAFETY: the result is alive, and the text is copied.
        let (error_type, message) = unsafe {
            (
                (self.library.result_error_type)(&raw mut self.raw),
                text_of((self.library.result_error)(&raw mut self.raw)),
            )
        };
        refusal::of(error_type, &message)
    }

    /// Hands the rows to the answer, or the number of rows that the statement changed.
    ///
    /// # Errors
    /// Where a column has a type that this driver cannot read.
    pub(super) fn report(&mut self, buffers: &mut Buffers, answer: &mut Answer) -> Result<()> {
        // SAFETY: the result is alive.
        match unsafe { (self.library.result_return_type)(self.raw) } {
            CHANGED_ROWS => {
                // SAFETY: the result is alive.
                answer.affected = unsafe { (self.library.rows_changed)(&raw mut self.raw) };
                Ok(())
            }
            QUERY_RESULT => self.rows(buffers, answer),
            _ => Ok(()),
        }
    }

    fn rows(&mut self, buffers: &mut Buffers, answer: &mut Answer) -> Result<()> {
        if answer.wants_cells() {
            self.columns(buffers, answer)?;
        }
        while let Some(chunk) = DataChunk::next(self.library, &self.raw) {
            if !answer.wants_cells() {
                answer.rows += chunk.row_count();
                continue;
            }
            let vectors: Vec<Vector> = (0..buffers.kinds.len() as u64)
                .map(|column| chunk.vector(column))
                .collect();
            for row in 0..usize::try_from(chunk.row_count()).unwrap_or_default() {
                answer.begin_row();
                for (kind, vector) in buffers.kinds.iter().zip(&vectors) {
                    if vector.is_null(row) {
                        answer.cell(None);
                        continue;
                    }
                    buffers.text.clear();
                    match kind.is_nested() {
                        true => cell::write_nested(kind, vector, row, &mut buffers.text),
                        false => cell::write(kind, vector, row, &mut buffers.text),
                    }
                    answer.cell(Some(&buffers.text));
                }
                answer.end_row();
            }
        }
        Ok(())
    }

    fn columns(&mut self, buffers: &mut Buffers, answer: &mut Answer) -> Result<()> {
        buffers.kinds.clear();
        let raw = &raw mut self.raw;
        // SAFETY: the result is alive.
        for column in 0..unsafe { (self.library.column_count)(raw) } {
            let kind = ColumnKind::of_column(self.library, &mut self.raw, column)?;
            if answer.wants_columns() {
                // SAFETY: the column is one of the result's, and the text is copied.
                let name =
                    unsafe { text_of((self.library.column_name)(&raw mut self.raw, column)) };
                let cell_type = cell_type(self.library, &mut self.raw, column, &kind);
                answer.typed_column(&name, cell_type);
            }
            buffers.kinds.push(kind);
        }
        Ok(())
    }
}

impl Drop for StatementResult {
    fn drop(&mut self) {
        // SAFETY: the result is ours, and its chunks are destroyed.
        unsafe { (self.library.destroy_result)(&raw mut self.raw) }
    }
}

/// Memory that is reused for the rows of every result.
#[derive(Default)]
pub(super) struct Buffers {
    kinds: Vec<ColumnKind>,
    text: Vec<u8>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_word_behind_comments_says_what_becomes_of_the_transaction() {
        for (text, expected) in [
            ("BEGIN TRANSACTION", Some(Control::Begin)),
            (
                "-- commit\n/* end */ start transaction",
                Some(Control::Begin),
            ),
            (" End;", Some(Control::Commit)),
            ("ABORT", Some(Control::Rollback)),
            ("CHECKPOINT", None),
            ("-- only", None),
        ] {
            assert_eq!(control(text), expected, "{text}");
        }
    }
}

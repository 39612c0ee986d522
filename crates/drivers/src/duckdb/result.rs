//! Takes the result of a statement; fills the answer with its rows.

use crate::duckdb::column::{ColumnKind, cell_type};
use crate::duckdb::data_chunk::{DataChunk, Vector};
use crate::duckdb::interface::{CHANGED_ROWS, QUERY_RESULT, RawResult, text_of};
use crate::duckdb::library::Library;
use crate::duckdb::{json, refusal, scalar};
use crate::{Answer, SystemError};

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
    pub(super) fn report(
        &mut self,
        buffers: &mut Buffers,
        answer: &mut Answer,
    ) -> Result<(), SystemError> {
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

    fn rows(&mut self, buffers: &mut Buffers, answer: &mut Answer) -> Result<(), SystemError> {
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
                        true => json::write(kind, vector, row, &mut buffers.text),
                        false => scalar::write(kind, vector, row, &mut buffers.text),
                    }
                    answer.cell(Some(&buffers.text));
                }
                answer.end_row();
            }
        }
        Ok(())
    }

    fn columns(&mut self, buffers: &mut Buffers, answer: &mut Answer) -> Result<(), SystemError> {
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

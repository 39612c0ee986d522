//! Takes what a session has prepared, queued and declared; keeps it for the answers to come.

use assay_values::ColumnType;

use super::parameter::ParameterType;
use super::rows::Column;
use super::statement::Statement;
use crate::SystemError;

/// The statement that is being prepared, and what the server told of it.
#[derive(Default)]
pub(super) struct Description {
    pub text: Box<str>,
    /// Parameters in the text.
    pub count: usize,
    pub types: Box<[ParameterType]>,
    pub columns: Vec<Column>,
}

impl Description {
    /// Nothing was told yet.
    pub fn of(text: String, count: usize) -> Self {
        Self {
            text: text.into(),
            count,
            ..Self::default()
        }
    }
}

/// What a session keeps that a usual exchange does not need.
#[derive(Default)]
pub(super) struct Kept {
    /// By statement id; `None` where Prepare failed or was never asked.
    pub statements: Vec<Option<Statement>>,
    pub description: Description,
    /// The pipeline under way: the prepared statement of each request, none where it went as text.
    pub pipeline: Vec<Option<u32>>,
    /// The texts of the pipeline that is being written, where it has such.
    pub together: super::direct::Together,
    /// The statements whose types were declared anew, in the order in which the server will agree to it.
    pub declaring: Vec<u32>,
    /// Of the columns of the bulk load, where its rows go in binary; none: they go as text.
    pub bulk_types: Box<[ColumnType]>,
    /// Where rows go as text, of each column whether it holds bytes.
    pub bulk_bytes: Box<[bool]>,
    /// Why we told the server to give up the rows; it words that as a cancelled query, which it is not.
    pub gave_up: Option<SystemError>,
}

impl Kept {
    /// What was declared and not agreed to did not come to be.
    #[cold]
    pub fn undeclare(&mut self) {
        for id in self.declaring.drain(..) {
            if let Some(Some(statement)) = self.statements.get_mut(id as usize) {
                statement.undeclare();
            }
        }
    }
}

//! What a session has prepared, queued and declared, as needed to read later answers.

use std::sync::Arc;

use assay_values::{BracedElement, ColumnType};

use crate::SystemError;
use crate::postgresql::client::parameter::ParameterType;
use crate::postgresql::client::rows::Column;
use crate::postgresql::client::statement::Statement;

/// The statement that is being prepared, and the server's description of it so far.
#[derive(Default)]
pub(crate) struct Description {
    pub text: Box<str>,
    /// Number of parameters in the text.
    pub count: usize,
    pub types: Box<[ParameterType]>,
    pub columns: Vec<Column>,
}

impl Description {
    /// A description without types and columns yet.
    pub fn of(text: String, count: usize) -> Self {
        Self {
            text: text.into(),
            count,
            ..Self::default()
        }
    }
}

/// State of a session; the names and the statements first, of which every execution needs one.
#[derive(Default)]
#[repr(C)]
pub(crate) struct SessionState {
    pub names: crate::postgresql::client::statement::Names,
    /// By statement id; `None` where Prepare failed or was never requested.
    pub statements: Vec<Option<Arc<Statement>>>,
    pub description: Description,
    /// The current pipeline: the prepared statement of each request, `None` where it was sent as text.
    pub pipeline: Vec<Option<u32>>,
    /// The text statements of the pipeline that is being written, if any.
    pub batched_send: crate::postgresql::client::direct::BatchedSend,
    /// The statements whose types were declared again, in the order of the server's answers.
    pub declaring: Vec<u32>,
    /// Column types of the bulk load, if its rows are sent in binary; empty: as text.
    pub bulk_types: Box<[ColumnType]>,
    /// The same, if they are sent as text.
    pub bulk_text_types: Box<[ColumnType]>,
    /// Of each column of the last answer whose columns were named, if it holds arrays.
    pub elements: Vec<Option<BracedElement>>,
    /// Why the load was aborted: the server reports that as a cancelled query.
    pub gave_up: Option<SystemError>,
}

impl SessionState {
    /// Declarations that the server has not confirmed did not take effect.
    #[cold]
    pub fn undeclare(&mut self) {
        for id in self.declaring.drain(..) {
            if let Some(Some(statement)) = self.statements.get_mut(id as usize) {
                *statement = statement.undeclared().shared();
            }
        }
    }
}

//! The reason why a load ended early, without its context.

use assay_drivers::{ErrorClass, SystemError};
use assay_values::SourceError;

use crate::EngineError;
use crate::session::Halt;

pub(super) enum Failure {
    Source(SourceError),
    /// With the statement, if it is one of the document's.
    System(SystemError, Option<String>),
    Document(String),
    Interrupted,
}

impl Failure {
    pub(super) fn in_statement(self, statement: &str) -> Self {
        match self {
            Self::System(error, _) => Self::System(error, Some(statement.to_owned())),
            other => other,
        }
    }

    /// The engine's error; `during` describes the current action.
    pub(super) fn during(self, during: &str) -> EngineError {
        match self {
            Self::Source(error) => EngineError::Source(error),
            Self::System(error, None) => EngineError::System(error, during.to_owned()),
            Self::System(error, Some(statement)) => {
                EngineError::System(error, format!("{during}, executing `{statement}`"))
            }
            Self::Document(message) => EngineError::Document(message),
            Self::Interrupted => EngineError::Interrupted,
        }
    }
}

impl From<Halt> for Failure {
    fn from(halt: Halt) -> Self {
        match halt {
            Halt::System(error) => Self::System(error, None),
            Halt::Interrupted => Self::Interrupted,
        }
    }
}

impl From<SourceError> for Failure {
    fn from(error: SourceError) -> Self {
        Self::Source(error)
    }
}

pub(super) fn not_aborted() -> SystemError {
    SystemError::new(
        ErrorClass::Timeout,
        "",
        "the server did not abort the bulk load in time",
    )
}

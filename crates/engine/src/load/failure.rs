//! Why a load ended early, until it is known what was under way.

use assay_drivers::{ErrorClass, SystemError};
use assay_values::SourceError;

use crate::EngineError;
use crate::session::Halt;

pub(super) enum Failure {
    Source(SourceError),
    /// With the statement, where it was one of the document's own.
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

    /// The engine's error; `during` says what was under way.
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

pub(super) fn would_not_stop() -> SystemError {
    SystemError::new(
        ErrorClass::Timeout,
        "",
        "the server did not give up the rows in time",
    )
}

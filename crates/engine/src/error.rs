//! Everything that can keep the engine from doing what a document asks. Errors of transactions while
//! clients are driven are none of these: they are data, and stand in the observation.

use assay_drivers::SystemError;
use assay_script::ScriptError;
use assay_values::SourceError;

#[derive(Clone, Debug, thiserror::Error)]
pub enum EngineError {
    /// A script is wrong: file, line, column, hint.
    #[error("{0}")]
    Script(ScriptError),
    /// The system refused or died; the text says what it was asked at that moment.
    #[error("{1}: {0}")]
    System(SystemError, String),
    /// The system refused to prepare a statement of the scripts; the text says which.
    #[error("{1}: {0}")]
    Unprepared(SystemError, String),
    /// A file that was named (of rows, of certificates) is not what it must be.
    #[error("{0}")]
    Source(SourceError),
    /// A document is not one that the engine takes: which key, what was expected, what was found.
    #[error("{0}")]
    Document(String),
    /// This machine does not allow what is asked: threads, open files.
    #[error("{message}")]
    Machine {
        message: String,
        hint: Option<String>,
    },
    /// The progress callback asked to stop, and there is nothing to hand back.
    #[error("interrupted")]
    Interrupted,
}

impl From<ScriptError> for EngineError {
    fn from(error: ScriptError) -> Self {
        Self::Script(error)
    }
}

impl From<SourceError> for EngineError {
    fn from(error: SourceError) -> Self {
        Self::Source(error)
    }
}

//! The errors of the engine. Errors of transactions while clients run are not among them: they are data of
//! the observation.

use assay_drivers::SystemError;
use assay_script::ScriptError;
use assay_values::SourceError;

/// Why the engine could not do what a document asks for.
#[derive(Clone, Debug, thiserror::Error)]
pub enum EngineError {
    /// A script is wrong: file, line, column, hint.
    #[error("{0}")]
    Script(ScriptError),
    /// The system refused or failed; the text describes the request.
    #[error("{1}: {0}")]
    System(SystemError, String),
    /// The system refused to prepare a statement of the scripts; the text names it.
    #[error("{1}: {0}")]
    Unprepared(SystemError, String),
    /// A named file (of rows, of certificates) is invalid.
    #[error("{0}")]
    Source(SourceError),
    /// A document is invalid: which key, what was expected, what was found.
    #[error("{0}")]
    Document(String),
    /// A script that is run once has failed: an expectation that is not met, a division by zero.
    #[error("{message}")]
    Failed {
        /// The class of the failure.
        class: &'static str,
        /// Where, and what was expected and found.
        message: String,
    },
    /// This machine does not allow the requested number of threads or open files.
    #[error("{message}")]
    Machine {
        /// What the machine lacks, with the numbers.
        message: String,
        /// How to get it, where that is known.
        hint: Option<String>,
    },
    /// The progress callback cancelled, and there is no result.
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

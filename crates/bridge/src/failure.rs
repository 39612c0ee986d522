//! Takes the engine's errors; returns the exception that Python gets, with place and message.

use assay_drivers::{Certainty, SystemError};
use assay_engine::EngineError as Engine;
use assay_script::ScriptError;
use assay_values::SourceError;
use pyo3::exceptions::{PyException, PyKeyboardInterrupt, PyOSError};
use pyo3::prelude::*;

pyo3::create_exception!(_engine, EngineError, PyException, "An error of the engine.");

/// The fields of an [`EngineError`]; those that do not apply stay empty.
#[derive(Default)]
pub struct Failure {
    pub kind: &'static str,
    pub message: String,
    pub error_class: &'static str,
    pub certainty: &'static str,
    pub code: String,
    pub file: String,
    pub line: u64,
    pub column: u64,
    pub hint: Option<String>,
}

impl Failure {
    /// An invalid document from Python: an internal error.
    pub fn document(message: impl std::fmt::Display) -> Self {
        Self {
            kind: "document",
            message: message.to_string(),
            ..Self::default()
        }
    }

    pub fn into_exception(self) -> PyErr {
        Python::attach(|py| {
            let error = EngineError::new_err(self.message.clone());
            let value = error.value(py);
            let set = || -> PyResult<()> {
                value.setattr("kind", self.kind)?;
                value.setattr("message", self.message)?;
                value.setattr("error_class", self.error_class)?;
                value.setattr("certainty", self.certainty)?;
                value.setattr("code", self.code)?;
                value.setattr("file", self.file)?;
                value.setattr("line", self.line)?;
                value.setattr("column", self.column)?;
                value.setattr("hint", self.hint)
            };
            set().err().unwrap_or(error)
        })
    }
}

impl From<SystemError> for Failure {
    fn from(error: SystemError) -> Self {
        Self {
            kind: "system",
            message: error.message,
            error_class: error.class.word(),
            certainty: match error.certainty {
                Certainty::Undone => "undone",
                Certainty::Unknown => "unknown",
            },
            code: error.code,
            ..Self::default()
        }
    }
}

impl From<SourceError> for Failure {
    fn from(error: SourceError) -> Self {
        Self {
            kind: "source",
            message: error.message,
            file: error.file,
            line: error.line,
            column: error.column,
            hint: error.hint,
            ..Self::default()
        }
    }
}

impl From<ScriptError> for Failure {
    fn from(error: ScriptError) -> Self {
        Self {
            kind: "script",
            message: error.message,
            file: error.path,
            line: error.line.into(),
            column: error.column.into(),
            hint: error.hint,
            ..Self::default()
        }
    }
}

/// The engine's error as an exception; an interrupt becomes Python's `KeyboardInterrupt`.
pub fn raise(error: Engine) -> PyErr {
    match error {
        Engine::Script(error) => Failure::from(error).into_exception(),
        Engine::System(error, context) => in_context("system", error, &context),
        Engine::Unprepared(error, context) => in_context("statement", error, &context),
        Engine::Source(error) => Failure::from(error).into_exception(),
        Engine::Machine { message, hint } => Failure {
            kind: "machine",
            message,
            hint,
            ..Failure::default()
        }
        .into_exception(),
        Engine::Failed { class, message } => Failure {
            kind: "system",
            message,
            error_class: class,
            ..Failure::default()
        }
        .into_exception(),
        Engine::Document(message) => Failure::document(message).into_exception(),
        Engine::Interrupted => PyKeyboardInterrupt::new_err("interrupted"),
    }
}

fn in_context(kind: &'static str, error: SystemError, context: &str) -> PyErr {
    let mut failure = Failure::from(error);
    failure.kind = kind;
    failure.message = format!("{context}: {}", failure.message);
    failure.into_exception()
}

/// An error of the operating system with its number, by which Python recognizes a closed pipe.
pub fn os_error(error: &std::io::Error) -> PyErr {
    let message = error.to_string();
    match error.raw_os_error() {
        Some(number) => PyOSError::new_err((number, message)),
        None => PyOSError::new_err(message),
    }
}

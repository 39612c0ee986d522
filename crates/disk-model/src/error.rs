//! The errors of the crate, by whose fault they are.

use std::path::PathBuf;

/// Why a disk could not be modelled or served.
#[derive(Debug, thiserror::Error)]
pub enum DiskError {
    /// A parameter or an option is wrong.
    #[error("{message}")]
    Argument {
        /// What was expected and what was found.
        message: String,
        /// How to mend it, where that is known.
        hint: Option<String>,
    },
    /// A file, a mount or a socket of this machine failed.
    #[error("{what} {}: {source}", path.display())]
    Machine {
        /// What was being done, as "cannot open the image".
        what: &'static str,
        /// With which file or directory.
        path: PathBuf,
        /// What the system answered.
        source: std::io::Error,
    },
    /// A file is not what it should be.
    #[error("{}: {message}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What was expected and what was found.
        message: String,
    },
}

impl DiskError {
    /// A wrong argument without a hint.
    pub(crate) fn argument(message: impl Into<String>) -> Self {
        Self::Argument { message: message.into(), hint: None }
    }

    /// A wrong argument, and how to mend it.
    pub(crate) fn hinted(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Argument { message: message.into(), hint: Some(hint.into()) }
    }

    /// For `map_err`: what was being done, with which path.
    pub(crate) fn machine(
        what: &'static str,
        path: impl Into<PathBuf>,
    ) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| Self::Machine { what, path, source }
    }
}

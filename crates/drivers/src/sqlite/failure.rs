//! Takes nothing; holds why a request failed.

use crate::SystemError;

/// Why a request failed: in the library's words or in ours.
pub(super) enum Failure {
    Library(rusqlite::Error),
    Ours(SystemError),
}

impl From<rusqlite::Error> for Failure {
    fn from(error: rusqlite::Error) -> Self {
        Self::Library(error)
    }
}

impl From<SystemError> for Failure {
    fn from(error: SystemError) -> Self {
        Self::Ours(error)
    }
}

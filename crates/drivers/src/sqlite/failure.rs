//! Why a request to SQLite failed.

use crate::SystemError;

/// An error of the library, or one found by this driver.
pub(super) enum Failure {
    Library(rusqlite::Error),
    Driver(SystemError),
}

impl From<rusqlite::Error> for Failure {
    fn from(error: rusqlite::Error) -> Self {
        Self::Library(error)
    }
}

impl From<SystemError> for Failure {
    fn from(error: SystemError) -> Self {
        Self::Driver(error)
    }
}

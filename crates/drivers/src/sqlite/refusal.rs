//! Takes an error of the library, or one found by the driver; returns it with the engine's error class, by its result code.

use std::path::Path;

use rusqlite::ffi;

use crate::{ErrorClass, SystemError};

/// The error of a statement. `has_waited`: whether the busy timeout expired, which distinguishes a lock
/// timeout from a deadlock: the library does not wait where waiting would never end. `is_open`: whether
/// the transaction is still open.
pub(super) fn of(error: &rusqlite::Error, has_waited: bool, is_open: bool) -> SystemError {
    let (code, message) = match error {
        rusqlite::Error::SqliteFailure(code, Some(message)) => (Some(code), message.clone()),
        rusqlite::Error::SqliteFailure(code, None) => (Some(code), code.to_string()),
        rusqlite::Error::SqlInputError { error, msg, .. } => (Some(error), msg.clone()),
        rusqlite::Error::MultipleStatement => {
            let message = "expected one statement, found several".to_owned();
            return SystemError::new(ErrorClass::Syntax, "", message);
        }
        other => (None, other.to_string()),
    };
    let class = code.map_or(ErrorClass::Other, |code| {
        class(code.extended_code, &message, has_waited)
    });
    let is_busy = code.is_some_and(|code| code.extended_code & 0xff == ffi::SQLITE_BUSY);
    let message = match is_busy && has_waited {
        true => format!("{message} by another program or session"),
        false => message,
    };
    let number = code
        .map(|code| code.extended_code.to_string())
        .unwrap_or_default();
    let found = SystemError::new(class, number, message);
    // An I/O error during commit: whether it reached the disk shows when the file is opened again.
    let is_of_disk = code.is_some_and(|code| code.extended_code & 0xff == ffi::SQLITE_IOERR);
    match is_of_disk && !is_open {
        true => found.unknown(),
        false => found,
    }
}

/// The error of opening a file.
pub(super) fn opening(path: &Path, error: &rusqlite::Error) -> SystemError {
    let found = of(error, true, false);
    let class = match error.sqlite_error_code() {
        Some(ffi::ErrorCode::CannotOpen) => ErrorClass::ConnectionRefused,
        _ => found.class,
    };
    SystemError::new(
        class,
        found.code,
        format!("{}: {}", path.display(), found.message),
    )
}

fn class(extended_code: i32, message: &str, has_waited: bool) -> ErrorClass {
    match extended_code {
        // The transaction reads a snapshot older than the last commit, so it cannot write.
        ffi::SQLITE_BUSY_SNAPSHOT => return ErrorClass::Serialization,
        ffi::SQLITE_LOCKED_SHAREDCACHE => return ErrorClass::Deadlock,
        _ => {}
    }
    match extended_code & 0xff {
        ffi::SQLITE_BUSY if has_waited => ErrorClass::Timeout,
        ffi::SQLITE_BUSY => ErrorClass::Deadlock,
        ffi::SQLITE_PROTOCOL | ffi::SQLITE_INTERRUPT => ErrorClass::Timeout,
        ffi::SQLITE_CONSTRAINT => ErrorClass::Constraint,
        ffi::SQLITE_PERM | ffi::SQLITE_READONLY | ffi::SQLITE_AUTH => ErrorClass::Permission,
        ffi::SQLITE_NOMEM | ffi::SQLITE_FULL | ffi::SQLITE_IOERR | ffi::SQLITE_CANTOPEN => {
            ErrorClass::Resources
        }
        ffi::SQLITE_CORRUPT
        | ffi::SQLITE_NOTADB
        | ffi::SQLITE_TOOBIG
        | ffi::SQLITE_MISMATCH
        | ffi::SQLITE_RANGE => ErrorClass::Data,
        ffi::SQLITE_ERROR => by_message(message),
        _ => ErrorClass::Other,
    }
}

/// The library has one code for all errors in a statement's text; only the message distinguishes them.
fn by_message(message: &str) -> ErrorClass {
    const UNKNOWN: [&str; 3] = ["no such ", "unknown ", " has no column named "];
    const SYNTAX: [&str; 5] = [
        "syntax error",
        "incomplete input",
        "unrecognized token",
        "wrong number of arguments",
        "regular expression",
    ];
    let contains = |phrases: &[&str]| phrases.iter().any(|phrase| message.contains(phrase));
    if contains(&SYNTAX) {
        ErrorClass::Syntax
    } else if contains(&UNKNOWN) {
        ErrorClass::UnknownObject
    } else {
        ErrorClass::Other
    }
}

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

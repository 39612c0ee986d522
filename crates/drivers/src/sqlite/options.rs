//! Takes the driver's options from the deployment document; returns them parsed, and keeps a connection to its own file.

use std::collections::BTreeMap;
use std::time::Duration;

use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::{Connection, ffi};

use crate::{ErrorClass, SystemError};

/// Settings of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// How long a statement waits for other sessions' locks. The library's default is not to wait.
    pub busy_timeout: Duration,
    /// Whether the file is opened read-only.
    pub read_only: bool,
    /// Whether statements reach no other file than this one.
    pub is_confined: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            busy_timeout: Duration::from_secs(60),
            read_only: false,
            is_confined: false,
        }
    }
}

impl Options {
    /// Reads `busy_timeout_s` (seconds), `mode` (`read-write` or `read-only`) and `other_files` (`allowed` or
    /// `refused`).
    ///
    /// # Errors
    /// Where a key or a value is invalid.
    pub fn parse(options: &BTreeMap<String, String>) -> Result<Self, SystemError> {
        let mut parsed = Self::default();
        for (key, value) in options {
            match (key.as_str(), value.as_str()) {
                ("busy_timeout_s", _) => {
                    parsed.busy_timeout = value
                        .parse()
                        .ok()
                        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
                        .filter(|timeout| i32::try_from(timeout.as_millis()).is_ok())
                        .ok_or_else(|| wrong(key, "seconds, from 0 to 2147483", value))?;
                }
                ("mode", "read-write") => parsed.read_only = false,
                ("mode", "read-only") => parsed.read_only = true,
                ("mode", _) => return Err(wrong(key, "read-write or read-only", value)),
                ("other_files", "allowed") => parsed.is_confined = false,
                ("other_files", "refused") => parsed.is_confined = true,
                ("other_files", _) => return Err(wrong(key, "allowed or refused", value)),
                _ => {
                    return Err(SystemError::new(
                        ErrorClass::Other,
                        "",
                        format!(
                            "no option {key:?}; there are busy_timeout_s, mode and other_files"
                        ),
                    ));
                }
            }
        }
        Ok(parsed)
    }
}

fn wrong(key: &str, expected: &str, found: &str) -> SystemError {
    SystemError::new(
        ErrorClass::Other,
        "",
        format!("{key}: expected {expected}, found {found:?}"),
    )
}

/// Pragmas that name directories, in which the library would then make files.
const OF_DIRECTORIES: [&str; 2] = ["temp_store_directory", "data_store_directory"];

pub(super) fn confine(connection: &mut Connection) -> rusqlite::Result<()> {
    connection.authorizer(Some(|context: AuthContext<'_>| match context.action {
        // VACUUM itself attaches a temporary database, which has no name.
        AuthAction::Attach { filename: "" } => Authorization::Allow,
        AuthAction::Attach { .. } => Authorization::Deny,
        // Its name is known only when the statement runs.
        AuthAction::Unknown { code, .. } if code == ffi::SQLITE_ATTACH => Authorization::Deny,
        AuthAction::Function {
            function_name: "load_extension",
        } => Authorization::Deny,
        AuthAction::Pragma { pragma_name, .. } if is_of_directories(pragma_name) => {
            Authorization::Deny
        }
        _ => Authorization::Allow,
    }))
}

fn is_of_directories(pragma: &str) -> bool {
    OF_DIRECTORIES
        .iter()
        .any(|name| name.eq_ignore_ascii_case(pragma))
}

//! The driver's own options, as the site document spells them.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::{ErrorClass, SystemError};

/// How a session behaves beside its SQL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// How long a statement waits for other sessions' locks. The library's own default is not to
    /// wait at all.
    pub busy_timeout: Duration,
    /// Whether the file can only be read.
    pub read_only: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            busy_timeout: Duration::from_secs(60),
            read_only: false,
        }
    }
}

impl Options {
    /// Reads `busy_timeout_s` (seconds) and `mode` (`read-write` or `read-only`).
    ///
    /// # Errors
    /// Where a key or a value is not one of these.
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
                        .ok_or_else(|| wrong(key, "seconds, from 0 to some weeks", value))?;
                }
                ("mode", "read-write") => parsed.read_only = false,
                ("mode", "read-only") => parsed.read_only = true,
                ("mode", _) => return Err(wrong(key, "read-write or read-only", value)),
                _ => {
                    return Err(SystemError::new(
                        ErrorClass::Other,
                        "",
                        format!("no option {key:?}; there are busy_timeout_s and mode"),
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

//! Takes the driver's options from the deployment document; returns the library's path, and the settings of the
//! database.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::{ErrorClass, SystemError};

/// The option that names the shared library.
const LIBRARY: &str = "library";

/// What a database is opened with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Options {
    /// The shared library.
    pub library: PathBuf,
    /// Settings of the whole database, such as `threads`: all other options.
    pub settings: BTreeMap<String, String>,
}

impl Options {
    /// # Errors
    /// Where no library is named. The library itself refuses unknown settings when it opens a database.
    pub(super) fn parse(options: &BTreeMap<String, String>) -> Result<Self, SystemError> {
        let mut settings = options.clone();
        match settings.remove(LIBRARY).filter(|path| !path.is_empty()) {
            Some(path) => Ok(Self {
                library: Path::new(&path).to_owned(),
                settings,
            }),
            None => Err(SystemError::new(
                ErrorClass::ConnectionRefused,
                "",
                "expected the option `library`, the path of DuckDB's shared library, found none",
            )),
        }
    }
}

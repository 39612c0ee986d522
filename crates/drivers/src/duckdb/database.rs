//! Takes the file of a database; returns the database, which all sessions of this process share.
//!
//! The library allows a file to be open once in a process, and its connections see each other's commits
//! only within one open database. It is closed, and its log written back into the file, when the last
//! session closes.

use std::collections::BTreeMap;
use std::ffi::CString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use crate::duckdb::library::{Handle, Library, NO_ERROR};
use crate::duckdb::refusal;
use crate::{ErrorClass, Result, SystemError};

/// Databases that are open, by their files; in memory there are only private ones. Used when sessions open,
/// not while they work.
static OPEN: Mutex<Vec<(PathBuf, Weak<Database>)>> = Mutex::new(Vec::new());

/// The name under which the library opens a database that is not kept.
const IN_MEMORY: &str = ":memory:";

/// An open database.
pub(super) struct Database {
    pub library: &'static Library,
    handle: Handle,
    options: Options,
}

// SAFETY: the library allows any thread to use a database; the handle is only read.
unsafe impl Send for Database {}
// SAFETY: as above; the library locks what its threads share.
unsafe impl Sync for Database {}

impl Database {
    /// Opens a file, or joins those that have it open with the same options.
    ///
    /// # Errors
    /// Where the library cannot be loaded, a setting is wrong, the file cannot be opened, or it is open with
    /// other options.
    pub(super) fn open(file: &str, options: Options) -> Result<Arc<Self>> {
        let library = Library::at(&options.library)?;
        if file == IN_MEMORY {
            return Self::new(library, file, options).map(Arc::new);
        }
        let path = absolute(Path::new(file))?;
        let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
        open.retain(|(_, database)| database.strong_count() > 0);
        let known = open.iter().find(|(place, _)| *place == path);
        if let Some(database) = known.and_then(|(_, database)| database.upgrade()) {
            return match database.options == options {
                true => Ok(database),
                false => Err(refusal::connecting(format!(
                    "{file}: this process has the database open with other settings; expected {:?}, found {:?}",
                    database.options.settings, options.settings
                ))),
            };
        }
        let database = Arc::new(Self::new(library, file, options)?);
        open.push((path, Arc::downgrade(&database)));
        Ok(database)
    }

    fn new(library: &'static Library, file: &str, options: Options) -> Result<Self> {
        let name = c_text(file)?;
        let configuration = Configuration::new(library, &options.settings)?;
        let mut handle = std::ptr::null_mut();
        let mut message = std::ptr::null_mut();
        // SAFETY: the texts end in NUL bytes, the configuration is alive, and the library writes the handle or
        // a message that is then ours.
        let state = unsafe {
            (library.open_ext)(
                name.as_ptr(),
                &raw mut handle,
                configuration.0,
                &raw mut message,
            )
        };
        // SAFETY: the library wrote the message, or left null.
        let message = unsafe { library.take_text(message) };
        match state {
            NO_ERROR => Ok(Self {
                library,
                handle,
                options,
            }),
            _ => Err(refusal::opening(file, message)),
        }
    }

    /// A new connection.
    ///
    /// # Errors
    /// Where the library has no room for one.
    pub(super) fn connect(self: &Arc<Self>) -> Result<Connection> {
        let mut handle = std::ptr::null_mut();
        // SAFETY: the database is open, and the library writes the handle.
        match unsafe { (self.library.connect)(self.handle, &raw mut handle) } {
            NO_ERROR => Ok(Connection {
                handle,
                database: Arc::clone(self),
            }),
            _ => Err(refusal::connecting(
                "the database accepts no more connections".to_owned(),
            )),
        }
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        // SAFETY: every connection holds the database, so none is left.
        unsafe { (self.library.close)(&raw mut self.handle) }
    }
}

/// A connection to a database, which it keeps open.
pub(super) struct Connection {
    pub handle: Handle,
    pub database: Arc<Database>,
}

// SAFETY: the library allows any one thread at a time to use a connection, which is what its owner does; and
// any thread at any time to interrupt it, the only thing that others do.
unsafe impl Send for Connection {}
// SAFETY: as above.
unsafe impl Sync for Connection {}

impl Connection {
    /// Ends the current statement with an error; does nothing where there is none.
    pub(super) fn interrupt(&self) {
        // SAFETY: the connection is open as long as this value lives.
        unsafe { (self.database.library.interrupt)(self.handle) }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        // SAFETY: the session has destroyed its statements, and nothing else uses the connection.
        unsafe { (self.database.library.disconnect)(&raw mut self.handle) }
    }
}

/// The settings with which a database is opened.
struct Configuration(Handle, &'static Library);

impl Configuration {
    fn new(library: &'static Library, settings: &BTreeMap<String, String>) -> Result<Self> {
        let mut handle = std::ptr::null_mut();
        // SAFETY: the library writes the handle.
        let state = unsafe { (library.create_config)(&raw mut handle) };
        if state != NO_ERROR {
            return Err(refusal::connecting(
                "the library has no memory for its configuration".to_owned(),
            ));
        }
        let made = Self(handle, library);
        for (name, value) in settings {
            let (key, word) = (c_text(name)?, c_text(value)?);
            // SAFETY: the configuration is alive, and the texts end in NUL bytes.
            let state = unsafe { (library.set_config)(made.0, key.as_ptr(), word.as_ptr()) };
            if state != NO_ERROR {
                return Err(refusal::connecting(format!(
                    "DuckDB does not accept the setting {name} = {value:?}"
                )));
            }
        }
        Ok(made)
    }
}

impl Drop for Configuration {
    fn drop(&mut self) {
        // SAFETY: the handle is ours, and a database that was opened with it has its own copy.
        unsafe { (self.1.destroy_config)(&raw mut self.0) }
    }
}

/// A text for the library.
pub(super) fn c_text(text: &str) -> Result<CString> {
    CString::new(text).map_err(|_| {
        let message = "a text for DuckDB must not contain a NUL character".to_owned();
        SystemError::new(ErrorClass::Data, "", message)
    })
}

/// The path by which a file is known, also where it does not exist yet.
fn absolute(file: &Path) -> Result<PathBuf> {
    let failed =
        |error: std::io::Error| refusal::opening(&file.to_string_lossy(), error.to_string());
    if let Ok(path) = file.canonicalize() {
        return Ok(path);
    }
    let whole = std::path::absolute(file).map_err(failed)?;
    match (whole.parent(), whole.file_name()) {
        (Some(folder), Some(name)) => Ok(folder.canonicalize().map_err(failed)?.join(name)),
        _ => Ok(whole),
    }
}

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
    pub(super) fn parse(options: &BTreeMap<String, String>) -> Result<Self> {
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

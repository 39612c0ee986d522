//! The requests that the engine sends to a session, the options with which a driver opens one, and who answers at an address.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use assay_values::{ColumnType, Piece, Value};

use crate::{ErrorClass, Result, SystemError};

/// One request. Statement ids are small and dense (0, 1, 2 …) and chosen by the engine.
#[derive(Clone, Copy, Debug)]
pub enum Request<'a> {
    /// One statement as plain text, as an interactive client sends it.
    Text(&'a str),
    /// Prepares one statement; the driver writes the placeholders in its protocol's syntax.
    Prepare {
        /// The number by which it is executed later.
        id: u32,
        /// Its text, with the places of its values.
        pieces: &'a [Piece],
    },
    /// Executes a prepared statement.
    Execute {
        /// The number it was prepared under.
        id: u32,
        /// Its values, in the order of their places.
        parameters: &'a [Value],
    },
    /// Compiles one statement, binds its values and executes it once; it is not kept prepared.
    Direct {
        /// Its text, with the places of its values.
        pieces: &'a [Piece],
        /// Its values, in the order of their places.
        parameters: &'a [Value],
    },
    /// Begins a bulk load; `text` is the dialect's statement for it, `types` are those of its columns
    /// (empty: not known).
    Bulk {
        /// The statement that begins the load.
        text: &'a str,
        /// In which form the rows travel.
        form: BulkForm,
        /// The types of the columns; empty where they are not known.
        types: &'a [ColumnType],
    },
    /// Begins a transaction at the session's isolation level. Like the next two, only where the driver
    /// has transactions.
    Begin,
    /// Commits the transaction.
    Commit,
    /// Rolls back the whole transaction in any state; no error where none is open.
    Rollback,
}

impl Request<'_> {
    /// The SQL of begin, commit or rollback; `None` for any other request.
    pub(crate) fn sql(&self) -> Option<&'static str> {
        match self {
            Self::Begin => Some("BEGIN"),
            Self::Commit => Some("COMMIT"),
            Self::Rollback => Some("ROLLBACK"),
            _ => None,
        }
    }
}

/// What a session keeps of its prepared statements, by their ids.
#[derive(Debug)]
pub(crate) struct ById<T>(Vec<Option<T>>);

impl<T> Default for ById<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> ById<T> {
    /// `None` where preparing failed, or was never requested.
    #[inline]
    pub(crate) fn get(&self, id: u32) -> Option<&T> {
        self.0.get(id as usize)?.as_ref()
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, id: u32) -> Option<&mut T> {
        self.0.get_mut(id as usize)?.as_mut()
    }

    /// # Errors
    /// Where there is no such statement.
    #[inline]
    pub(crate) fn known(&self, id: u32) -> Result<&T> {
        let message = "the statement was not prepared in this session";
        self.get(id).ok_or_else(|| SystemError::refused(message))
    }

    /// Where the statement of this id is kept.
    pub(crate) fn place(&mut self, id: u32) -> &mut Option<T> {
        let index = id as usize;
        if self.0.len() <= index {
            self.0.resize_with(index + 1, || None);
        }
        &mut self.0[index]
    }

    /// Takes the statement out, so that the session can execute it; [`ById::place`] takes it back.
    ///
    /// # Errors
    /// Where there is no such statement.
    pub(crate) fn take(&mut self, id: u32) -> Result<T> {
        self.place(id).take().ok_or_else(|| never_prepared(id))
    }

    /// The ids of all statements.
    pub(crate) fn ids(&self) -> impl Iterator<Item = u32> {
        let ids = (0..).zip(&self.0);
        ids.filter_map(|(id, statement)| statement.as_ref().map(|_| id))
    }
}

/// The error of an execution in a library.
#[cold]
pub(crate) fn never_prepared(id: u32) -> SystemError {
    SystemError::refused(format!("statement {id} was never prepared"))
}

/// How the rows of a bulk load are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BulkForm {
    /// The protocol's own bulk path: `COPY … FROM STDIN`, `LOAD DATA LOCAL INFILE`, or a prepared
    /// `INSERT … VALUES (?, …)` for a library in the same process.
    Native,
    /// `INSERT … VALUES (…), (…)` with many rows per statement; `text` ends in the word VALUES.
    MultiRow,
}

/// User, password, database and session settings. The engine knows the server's address.
#[derive(Clone, Debug, Default)]
pub struct ConnectOptions {
    /// The name of the user.
    pub user: String,
    /// The password, if there is one.
    pub password: Option<String>,
    /// The name of the database.
    pub database: String,
    /// Whether the driver requests TLS.
    pub wants_tls: bool,
    /// Whether the connection cannot be eavesdropped on (Unix socket, TLS): then a password may be
    /// sent in clear text where the server requires it.
    pub is_private: bool,
    /// Statements that each new session runs first.
    pub session_statements: Vec<String>,
    /// The driver's own, from the deployment document: [`crate::Wire::check_options`] accepted them.
    pub options: BTreeMap<String, String>,
}

/// What a [`crate::Blocking`] driver needs to open a connection; each such driver has an
/// `open(&LocalOptions)`.
#[derive(Clone, Copy)]
pub struct LocalOptions<'a> {
    /// The database file, if any.
    pub file: Option<&'a str>,
    /// The password, if there is one.
    pub password: Option<&'a str>,
    /// Statements that each new session runs first.
    pub session_statements: &'a [String],
    /// How long connecting may take, for a driver that calls code which may never return.
    pub connect_timeout: Duration,
    /// The driver's own options, from the deployment document.
    pub options: &'a BTreeMap<String, String>,
    /// Set by another thread where the session is not to wait any longer, not even while it is opened.
    pub stop: &'a Arc<AtomicBool>,
}

impl<'a> LocalOptions<'a> {
    /// The file of a library that needs one.
    pub(crate) fn database_file(&self) -> Result<&'a str> {
        let file = self.file.filter(|file| !file.is_empty());
        file.ok_or_else(|| {
            let message = "expected a database file, found none";
            SystemError::new(ErrorClass::ConnectionRefused, "", message)
        })
    }
}

/// Who answers at an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sender {
    /// With its article, or its name and version.
    pub name: String,
    /// The scheme of the URL that leads to it; `None` where nothing here speaks its protocol.
    pub scheme: Option<&'static str>,
}

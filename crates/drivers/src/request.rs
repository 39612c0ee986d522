//! What the engine can ask of a session, and what a driver must know to open one.

use std::collections::BTreeMap;

use assay_values::{ColumnType, Piece, Value};

/// One request. Statement ids are small and dense (0, 1, 2 …) and chosen by the engine.
#[derive(Clone, Copy, Debug)]
pub enum Request<'a> {
    /// One statement as plain text, as an interactive client sends it.
    Text(&'a str),
    /// Prepares one statement; the driver spells the places of its values for its protocol.
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
    /// Compiles one statement, binds its values and executes it; nothing of it is kept.
    Direct {
        /// Its text, with the places of its values.
        pieces: &'a [Piece],
        /// Its values, in the order of their places.
        parameters: &'a [Value],
    },
    /// Begins a bulk load; `text` is the statement the dialect renders for it, `types` are those of
    /// its columns (none: not known).
    Bulk {
        /// The statement that begins the load.
        text: &'a str,
        /// In which form the rows travel.
        form: BulkForm,
        /// The types of the columns; empty where they are not known.
        types: &'a [ColumnType],
    },
    /// Begins a transaction at the session's isolation level. Only where the driver has transactions, as
    /// the next two.
    Begin,
    /// Commits the transaction.
    Commit,
    /// Rolls the whole transaction back, whatever state it is in; no error where none is open.
    Rollback,
}

impl Request<'_> {
    /// What begins, commits or rolls back in SQL; none for any other request.
    pub(crate) fn sql(&self) -> Option<&'static str> {
        match self {
            Self::Begin => Some("BEGIN"),
            Self::Commit => Some("COMMIT"),
            Self::Rollback => Some("ROLLBACK"),
            _ => None,
        }
    }
}

/// How bulk rows travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BulkForm {
    /// The protocol's own bulk path: `COPY … FROM STDIN`, `LOAD DATA LOCAL INFILE`, a held
    /// `INSERT … VALUES (?, …)` where the library is in process.
    Native,
    /// `INSERT … VALUES (…), (…)` with many rows a statement; `text` ends in the word VALUES.
    MultiRow,
}

/// Whom to be and whom to ask for. Where the server listens is the engine's business.
#[derive(Clone, Debug, Default)]
pub struct ConnectOptions {
    /// The name of the user.
    pub user: String,
    /// The password, if there is one.
    pub password: Option<String>,
    /// The name of the database.
    pub database: String,
    /// Whether the driver asks for TLS after the greeting.
    pub wants_tls: bool,
    /// Whether the connection cannot be listened to (Unix socket, TLS): then a password may be
    /// sent in the clear where the server asks for it.
    pub is_private: bool,
    /// Statements that each new session runs before anything else.
    pub session_statements: Vec<String>,
}

/// What a [`crate::Blocking`] driver must know to open a connection; each type has an
/// `open(&LocalOptions)`.
#[derive(Clone, Copy, Debug)]
pub struct LocalOptions<'a> {
    /// The database file, where there is one.
    pub file: Option<&'a str>,
    /// Statements that each new session runs before anything else.
    pub session_statements: &'a [String],
    /// The driver's own, from the site document.
    pub options: &'a BTreeMap<String, String>,
}

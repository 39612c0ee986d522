//! Takes nothing; holds what a statement can mean to a system that does nothing.

use crate::TransactionStatus;

/// A statement as the null systems understand it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    pub(crate) meaning: Meaning,
    /// Names of the columns of its rows; none where it gives no rows.
    pub(crate) columns: Box<[Box<str>]>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Meaning {
    /// `SELECT count(*) FROM table`.
    Count(String),
    Read,
    /// Asks for the system's own tables, of which there are none.
    Catalogue,
    Create(String),
    Drop(String),
    /// `DELETE FROM table` or `TRUNCATE TABLE table`, whole.
    Empty(String),
    /// Rows follow: `COPY table FROM STDIN`, `LOAD DATA LOCAL INFILE file INTO TABLE table`.
    Load {
        table: String,
        file: String,
        is_binary: bool,
    },
    /// Makes or changes anything else of the schema, or sets something.
    Schema(&'static str),
    /// Adds so many rows, which it names.
    Insert {
        table: String,
        rows: u64,
    },
    /// Reports one row as changed. No row is: this is no database.
    Change(Change),
    Begin,
    Commit,
    Rollback,
    Other,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    Update,
    Delete,
}

impl Meaning {
    /// Whether it ends a transaction, whole or not.
    pub(crate) fn ends_transaction(&self) -> bool {
        matches!(self, Self::Commit | Self::Rollback)
    }

    /// Where a session's transaction stands behind it.
    pub(crate) fn after(&self, before: TransactionStatus) -> TransactionStatus {
        match self {
            Self::Begin => TransactionStatus::Open,
            Self::Commit | Self::Rollback => TransactionStatus::None,
            _ => before,
        }
    }

    pub(crate) fn with(self, columns: Vec<Box<str>>) -> Statement {
        Statement {
            meaning: self,
            columns: columns.into(),
        }
    }

    pub(crate) fn bare(self) -> Statement {
        self.with(Vec::new())
    }
}

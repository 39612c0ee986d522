//! The kinds of statements that the null system distinguishes.

use crate::TransactionStatus;

/// A statement as the null systems parse it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    pub(crate) meaning: Meaning,
    /// Names of the columns it returns; empty where it returns no rows.
    pub(crate) columns: Box<[Box<str>]>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Meaning {
    /// `SELECT count(*) FROM table`.
    Count(String),
    Read,
    /// Reads system tables, of which there are none.
    Catalogue,
    Create(String),
    Drop(String),
    /// `DELETE FROM table` without a condition, or `TRUNCATE TABLE table`.
    Empty(String),
    /// Rows follow: `COPY table FROM STDIN`, `LOAD DATA LOCAL INFILE file INTO TABLE table`.
    Load {
        table: String,
        file: String,
        is_binary: bool,
    },
    /// Any other DDL statement, or SET.
    Schema(&'static str),
    /// Adds this many rows.
    Insert {
        table: String,
        rows: u64,
    },
    /// Reports one row as changed; the null system stores no rows.
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

    /// State of the session's transaction after the statement.
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

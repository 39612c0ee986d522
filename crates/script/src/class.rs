//! Takes the name of an error class; returns it as used in scripts and in the ending of a transaction.
//!
//! The names are those of the drivers' `ErrorClass`; a test compares the two lists. This crate does
//! not depend on the drivers, because a script is compiled before a driver is chosen.

use crate::nearest::nearest;

/// The classes of an unmet expectation and of an expression that fails.
pub(crate) const EXPECTATION: &str = "expectation";
pub(crate) const SCRIPT: &str = "script";
const OTHER: &str = "other";

/// Classes of statement errors that leave the connection open: those that `\expect error` accepts.
pub const STATEMENT_CLASSES: &[&str] = &[
    "constraint",
    "data",
    "deadlock",
    OTHER,
    "permission",
    "resources",
    "serialization",
    "syntax",
    "timeout",
    "unknown object",
];

/// The other classes: the end of a connection, and failures of the script itself.
pub const FURTHER_CLASSES: &[&str] = &[
    "authentication",
    "connection refused",
    EXPECTATION,
    "lost connection",
    "protocol",
    SCRIPT,
    "too many connections",
    "wrong statement",
];

/// The class of that name; `other` if the name is unknown.
pub(crate) fn known(word: &str) -> &'static str {
    let classes = STATEMENT_CLASSES.iter().chain(FURTHER_CLASSES);
    classes
        .copied()
        .find(|&class| class == word)
        .unwrap_or(OTHER)
}

/// The class that a script names; `Err` holds the class probably meant.
pub(crate) fn named(words: &str) -> Result<&'static str, Option<&'static str>> {
    let found = STATEMENT_CLASSES
        .iter()
        .copied()
        .find(|class| class.eq_ignore_ascii_case(words));
    found.ok_or_else(|| nearest(words, STATEMENT_CLASSES.iter().copied()))
}

//! Takes the word of an error class; gives it as a script and an ending may use it.
//!
//! The words are those of the drivers' `ErrorClass`; a test compares the two lists. This crate does
//! not depend on the drivers, because a script is compiled before any of them is chosen.

use crate::nearest::nearest;

/// What an expectation that was not met, and a fault of an expression, are counted as.
pub(crate) const EXPECTATION: &str = "expectation";
pub(crate) const SCRIPT: &str = "script";
const OTHER: &str = "other";

/// Classes that a statement can have on a connection that goes on: those that `\expect error` takes.
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

/// The other words: the end of a connection, and what the script itself found.
pub const FURTHER_CLASSES: &[&str] = &[
    "authentication",
    "connection refused",
    EXPECTATION,
    "lost connection",
    "protocol",
    SCRIPT,
    "too many connections",
];

/// The word as one of the list's; `other` where it is none of them.
pub(crate) fn known(word: &str) -> &'static str {
    let classes = STATEMENT_CLASSES.iter().chain(FURTHER_CLASSES);
    classes
        .copied()
        .find(|&class| class == word)
        .unwrap_or(OTHER)
}

/// The class that a script names; `Err` holds the one probably meant.
pub(crate) fn named(words: &str) -> Result<&'static str, Option<&'static str>> {
    let found = STATEMENT_CLASSES
        .iter()
        .copied()
        .find(|class| class.eq_ignore_ascii_case(words));
    found.ok_or_else(|| nearest(words, STATEMENT_CLASSES.iter().copied()))
}

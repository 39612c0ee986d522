//! Takes an error of the library; returns it with the engine's error class, by the library's error type.

use crate::{ErrorClass, SystemError};

/// Error types, `duckdb_error_type`, and the words with which the library begins their messages: where it
/// gives only a message, these words are the type.
const TYPES: [(u32, &str, ErrorClass); 37] = [
    (1, "Out of Range Error", ErrorClass::Data),
    (2, "Conversion Error", ErrorClass::Data),
    (4, "Decimal Error", ErrorClass::Data),
    (5, "Mismatch Type Error", ErrorClass::Data),
    (6, "Divide by Zero Error", ErrorClass::Data),
    (7, "Object Size Error", ErrorClass::Data),
    (8, "Invalid type Error", ErrorClass::Data),
    (9, "Serialization Error", ErrorClass::Other),
    (10, "TransactionContext Error", ErrorClass::Serialization),
    (11, "Not implemented Error", ErrorClass::Syntax),
    (12, "Expression Error", ErrorClass::Syntax),
    (13, "Catalog Error", ErrorClass::Other),
    (14, "Parser Error", ErrorClass::Syntax),
    (15, "Planner Error", ErrorClass::Syntax),
    (16, "Scheduler Error", ErrorClass::Resources),
    (17, "Executor Error", ErrorClass::Other),
    (18, "Constraint Error", ErrorClass::Constraint),
    (19, "Index Error", ErrorClass::Other),
    (21, "Connection Error", ErrorClass::LostConnection),
    (22, "Syntax Error", ErrorClass::Syntax),
    (23, "Settings Error", ErrorClass::Other),
    (24, "Binder Error", ErrorClass::Syntax),
    (25, "Network Error", ErrorClass::Resources),
    (28, "IO Error", ErrorClass::Resources),
    (29, "INTERRUPT Error", ErrorClass::Timeout),
    (30, "FATAL Error", ErrorClass::LostConnection),
    (31, "INTERNAL Error", ErrorClass::Other),
    (32, "Invalid Input Error", ErrorClass::Data),
    (33, "Out of Memory Error", ErrorClass::Resources),
    (34, "Permission Error", ErrorClass::Permission),
    (35, "Parameter Not Resolved Error", ErrorClass::Syntax),
    (36, "Parameter Not Allowed Error", ErrorClass::Syntax),
    (37, "Dependency Error", ErrorClass::Constraint),
    (39, "Missing Extension Error", ErrorClass::UnknownObject),
    (40, "Extension Autoloading Error", ErrorClass::UnknownObject),
    (41, "Sequence Error", ErrorClass::Data),
    (42, "Invalid Configuration Error", ErrorClass::Other),
];

const TRANSACTION: u32 = 10;
const CATALOG: u32 = 13;
const CONNECTION: u32 = 21;
const BINDER: u32 = 24;
const IO: u32 = 28;
const FATAL: u32 = 30;

/// An error that the library gives as a type and a message.
pub(super) fn of(error_type: u32, message: &str) -> SystemError {
    let class = class(error_type, message);
    let code = TYPES.iter().find(|(number, ..)| *number == error_type);
    let code = code.map_or("", |(_, words, _)| words.trim_end_matches(" Error"));
    let found = SystemError::new(class, code, shown(message));
    match error_type {
        CONNECTION | FATAL => found.lost(),
        _ => found,
    }
}

/// An error that the library gives as a message alone.
pub(super) fn of_message(message: &str) -> SystemError {
    let found = TYPES
        .iter()
        .find(|(_, words, _)| message.starts_with(words));
    of(found.map_or(0, |&(number, ..)| number), message)
}

/// The error of a commit: where the disk failed, only the next opening shows whether it was kept.
pub(super) fn of_commit(error: SystemError) -> SystemError {
    let is_of_disk = TYPES
        .iter()
        .any(|(number, words, _)| *number == IO && words.starts_with(&error.code));
    match is_of_disk && !error.code.is_empty() {
        true => error.unknown(),
        false => error,
    }
}

/// The error of opening a file.
pub(super) fn opening(file: &str, message: String) -> SystemError {
    let message = match message.is_empty() {
        true => "it cannot be opened".to_owned(),
        false => message,
    };
    connecting(format!("{file}: {}", shown(&message)))
}

/// No session was opened.
pub(super) fn connecting(message: String) -> SystemError {
    SystemError::new(ErrorClass::ConnectionRefused, "", message)
}

fn class(error_type: u32, message: &str) -> ErrorClass {
    let names_nothing = ["does not exist", "not found", "No function matches"]
        .iter()
        .any(|phrase| message.contains(phrase));
    match error_type {
        // Another session has committed a row with the same key, which shows only at the commit.
        TRANSACTION if message.contains("constraint") => ErrorClass::Constraint,
        // Statements outside a transaction, or in one that has failed.
        TRANSACTION if !message.contains("onflict") && !message.contains("ommit") => {
            ErrorClass::Other
        }
        CATALOG | BINDER if names_nothing => ErrorClass::UnknownObject,
        _ => TYPES
            .iter()
            .find(|(number, ..)| *number == error_type)
            .map_or(ErrorClass::Other, |&(_, _, class)| class),
    }
}

/// The message up to its first empty line or the picture of the statement: what follows are suggestions.
fn shown(message: &str) -> String {
    let end = message.find("\n\n").unwrap_or(message.len());
    message[..end].replace('\n', "; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_type_of_an_error_or_its_first_words_decide_its_class() {
        #[rustfmt::skip]
        let cases = [
            (10, "TransactionContext Error: Conflict on update!", ErrorClass::Serialization),
            (
                10,
                "TransactionContext Error: Failed to commit: PRIMARY KEY or UNIQUE constraint violation: \
                 duplicate key \"1\"",
                ErrorClass::Constraint,
            ),
            (
                10,
                "TransactionContext Error: Current transaction is aborted (please ROLLBACK)",
                ErrorClass::Other,
            ),
            (13, "Catalog Error: Table with name t does not exist!", ErrorClass::UnknownObject),
            (13, "Catalog Error: Table with name \"t\" already exists!", ErrorClass::Other),
            (
                24,
                "Binder Error: Referenced column \"x\" not found in FROM clause!",
                ErrorClass::UnknownObject,
            ),
            (14, "Parser Error: syntax error", ErrorClass::Syntax),
            (18, "Constraint Error: Duplicate key", ErrorClass::Constraint),
            (29, "INTERRUPT Error: Interrupted!", ErrorClass::Timeout),
            (30, "FATAL Error: invalidated", ErrorClass::LostConnection),
            (99, "Something new", ErrorClass::Other),
        ];
        for (error_type, message, expected) in cases {
            assert_eq!(of(error_type, message).class, expected, "{message}");
            assert_eq!(of_message(message).class, expected, "{message}");
        }
        assert_eq!(of(18, "x").code, "Constraint");
    }

    #[test]
    fn suggestions_are_left_out() {
        let error = of_message("Binder Error: a\nCandidates: b\n\nLINE 1: select\n   ^");
        assert_eq!(error.message, "Binder Error: a; Candidates: b");
    }
}

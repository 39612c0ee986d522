//! Takes the message of an error; returns the error with the engine's class.
//!
//! The protocol has no codes, so the class comes from the words of the message. A message with none of these
//! words is an error of the class *other*.

use crate::{ErrorClass, SystemError};

/// When the error occurred: while connecting, an unknown database is a wrong argument of the session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moment {
    Connecting,
    Statement,
}

/// Words by which an error is classified, and its class. The first ones of each class are those that the null
/// server writes.
const WORDS: &[(&str, ErrorClass)] = &[
    ("too many connections", ErrorClass::TooManyConnections),
    ("shutting down", ErrorClass::LostConnection),
    ("cannot log in", ErrorClass::Authentication),
    ("access denied", ErrorClass::Permission),
    ("permission denied", ErrorClass::Permission),
    ("timed out", ErrorClass::Timeout),
    ("deadlock", ErrorClass::Deadlock),
    ("try again", ErrorClass::Serialization),
    ("non unique", ErrorClass::Constraint),
    ("not unique", ErrorClass::Constraint),
    ("duplicate", ErrorClass::Constraint),
    ("null value", ErrorClass::Constraint),
    ("cannot be null", ErrorClass::Constraint),
    ("parse error", ErrorClass::Syntax),
    ("syntax", ErrorClass::Syntax),
    ("unknown", ErrorClass::UnknownObject),
    ("does not exist", ErrorClass::UnknownObject),
    ("bad value", ErrorClass::Data),
    ("bad type", ErrorClass::Data),
    ("too long", ErrorClass::Data),
    ("type mismatch", ErrorClass::Data),
    ("out of resources", ErrorClass::Resources),
    ("out of memory", ErrorClass::Resources),
    ("no space", ErrorClass::Resources),
];

/// The error of a reply.
pub(crate) fn read(message: &[u8], moment: Moment) -> SystemError {
    let message = String::from_utf8_lossy(message);
    let class = class_of(&message, moment);
    let error = SystemError::new(class, "", message.trim());
    match (class, moment) {
        // Nothing is rolled back: what the statement had changed before stays.
        (ErrorClass::Timeout | ErrorClass::LostConnection, Moment::Statement) => error.unknown(),
        _ => error,
    }
}

fn class_of(message: &str, moment: Moment) -> ErrorClass {
    let message = message.to_lowercase();
    let class = (WORDS.iter())
        .find(|(words, _)| message.contains(words))
        .map_or(ErrorClass::Other, |(_, class)| *class);
    match (class, moment) {
        (ErrorClass::UnknownObject | ErrorClass::Permission, Moment::Connecting) => {
            ErrorClass::Authentication
        }
        _ => class,
    }
}

/// The message of the null server, by which a client finds the class.
pub(crate) fn message_of(error: &SystemError) -> String {
    match WORDS.iter().find(|(_, class)| *class == error.class) {
        Some((words, _)) => format!("{words}: {}", error.message),
        None => error.message.clone(),
    }
}

/// A packet that is not `expected`.
#[cold]
pub(crate) fn malformed(expected: &str, text: &[u8]) -> SystemError {
    let start = &text[..text.len().min(40)];
    let more = if text.len() > start.len() { " …" } else { "" };
    let found = String::from_utf8_lossy(start);
    SystemError::protocol(expected, format_args!("{found:?}{more}"))
}

/// A value that a statement of mSQL cannot hold.
#[cold]
pub(crate) fn unsendable(message: impl Into<String>) -> SystemError {
    SystemError::new(ErrorClass::Data, "", message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Certainty;

    #[test]
    fn the_driver_reads_each_class_that_the_null_server_writes() {
        for (_, class) in WORDS {
            let sent = SystemError::new(*class, "", "message text");
            let message = message_of(&sent);
            let read = read(message.as_bytes(), Moment::Statement);
            assert_eq!(read.class, *class);
            let is_interrupted = matches!(class, ErrorClass::Timeout | ErrorClass::LostConnection);
            assert_eq!(read.certainty == Certainty::Unknown, is_interrupted, "{read}");
            assert!(read.message.ends_with("message text"), "{read}");
        }
    }

    #[test]
    fn the_words_decide_the_class() {
        for (message, class) in [
            ("Unknown table \"t\"", ErrorClass::UnknownObject),
            ("Non unique value for unique index", ErrorClass::Constraint),
            ("Parse error at line 1", ErrorClass::Syntax),
            ("Something happened", ErrorClass::Other),
        ] {
            let error = read(message.as_bytes(), Moment::Statement);
            assert_eq!(error.class, class, "{message}");
        }
        let error = read(b"Unknown database \"x\"", Moment::Connecting);
        assert_eq!(error.class, ErrorClass::Authentication);
    }
}

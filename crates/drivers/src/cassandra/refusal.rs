//! Takes the body of an ERROR message; gives the error in the engine's words, and whether what was asked for
//! may have been done.

use crate::cassandra::notation::error_code as code;
use crate::scan::Scan;
use crate::{ErrorClass, SystemError};

/// What was under way when the error came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moment {
    Connecting,
    Request,
}

/// The number of the error; none if the body is malformed.
pub(crate) fn code_of(body: &[u8]) -> Option<i32> {
    Scan(body).i32_be()
}

pub(crate) fn read(body: &[u8], moment: Moment) -> SystemError {
    let mut scan = Scan(body);
    let (Some(number), Some(message)) = (scan.i32_be(), scan.short_bytes()) else {
        return SystemError::malformed("an error with its code and message", body);
    };
    let message = String::from_utf8_lossy(message);
    let class = class_of(number, &message, moment);
    let is_unknown = moment == Moment::Request && may_be_done(number, scan);
    let error = SystemError::new(class, format!("0x{number:04X}"), message.into_owned());
    if is_unknown { error.unknown() } else { error }
}

fn class_of(number: i32, message: &str, moment: Moment) -> ErrorClass {
    match (number, moment) {
        (code::PROTOCOL, _) => ErrorClass::Protocol,
        (code::CREDENTIALS, _) => ErrorClass::Authentication,
        (code::OVERLOADED | code::UNAVAILABLE, Moment::Connecting) => {
            ErrorClass::TooManyConnections
        }
        (code::BOOTSTRAPPING, Moment::Connecting) => ErrorClass::ConnectionRefused,
        // No such keyspace, or no permission to use it.
        (code::INVALID | code::UNAUTHORIZED, Moment::Connecting) => ErrorClass::Authentication,
        (code::UNAVAILABLE | code::OVERLOADED | code::BOOTSTRAPPING, _)
        | (code::CDC_WRITE_FAILURE, _) => ErrorClass::Resources,
        (
            code::WRITE_TIMEOUT | code::READ_TIMEOUT | code::READ_FAILURE | code::WRITE_FAILURE,
            _,
        ) => ErrorClass::Timeout,
        // Lost against another conditional update of the same rows.
        (code::CAS_WRITE_UNKNOWN, _) => ErrorClass::Serialization,
        (code::SYNTAX, _) => ErrorClass::Syntax,
        (code::UNAUTHORIZED, _) => ErrorClass::Permission,
        (code::FUNCTION_FAILURE, _) => ErrorClass::Data,
        (code::INVALID | code::CONFIGURATION, _) => class_of_invalid(message),
        (code::UNPREPARED, _) => ErrorClass::UnknownObject,
        _ => ErrorClass::Other,
    }
}

/// "Invalid" is whatever the grammar allows and the server refuses; its words tell why.
fn class_of_invalid(message: &str) -> ErrorClass {
    const UNKNOWN: &[&str] = &[
        "does not exist",
        "doesn't exist",
        "unconfigured table",
        "Undefined column name",
        "Unknown identifier",
        "Unknown definition",
        "Unknown function",
        "Unknown type",
        "No keyspace has been specified",
        "Unknown keyspace",
    ];
    const DATA: &[&str] = &[
        "Invalid STRING constant",
        "Invalid INTEGER constant",
        "Invalid FLOAT constant",
        "Invalid BOOLEAN constant",
        "Invalid UUID constant",
        "Invalid HEX constant",
        "Invalid null value",
        "Invalid unset value",
        "Unable to make",
        "Unable to coerce",
        "Expected ",
        "out of range",
        "may not be empty",
        "is too big",
        "is longer than",
        "Invalid amount of bind variables",
        "String didn't validate",
    ];
    let has = |words: &[&str]| words.iter().any(|words| message.contains(words));
    if has(UNKNOWN) {
        ErrorClass::UnknownObject
    } else if has(DATA) {
        ErrorClass::Data
    } else {
        ErrorClass::Syntax
    }
}

/// Whether the request may have been carried out nevertheless. A write that timed out or failed has reached some
/// replicas; even a batch whose log timed out is done later where the log has it. Only a write that change
/// data capture turned away for want of space was never begun.
fn may_be_done(number: i32, mut scan: Scan<'_>) -> bool {
    match number {
        code::WRITE_TIMEOUT => {
            let write_type = scan.take(2 + 4 + 4).and_then(|_| scan.string());
            write_type != Some("CDC")
        }
        code::SERVER | code::TRUNCATE | code::WRITE_FAILURE | code::CAS_WRITE_UNKNOWN => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Certainty;

    fn body(number: i32, message: &str, rest: &[u8]) -> Vec<u8> {
        let length = u16::try_from(message.len()).expect("it is short");
        [&number.to_be_bytes(), &length.to_be_bytes()[..], message.as_bytes(), rest].concat()
    }

    #[test]
    fn a_write_that_timed_out_may_have_been_done() {
        let rest = |kind: &str| {
            let length = u16::try_from(kind.len()).expect("it is short");
            let counts = [0, 4, 0, 0, 0, 1, 0, 0, 0, 2];
            [&counts[..], &length.to_be_bytes(), kind.as_bytes()].concat()
        };
        #[rustfmt::skip]
        let cases = [
            (code::WRITE_TIMEOUT, rest("SIMPLE"), ErrorClass::Timeout, Certainty::Unknown),
            (code::WRITE_TIMEOUT, rest("BATCH_LOG"), ErrorClass::Timeout, Certainty::Unknown),
            (code::WRITE_TIMEOUT, rest("CAS"), ErrorClass::Timeout, Certainty::Unknown),
            (code::WRITE_TIMEOUT, rest("CDC"), ErrorClass::Timeout, Certainty::Undone),
            (code::WRITE_TIMEOUT, Vec::new(), ErrorClass::Timeout, Certainty::Unknown),
            (code::WRITE_FAILURE, Vec::new(), ErrorClass::Timeout, Certainty::Unknown),
            (code::CAS_WRITE_UNKNOWN, Vec::new(), ErrorClass::Serialization, Certainty::Unknown),
            (code::SERVER, Vec::new(), ErrorClass::Other, Certainty::Unknown),
            (code::READ_TIMEOUT, Vec::new(), ErrorClass::Timeout, Certainty::Undone),
            (code::READ_FAILURE, Vec::new(), ErrorClass::Timeout, Certainty::Undone),
            (code::UNAVAILABLE, Vec::new(), ErrorClass::Resources, Certainty::Undone),
            (code::OVERLOADED, Vec::new(), ErrorClass::Resources, Certainty::Undone),
            (code::SYNTAX, Vec::new(), ErrorClass::Syntax, Certainty::Undone),
        ];
        for (number, rest, class, certainty) in cases {
            let error = read(&body(number, "said", &rest), Moment::Request);
            assert_eq!(error.class, class, "{number:#x}");
            assert_eq!(error.certainty, certainty, "{number:#x}");
            assert_eq!(error.message, "said");
        }
    }

    #[test]
    fn the_words_of_an_invalid_request_tell_its_class() {
        #[rustfmt::skip]
        let cases = [
            ("table t does not exist", ErrorClass::UnknownObject),
            ("Undefined column name x in table k.t", ErrorClass::UnknownObject),
            ("Invalid STRING constant (x) for \"a\" of type int", ErrorClass::Data),
            ("Cannot execute this query as it might involve data filtering", ErrorClass::Syntax),
        ];
        for (message, class) in cases {
            let error = read(&body(code::INVALID, message, &[]), Moment::Request);
            assert_eq!(error.class, class, "{message}");
        }
    }
}

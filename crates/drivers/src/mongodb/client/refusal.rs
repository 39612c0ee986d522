//! Takes the errors in an answer; gives the error in the engine's words, and whether what was asked for may have
//! been done.
//!
//! Codes: `src/mongo/base/error_codes.yml` in MongoDB's sources.

use crate::mongodb::client::command::WriteExtent;
use crate::mongodb::client::reply::{Failure, Labels, Reply};
use crate::{ErrorClass, SystemError};

/// What was under way when the error came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moment {
    Connecting,
    Read,
    /// A command that changes documents one after the other, up to the first error.
    Write(WriteExtent),
    /// One that goes on behind an error.
    UnorderedWrite(WriteExtent),
    /// Also a write within a transaction, which is undone by its end.
    InTransaction,
    Commit,
}

/// The error of an answer; none where everything went well.
#[inline]
pub(crate) fn of_reply(reply: &Reply<'_>, moment: Moment) -> Option<SystemError> {
    if reply.is_ok && reply.write_error.is_none() && reply.write_concern_error.is_none() {
        return None;
    }
    Some(read(reply, moment))
}

#[cold]
fn read(reply: &Reply<'_>, moment: Moment) -> SystemError {
    if !reply.is_ok {
        let failure = Failure {
            index: 0,
            code: reply.code,
            message: reply.message.and_then(|found| found.text()).unwrap_or(b""),
            labels: reply.labels,
        };
        let error = of_failure(&failure, moment);
        // Statements before the one that was interrupted are done.
        let has_others = matches!(
            moment,
            Moment::Write(WriteExtent::SeveralStatements)
                | Moment::UnorderedWrite(WriteExtent::SeveralStatements)
        );
        return if has_others && !is_before_all(error.class, reply.code) {
            error.unknown()
        } else {
            error
        };
    }
    if let Some(failure) = &reply.write_error {
        let error = of_failure(failure, moment);
        // The others stay changed where no transaction undoes them.
        let has_others = match moment {
            Moment::Write(_) => failure.index > 0,
            Moment::UnorderedWrite(_) => reply.count.is_some_and(|count| count > 0),
            _ => false,
        };
        return if has_others { error.unknown() } else { error };
    }
    let failure = reply.write_concern_error.unwrap_or(Failure {
        index: 0,
        code: 0,
        message: b"",
        labels: Labels::default(),
    });
    // The write is done on this member; on the others it is unknown.
    of_failure(
        &Failure {
            labels: Labels {
                is_transient: failure.labels.is_transient,
                is_commit_unknown: true,
            },
            ..failure
        },
        moment,
    )
}

fn of_failure(failure: &Failure<'_>, moment: Moment) -> SystemError {
    let code = failure.code;
    let message = String::from_utf8_lossy(failure.message).into_owned();
    let mut class = class_of(code, moment);
    if failure.labels.is_transient && !matches!(class, ErrorClass::LostConnection) {
        class = ErrorClass::Serialization;
    }
    let code_text = if code == 0 {
        String::new()
    } else {
        code.to_string()
    };
    let error = SystemError::new(class, code_text, message);
    let is_internal = matches!(code, INTERNAL_ERROR | UNKNOWN_ERROR);
    let is_unknown = failure.labels.is_commit_unknown
        || match moment {
            Moment::Commit => is_internal || class == ErrorClass::Timeout,
            Moment::Write(reach) | Moment::UnorderedWrite(reach) => {
                // The documents before the one at which it ended stay changed.
                is_internal
                    || (reach == WriteExtent::SeveralDocuments && !is_before_all(class, code))
            }
            _ => false,
        };
    if is_unknown { error.unknown() } else { error }
}

/// Whether a command with this error cannot have begun: it is not understood, not permitted, or has no collection.
fn is_before_all(class: ErrorClass, code: i64) -> bool {
    use ErrorClass::{Authentication, Permission, TooManyConnections, UnknownObject};
    matches!(
        class,
        Authentication | Permission | TooManyConnections | UnknownObject
    ) || matches!(
        code,
        9 | 59 | 72 | 73 | 115 | 263 | 40_324 | 40_414 | 40_415
    )
}

const INTERNAL_ERROR: i64 = 1;
const UNKNOWN_ERROR: i64 = 8;

fn class_of(code: i64, moment: Moment) -> ErrorClass {
    match code {
        // The server stops, or is no primary any more: another connection must be made.
        91 | 189 | 10_058 | 10_107 | 11_600 | 11_602 | 13_435 | 13_436 => {
            ErrorClass::LostConnection
        }
        18 | 8000 => ErrorClass::Authentication,
        13 | 33 if moment == Moment::Connecting => ErrorClass::Authentication,
        13 | 33 => ErrorClass::Permission,
        // Too many sessions. A server with too many connections closes the socket without a word.
        261 => ErrorClass::TooManyConnections,
        // A key that is there already, a document that the collection's validator refuses.
        121 | 11_000 | 11_001 | 12_582 => ErrorClass::Constraint,
        // Write conflict, snapshot too old or not there, a transaction that the server has ended.
        112 | 225 | 239 | 246 | 251 => ErrorClass::Serialization,
        // Of a lock, of `maxTimeMS`, of replicas, of the transaction; interrupted.
        24 | 50 | 64 | 89 | 202 | 237 | 262 | 290 | 11_601 => ErrorClass::Timeout,
        // No such collection, no such index.
        26 | 27 => ErrorClass::UnknownObject,
        // The command's text: a stage, an operator or a field that the server does not know.
        2 | 4 | 9 | 20 | 40 | 52 | 57 | 59 | 67 | 72 | 73 | 115 | 168 | 238 | 263 => {
            ErrorClass::Syntax
        }
        // Codes of places in the parsers.
        40_000..=59_999 => ErrorClass::Syntax,
        // Types, lengths, conversions, documents that are too large.
        14 | 16 | 22 | 28 | 34 | 66 | 241 | 10_334 | 17_280 | 17_419 => ErrorClass::Data,
        39 | 100 | 146 | 292 | 14_031 => ErrorClass::Resources,
        _ => ErrorClass::Other,
    }
}

/// An answer that is no document, or not one of this kind.
#[cold]
pub(crate) fn malformed(body: &[u8]) -> SystemError {
    SystemError::protocol("an answer as BSON", describe(body))
}

/// A request that this session cannot take: a mistake on our side of the wire.
#[cold]
pub(crate) fn refused(message: &str) -> SystemError {
    SystemError::new(ErrorClass::Other, "", message)
}

pub(crate) fn describe(body: &[u8]) -> String {
    let start = &body[..body.len().min(16)];
    let more = if body.len() > start.len() { " …" } else { "" };
    format!("{} bytes: {start:02x?}{more}", body.len())
}

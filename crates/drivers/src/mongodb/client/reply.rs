//! Takes the document of an answer; gives the parts of it that this driver acts on, its error in the engine's
//! words, and whether what was asked for may have been done.
//!
//! Codes: `src/mongo/base/error_codes.yml` in MongoDB's sources.

use crate::mongodb::client::command::WriteExtent;
use crate::mongodb::scan::{Element, Elements, Malformed, kind};
use crate::{ErrorClass, SystemError};

/// The parts of an answer, in place.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Reply<'a> {
    pub(crate) is_ok: bool,
    pub(crate) code: i64,
    pub(crate) message: Option<Element<'a>>,
    pub(crate) labels: Labels,
    pub(crate) cursor: Option<Cursor<'a>>,
    /// Documents that were matched, inserted or deleted; of `bulkWrite` their sum.
    pub(crate) count: Option<i64>,
    /// The first error of a write, and the error of its write concern.
    pub(crate) write_error: Option<Failure<'a>>,
    pub(crate) write_concern_error: Option<Failure<'a>>,
    /// Of `findAndModify`: the document, and how many were changed.
    pub(crate) value: Option<Element<'a>>,
    pub(crate) last_error: Option<Element<'a>>,
    /// Of `distinct`.
    pub(crate) values: Option<Element<'a>>,
}

/// What the server says about an error, for those who want to try again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Labels {
    pub(crate) is_transient: bool,
    pub(crate) is_commit_unknown: bool,
}

/// A batch of documents, and where the next comes from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cursor<'a> {
    /// 0: there are no more.
    pub(crate) id: i64,
    /// `database.collection`.
    pub(crate) namespace: &'a [u8],
    pub(crate) batch: Elements<'a>,
}

/// An error within an answer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Failure<'a> {
    /// Of the document that failed, from 0.
    pub(crate) index: i64,
    pub(crate) code: i64,
    pub(crate) message: &'a [u8],
    pub(crate) labels: Labels,
}

impl<'a> Reply<'a> {
    #[inline]
    pub(crate) fn read(document: &'a [u8]) -> Result<Self, Malformed> {
        let mut reply = Self::default();
        let (mut has_ok, mut bulk_count, mut bulk_errors) = (false, None, 0);
        for element in Elements::of(document)? {
            let element = element?;
            match element.name {
                b"ok" => {
                    has_ok = true;
                    reply.is_ok = element.whole() == Some(1);
                }
                b"n" => reply.count = element.whole(),
                b"cursor" => reply.cursor = Cursor::read(&element)?,
                b"code" => reply.code = element.whole().unwrap_or(0),
                b"errmsg" => reply.message = Some(element),
                b"errorLabels" => reply.labels = Labels::read(&element)?,
                b"writeErrors" => reply.write_error = first_failure(&element)?,
                b"writeConcernError" => reply.write_concern_error = failure(&element)?,
                b"value" => reply.value = Some(element),
                b"lastErrorObject" => reply.last_error = Some(element),
                b"values" => reply.values = Some(element),
                b"nErrors" => bulk_errors = element.whole().unwrap_or(0),
                b"nInserted" | b"nMatched" | b"nUpserted" | b"nDeleted" => {
                    let count = element.whole().unwrap_or(0);
                    bulk_count = Some(bulk_count.unwrap_or(0) + count);
                }
                _ => {}
            }
        }
        reply.count = reply.count.or(bulk_count);
        if bulk_errors > 0 {
            reply.write_error = Some(first_bulk_failure(reply.cursor)?);
        }
        if has_ok { Ok(reply) } else { Err(Malformed) }
    }

    /// Documents that `findAndModify` changed.
    pub(crate) fn modified(&self) -> Result<i64, Malformed> {
        let Some(fields) = self.last_error.and_then(|found| found.elements()) else {
            return Ok(0);
        };
        for field in fields? {
            let field = field?;
            if field.name == b"n" {
                return Ok(field.whole().unwrap_or(0));
            }
        }
        Ok(0)
    }
}

impl<'a> Cursor<'a> {
    /// None where the field is no cursor: `explain` and others use the name too.
    fn read(element: &Element<'a>) -> Result<Option<Self>, Malformed> {
        let Some(fields) = element.elements() else {
            return Ok(None);
        };
        let (mut id, mut namespace, mut batch) = (0, &b""[..], None);
        for field in fields? {
            let field = field?;
            match field.name {
                b"id" => id = field.whole().ok_or(Malformed)?,
                b"ns" => namespace = field.text().ok_or(Malformed)?,
                b"firstBatch" | b"nextBatch" => batch = field.elements().transpose()?,
                _ => {}
            }
        }
        Ok(batch.map(|batch| Self { id, namespace, batch }))
    }
}

impl Labels {
    fn read(element: &Element<'_>) -> Result<Self, Malformed> {
        let mut labels = Self::default();
        for label in element.elements().ok_or(Malformed)?? {
            match label?.text() {
                Some(b"TransientTransactionError") => labels.is_transient = true,
                Some(b"UnknownTransactionCommitResult") => labels.is_commit_unknown = true,
                _ => {}
            }
        }
        Ok(labels)
    }
}

fn first_failure<'a>(element: &Element<'a>) -> Result<Option<Failure<'a>>, Malformed> {
    let mut failures = element.elements().ok_or(Malformed)??;
    match failures.next() {
        Some(first) => failure(&first?),
        None => Ok(None),
    }
}

/// The first document of the answers to the statements of `bulkWrite` that is a failure.
fn first_bulk_failure<'a>(cursor: Option<Cursor<'a>>) -> Result<Failure<'a>, Malformed> {
    let mut answers = cursor.into_iter().flat_map(|cursor| cursor.batch);
    answers
        .find_map(|answer| {
            let of_failure = |answer: Element<'a>| match failure(&answer)? {
                Some(failure) if failure.code != 0 => Ok(Some(failure)),
                _ => Ok(None),
            };
            answer.and_then(of_failure).transpose()
        })
        .unwrap_or(Ok(Failure { index: 0, code: 0, message: b"", labels: Labels::default() }))
}

fn failure<'a>(element: &Element<'a>) -> Result<Option<Failure<'a>>, Malformed> {
    if element.kind != kind::DOCUMENT {
        return Ok(None);
    }
    let mut failure = Failure { index: 0, code: 0, message: b"", labels: Labels::default() };
    for field in Elements::of(element.value)? {
        let field = field?;
        match field.name {
            b"index" | b"idx" => failure.index = field.whole().unwrap_or(0),
            b"code" => failure.code = field.whole().unwrap_or(0),
            b"errmsg" => failure.message = field.text().unwrap_or_default(),
            b"errorLabels" => failure.labels = Labels::read(&field)?,
            _ => {}
        }
    }
    Ok(Some(failure))
}

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
pub(crate) fn error_of(reply: &Reply<'_>, moment: Moment) -> Option<SystemError> {
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
            labels: Labels { is_transient: failure.labels.is_transient, is_commit_unknown: true },
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
    let code_text = if code == 0 { String::new() } else { code.to_string() };
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
    matches!(class, Authentication | Permission | TooManyConnections | UnknownObject)
        || matches!(code, 9 | 59 | 72 | 73 | 115 | 263 | 40_324 | 40_414 | 40_415)
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
    SystemError::malformed("an answer as BSON", body)
}

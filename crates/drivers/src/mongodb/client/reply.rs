//! Takes the document of an answer; gives the parts of it that this driver acts on.

use crate::mongodb::shared::constants::kind;
use crate::mongodb::shared::scan::{Element, Elements, Malformed};

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
        Ok(batch.map(|batch| Self {
            id,
            namespace,
            batch,
        }))
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
        .unwrap_or(Ok(Failure {
            index: 0,
            code: 0,
            message: b"",
            labels: Labels::default(),
        }))
}

fn failure<'a>(element: &Element<'a>) -> Result<Option<Failure<'a>>, Malformed> {
    if element.kind != kind::DOCUMENT {
        return Ok(None);
    }
    let mut failure = Failure {
        index: 0,
        code: 0,
        message: b"",
        labels: Labels::default(),
    };
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

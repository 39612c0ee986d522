//! Takes what there is to answer; appends the fields of the server's answers.

use crate::mongodb::message::MAX_MESSAGE_BYTES;
use crate::mongodb::scan::{Malformed, kind};
use crate::mongodb::settings::Mechanism;
use crate::mongodb::write;
use crate::null::ResultSize;
use crate::{Certainty, ErrorClass, SystemError};

/// Documents of a batch where the client does not say, and the most there are in one.
const BATCH_ROWS: u64 = 2_000;
const MAX_BATCH_ROWS: u64 = 100_000;
/// The wire version of MongoDB 7.0.
const WIRE_VERSION: i32 = 21;

pub(crate) fn ok(out: &mut Vec<u8>) {
    write::double_element("ok", 1.0, out);
}

pub(crate) fn hello(connection: u32, out: &mut Vec<u8>) {
    write::bool_element("isWritablePrimary", true, out);
    write::bool_element("ismaster", true, out);
    write::bool_element("helloOk", true, out);
    write::int32_element("maxBsonObjectSize", 16 * 1024 * 1024, out);
    let most = i32::try_from(MAX_MESSAGE_BYTES).unwrap_or(i32::MAX);
    write::int32_element("maxMessageSizeBytes", most, out);
    write::int32_element("maxWriteBatchSize", 100_000, out);
    write::int32_element("logicalSessionTimeoutMinutes", 30, out);
    write::int64_element("connectionId", connection.into(), out);
    write::int32_element("minWireVersion", 0, out);
    write::int32_element("maxWireVersion", WIRE_VERSION, out);
    // The one mechanism by which a server need not know the password.
    write::head(kind::ARRAY, b"saslSupportedMechs", out);
    write::document(out, |out| {
        write::string_element("0", Mechanism::Plain.name(), out);
    });
    ok(out);
}

pub(crate) fn version(out: &mut Vec<u8>) {
    let version = concat!("null ", env!("CARGO_PKG_VERSION"));
    write::string_element("version", version, out);
    ok(out);
}

pub(crate) fn no_databases(out: &mut Vec<u8>) {
    write::head(kind::ARRAY, b"databases", out);
    write::document(out, |_| {});
    write::int64_element("totalSize", 0, out);
    ok(out);
}

pub(crate) fn accepted(out: &mut Vec<u8>) {
    write::int32_element("conversationId", 1, out);
    write::bool_element("done", true, out);
    write::binary_element("payload", 0, &[], out);
    ok(out);
}

/// Appends as many documents as a batch has, and takes them from those that are given; `next_id` is the cursor of
/// the rest.
#[inline]
pub(crate) fn batch(
    name: &str,
    batch_size: Option<u64>,
    next_id: i64,
    namespace: &str,
    given: &mut ResultSize,
    out: &mut Vec<u8>,
) {
    let most = batch_size.unwrap_or(BATCH_ROWS).clamp(1, MAX_BATCH_ROWS);
    let rows = given.rows.min(most);
    let first = given.first;
    given.rows -= rows;
    given.first = first.saturating_add(rows);
    write::document_element("cursor", out, |out| {
        write::head(kind::ARRAY, name.as_bytes(), out);
        write::document(out, |out| {
            let mut index = Vec::new();
            for place in 0..rows {
                index.clear();
                assay_values::write_int(place.cast_signed(), &mut index);
                write::head(kind::DOCUMENT, &index, out);
                document(first.saturating_add(place), out);
            }
        });
        let id = if given.rows == 0 { 0 } else { next_id };
        write::int64_element("id", id, out);
        write::string_element("ns", namespace, out);
    });
    ok(out);
}

/// A document with the row's number.
fn document(number: u64, out: &mut Vec<u8>) {
    write::document(out, |out| {
        write::int64_element("n", number.cast_signed(), out);
    });
}

pub(crate) fn count(number: u64, out: &mut Vec<u8>) {
    write::int64_element("n", number.cast_signed(), out);
    ok(out);
}

pub(crate) fn modified(given: &ResultSize, out: &mut Vec<u8>) {
    write::document_element("lastErrorObject", out, |out| {
        write::int64_element("n", given.affected.cast_signed(), out);
        write::bool_element("updatedExisting", true, out);
    });
    if given.rows > 0 {
        write::head(kind::DOCUMENT, b"value", out);
        document(given.first, out);
    }
    ok(out);
}

/// Where an error of the protocol means the same it is written as that one.
pub(crate) fn error(error: &SystemError, out: &mut Vec<u8>) {
    let code = match error.class {
        ErrorClass::Authentication => 18,
        ErrorClass::TooManyConnections => 261,
        ErrorClass::LostConnection => 91,
        ErrorClass::Timeout => 50,
        ErrorClass::Deadlock | ErrorClass::Serialization => 112,
        ErrorClass::Constraint => 11_000,
        ErrorClass::Syntax => 9,
        ErrorClass::UnknownObject => 26,
        ErrorClass::Permission => 13,
        ErrorClass::Data => 14,
        ErrorClass::Resources => 14_031,
        _ => 8,
    };
    if error.certainty == Certainty::Unknown {
        // The write is done, and it is unknown whether it stays.
        write::document_element("writeConcernError", out, |out| {
            write::int32_element("code", code, out);
            write::string_element("errmsg", &error.message, out);
        });
        return ok(out);
    }
    failure(code, &error.message, out);
}

pub(crate) fn failure(code: i32, message: &str, out: &mut Vec<u8>) {
    write::double_element("ok", 0.0, out);
    write::string_element("errmsg", message, out);
    write::int32_element("code", code, out);
}

/// What the client sent is no BSON.
pub(crate) fn malformed(_: Malformed) -> SystemError {
    let message = "expected a command as BSON, the client sent something else";
    SystemError::new(ErrorClass::Protocol, "", message)
}

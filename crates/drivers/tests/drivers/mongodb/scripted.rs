//! The driver against answers that a server cannot be made to send on demand, and the bytes that it sends: those
//! of other clients for the same command, and the fields of sessions and transactions.

use assay_drivers::mongodb::MongodbWire;
use assay_drivers::{
    Answer, Certainty, ConnectOptions, ErrorClass, Keep, Progress, Request, SystemError,
    TransactionStatus, Wire as _,
};
use assay_values::{Row, Value};

use crate::mongodb::options;
use crate::support::{self, greeted, has, native, pieces, sent};

/// A BSON document of these elements.
pub fn document(elements: &[Vec<u8>]) -> Vec<u8> {
    let elements = elements.concat();
    let length = i32::try_from(elements.len() + 5).expect("it is short");
    [&length.to_le_bytes()[..], &elements, &[0]].concat()
}

fn element(kind: u8, name: &str, value: &[u8]) -> Vec<u8> {
    [&[kind], name.as_bytes(), &[0], value].concat()
}

pub fn int(name: &str, number: i32) -> Vec<u8> {
    element(0x10, name, &number.to_le_bytes())
}

pub fn long(name: &str, number: i64) -> Vec<u8> {
    element(0x12, name, &number.to_le_bytes())
}

pub fn ok(number: f64) -> Vec<u8> {
    element(0x01, "ok", &number.to_le_bytes())
}

pub fn text(name: &str, text: &str) -> Vec<u8> {
    let length = i32::try_from(text.len() + 1).expect("it is short");
    let value = [&length.to_le_bytes()[..], text.as_bytes(), &[0]].concat();
    element(0x02, name, &value)
}

pub fn sub(name: &str, elements: &[Vec<u8>]) -> Vec<u8> {
    element(0x03, name, &document(elements))
}

pub fn array(name: &str, elements: &[Vec<u8>]) -> Vec<u8> {
    element(0x04, name, &document(elements))
}

/// A server's answer to the request of this number, from 1.
pub fn answer_to(request: i32, body: &[u8]) -> Vec<u8> {
    let length = i32::try_from(body.len() + 21).expect("it is short");
    let head = [length, 77, request, 2013].map(i32::to_le_bytes).concat();
    [&head[..], &[0; 5], body].concat()
}

pub fn hello(more: &[Vec<u8>]) -> Vec<u8> {
    let own = [
        int("maxWireVersion", 21),
        int("logicalSessionTimeoutMinutes", 30),
        int("connectionId", 5),
    ];
    document(&[&own[..], more, &[ok(1.0)]].concat())
}

/// A session whose next request is number 3.
pub fn opened(more: &[(&str, &str)]) -> MongodbWire {
    let version = document(&[text("version", "7.0.14"), ok(1.0)]);
    let answers = [answer_to(1, &hello(&[])), answer_to(2, &version)];
    let (wire, progress) = greeted(MongodbWire::new(options(more)), answers);
    assert_eq!(progress, Progress::Ready);
    assert_eq!(wire.server_version(), "MongoDB 7.0.14");
    assert_eq!(wire.session_id(), 5);
    wire
}

fn heard(wire: &mut MongodbWire, bytes: &[u8]) -> Result<(Progress, Answer, Vec<u8>), SystemError> {
    let (mut out, mut answer) = (Vec::new(), Answer::new(Keep::Rows));
    let (used, progress) = wire.receive(bytes, &mut out, &mut answer)?;
    assert_eq!(used, bytes.len());
    Ok((progress, answer, out))
}

/// What the driver makes of the answer to this request.
fn answered(wire: &mut MongodbWire, request: i32, body: &[u8]) -> Answer {
    let (progress, answer, _) = heard(wire, &answer_to(request, body)).expect("it goes on");
    assert_eq!(progress, Progress::Ready);
    answer
}

/// The error of this command, which the server answers so.
fn error_of(command: &str, body: &[u8]) -> SystemError {
    let mut wire = opened(&[]);
    sent(&mut wire, &Request::Text(command));
    answered(&mut wire, 3, body).error.expect("there is one")
}

/// The documents are pymongo's for the same text.
#[test]
fn a_command_is_the_document_that_other_clients_send() {
    let find =
        r#"{"find": "t", "filter": {"a": 7, "b": {"$gt": 8589934592}}, "limit": -1, "$db": "d"}"#;
    let insert = r#"{"insert": "t", "documents": [{"_id": {"$oid": "0123456789abcdef01234567"},
        "d": {"$date": "2024-01-31T12:30:00.5Z"}, "n": {"$numberDecimal": "-1.50"}, "l": {"$numberLong": "1"},
        "f": 0.5, "s": "é\"", "x": null, "y": [true, false, []],
        "b": {"$binary": {"base64": "AP8=", "subType": "00"}},
        "r": {"$regularExpression": {"pattern": "a.*", "options": "i"}}, "t": {"$timestamp": {"t": 5, "i": 6}},
        "m": {"$minKey": 1}}], "$db": "d"}"#;
    for (command, hex) in [
        (
            find,
            "500000000266696e64000200000074000366696c74657200210000001061000700000003620012000000122467740000000000020000000000106c696d697400ffffffff022464620002000000640000",
        ),
        (
            insert,
            "c200000002696e736572740002000000740004646f63756d656e7473009900000003300091000000075f6964000123456789abcdef0123456709640034637f5f8d010000136e0096000000000000000000000000003cb0126c000100000000000000016600000000000000e03f02730004000000c3a922000a7800047900150000000830000108310000043200050000000000056200020000000000ff0b7200612e2a0069001174000600000005000000ff6d000000022464620002000000640000",
        ),
    ] {
        let bytes = sent(&mut opened(&[]), &Request::Text(command));
        let expected = support::bytes(hex);
        // Its own fields, behind which those of the session stand.
        let fields = &expected[4..expected.len() - 1];
        assert_eq!(bytes[25..][..fields.len()], *fields, "{command}");
        let length = i32::from_le_bytes(bytes[..4].try_into().expect("four bytes"));
        assert_eq!(usize::try_from(length), Ok(bytes.len()));
    }
}

const UPDATE: &str = r#"{"update": "t", "updates": [{"q": {"a": 1}, "u": {"$inc": {"b": 1}}}]}"#;
const START: &[u8] = b"\x08startTransaction\0\x01";
const SECOND: &[u8] = b"\x12txnNumber\0\x02\0\0\0\0\0\0\0\x08autocommit\0\0";

#[test]
fn a_transaction_begins_with_its_first_command() {
    let more = [("write_concern", "majority"), ("read_concern", "snapshot")];
    let mut wire = opened(&more);
    let concern = sub("writeConcern", &[text("w", "majority")]);
    let level = sub("readConcern", &[text("level", "snapshot")]);
    let alone = sent(&mut wire, &Request::Text(UPDATE));
    assert!(has(&alone, b"\x03lsid\0") && has(&alone, &concern));
    assert!(!has(&alone, b"txnNumber") && !has(&alone, &level));
    let written = document(&[int("n", 1), int("nModified", 1), ok(1.0)]);
    let answer = answered(&mut wire, 3, &written);
    assert_eq!(answer.affected, 1);
    assert_eq!(answer.transaction, TransactionStatus::None);
    // One that has no statement is never heard of.
    for end in [Request::Commit, Request::Rollback] {
        for request in [Request::Begin, end] {
            assert!(sent(&mut wire, &request).is_empty());
            let (progress, answer, _) = heard(&mut wire, &[]).expect("nothing is needed");
            assert_eq!((progress, answer.error), (Progress::Ready, None));
        }
    }
    for begin in [Request::Begin, Request::Text("{\"startTransaction\": 1}")] {
        sent(&mut wire, &begin);
        let (_, answer, _) = heard(&mut wire, &[]).expect("nothing is needed");
        assert_eq!(answer.transaction, TransactionStatus::Open);
        sent(&mut wire, &Request::Rollback);
        heard(&mut wire, &[]).expect("nothing is needed");
    }
    let mut wire = opened(&more);
    // The first has no statement, so that the second is number 2.
    for request in [Request::Begin, Request::Commit, Request::Begin] {
        sent(&mut wire, &request);
        heard(&mut wire, &[]).expect("nothing is needed");
    }
    for (number, is_first) in [(3, true), (4, false)] {
        let bytes = sent(&mut wire, &Request::Text(UPDATE));
        assert!(has(&bytes, SECOND));
        assert_eq!(has(&bytes, START), is_first);
        assert_eq!(has(&bytes, &level), is_first);
        assert!(!has(&bytes, &concern), "only the commit has one");
        let answer = answered(&mut wire, number, &written);
        assert_eq!(answer.transaction, TransactionStatus::Open);
    }
    let bytes = sent(&mut wire, &Request::Commit);
    assert!(has(&bytes, b"\x10commitTransaction\0\x01") && has(&bytes, SECOND));
    assert!(has(&bytes, &concern) && has(&bytes, b"$db\0\x06\0\0\0admin\0"));
    let answer = answered(&mut wire, 5, &document(&[ok(1.0)]));
    assert_eq!(answer.error, None);
    assert_eq!(answer.transaction, TransactionStatus::None);
}

fn failure(code: i32, labels: &[&str]) -> Vec<u8> {
    let labels =
        (labels.iter().enumerate()).map(|(number, label)| text(&number.to_string(), label));
    let labels = array("errorLabels", &labels.collect::<Vec<_>>());
    document(&[ok(0.0), text("errmsg", "said"), int("code", code), labels])
}

/// The statement of this index fails, those before it do not.
fn write_error(index: i32) -> Vec<u8> {
    let error = [int("index", index), int("code", 11_000), text("errmsg", "said")];
    let errors = array("writeErrors", &[sub("0", &error)]);
    document(&[int("n", index), errors, ok(1.0)])
}

#[test]
fn errors_have_their_class_and_say_what_is_known() {
    use Certainty::{Undone, Unknown};
    use ErrorClass::{Constraint, Other, Permission, Serialization, Timeout, UnknownObject};
    let conflict = failure(112, &["TransientTransactionError"]);
    let concern = [int("code", 64), text("errmsg", "said")];
    let unreplicated = document(&[int("n", 1), sub("writeConcernError", &concern), ok(1.0)]);
    for (body, class, certainty) in [
        (conflict, Serialization, Undone),
        (failure(50, &[]), Timeout, Undone),
        (failure(13, &[]), Permission, Undone),
        (failure(26, &[]), UnknownObject, Undone),
        (failure(1, &[]), Other, Unknown),
        (write_error(0), Constraint, Undone),
        // The first of two documents was stored.
        (write_error(1), Constraint, Unknown),
        (unreplicated, Timeout, Unknown),
    ] {
        let error = error_of(UPDATE, &body);
        assert_eq!(error.class, class);
        assert_eq!(error.certainty, certainty);
        assert_eq!(error.message, "said");
    }
    // The server is no primary any more, or stops.
    for code in [10_107, 91, 11_602] {
        let mut wire = opened(&[]);
        sent(&mut wire, &Request::Text(UPDATE));
        let error = heard(&mut wire, &answer_to(3, &failure(code, &[]))).expect_err("it is over");
        assert_eq!(error.class, ErrorClass::LostConnection);
        assert_eq!(error.certainty, Certainty::Unknown);
    }
}

const UPDATE_MANY: &str =
    r#"{"update": "a", "updates": [{"q": {}, "u": {"$inc": {"b": 1}}, "multi": true}]}"#;
const DELETE_MANY: &str = r#"{"delete": "a", "deletes": [{"q": {}, "limit": 0}]}"#;
const INSERT_TWO: &str = r#"{"insert": "a", "documents": [{"_id": 1}, {"_id": 2}]}"#;
const MERGE: &str = r#"{"aggregate": "a", "pipeline": [{"$merge": {"into": "b"}}]}"#;
const BULK: &str = r#"{"bulkWrite": 1, "ops": [{"insert": 0, "document": {"_id": 1}}], "nsInfo": [{"ns": "d.a"}]}"#;

/// A server ends a command between two documents, and those before stay changed.
#[test]
fn an_interrupted_write_of_several_documents_is_unknown_outside_a_transaction() {
    let one = r#"{"delete": "a", "deletes": [{"q": {}, "limit": 1}]}"#;
    let find = r#"{"find": "a"}"#;
    for (command, code, certainty) in [
        (UPDATE_MANY, 11_601, Certainty::Unknown),
        (UPDATE_MANY, 50, Certainty::Unknown),
        (UPDATE_MANY, 112, Certainty::Unknown),
        (UPDATE_MANY, 13, Certainty::Undone),
        (UPDATE_MANY, 9, Certainty::Undone),
        (DELETE_MANY, 11_601, Certainty::Unknown),
        (INSERT_TWO, 11_601, Certainty::Unknown),
        (MERGE, 11_601, Certainty::Unknown),
        (BULK, 11_601, Certainty::Unknown),
        (one, 11_601, Certainty::Undone),
        (find, 11_601, Certainty::Undone),
    ] {
        let error = error_of(command, &failure(code, &[]));
        assert_eq!(error.certainty, certainty, "{command}: {code}");
    }
    let mut wire = opened(&[]);
    sent(&mut wire, &Request::Begin);
    heard(&mut wire, &[]).expect("nothing is needed");
    sent(&mut wire, &Request::Text(UPDATE_MANY));
    let interrupted = failure(11_601, &["TransientTransactionError"]);
    let error = answered(&mut wire, 3, &interrupted)
        .error
        .expect("there is one");
    assert_eq!(error.certainty, Certainty::Undone, "its end undoes it");
    // The first statement's documents may be changed though it is the one that failed.
    let error = error_of(UPDATE_MANY, &write_error(0));
    assert_eq!(error.certainty, Certainty::Unknown);
}

#[test]
fn every_command_that_writes_has_the_write_concern() {
    let concern = sub("writeConcern", &[text("w", "majority")]);
    for (command, is_write) in [
        (UPDATE_MANY, true),
        (BULK, true),
        (MERGE, true),
        (r#"{"aggregate": "a", "pipeline": [{"$out": "b"}]}"#, true),
        (r#"{"aggregate": "a", "pipeline": [{"$match": {}}]}"#, false),
        (r#"{"find": "a"}"#, false),
    ] {
        let mut wire = opened(&[("write_concern", "majority")]);
        let bytes = sent(&mut wire, &Request::Text(command));
        assert_eq!(has(&bytes, &concern), is_write, "{command}");
    }
}

/// The command goes well, and the failure is among its documents.
#[test]
fn a_failed_statement_of_a_bulk_write_is_an_error() {
    let done = sub("0", &[ok(1.0), int("idx", 0), int("n", 1)]);
    let code = int("code", 11_000);
    let failed = sub("1", &[ok(0.0), int("idx", 1), code, text("errmsg", "said")]);
    let batch = array("firstBatch", &[done, failed]);
    let cursor = sub(
        "cursor",
        &[long("id", 0), batch, text("ns", "admin.$cmd.bulkWrite")],
    );
    let body = document(&[cursor, int("nErrors", 1), int("nInserted", 1), ok(1.0)]);
    let error = error_of(BULK, &body);
    assert_eq!(error.class, ErrorClass::Constraint);
    assert_eq!(error.certainty, Certainty::Unknown);
    assert_eq!(&*error.message, "said");
}

/// The message of a commit got through, and its effect is not known.
#[test]
fn a_commit_may_be_unknown_and_a_failed_transaction_is_rolled_back() {
    let in_transaction = || {
        let mut wire = opened(&[]);
        sent(&mut wire, &Request::Begin);
        heard(&mut wire, &[]).expect("nothing is needed");
        sent(&mut wire, &Request::Text(UPDATE));
        wire
    };
    let written = document(&[int("n", 1), ok(1.0)]);
    let unknown = failure(50, &["UnknownTransactionCommitResult"]);
    let conflict = failure(251, &["TransientTransactionError"]);
    for (body, class, certainty) in [
        (unknown, ErrorClass::Timeout, Certainty::Unknown),
        (conflict, ErrorClass::Serialization, Certainty::Undone),
    ] {
        let mut wire = in_transaction();
        answered(&mut wire, 3, &written);
        sent(&mut wire, &Request::Commit);
        let answer = answered(&mut wire, 4, &body);
        let error = answer.error.expect("there is one");
        assert_eq!((error.class, error.certainty), (class, certainty));
        assert_eq!(answer.transaction, TransactionStatus::None);
    }
    let mut wire = in_transaction();
    let conflict = failure(112, &["TransientTransactionError"]);
    let answer = answered(&mut wire, 3, &conflict);
    assert_eq!(answer.transaction, TransactionStatus::Failed);
    let bytes = sent(&mut wire, &Request::Rollback);
    assert!(has(&bytes, b"\x10abortTransaction\0\x01"));
    // The server has rolled it back already.
    let answer = answered(&mut wire, 4, &failure(251, &[]));
    assert_eq!(answer.error, None);
    assert_eq!(answer.transaction, TransactionStatus::None);
}

#[test]
fn a_server_without_sessions_has_no_transactions() {
    let hello = document(&[int("maxWireVersion", 21), ok(1.0)]);
    let answers = [answer_to(1, &hello), answer_to(2, &document(&[ok(1.0)]))];
    let (mut wire, _) = greeted(MongodbWire::new(ConnectOptions::default()), answers);
    let bytes = sent(&mut wire, &Request::Text(UPDATE));
    assert!(!has(&bytes, b"lsid"));
    answered(&mut wire, 3, &document(&[ok(1.0)]));
    let refused = wire.request(&Request::Begin, &mut Vec::new());
    let refused = refused.expect_err("there are none");
    assert!(refused.message.contains("no sessions"), "{refused}");
}

/// Documents need not be alike: fields are found by name, and new ones are further columns.
#[test]
fn the_rows_of_different_documents_have_the_same_columns() {
    let mut wire = opened(&[("batch_size", "2")]);
    let bytes = sent(&mut wire, &Request::Text("{\"find\": \"t\"}"));
    assert!(has(&bytes, &int("batchSize", 2)));
    let batch = |name: &str, id: i64, documents: &[Vec<u8>]| {
        let cursor = [long("id", id), text("ns", "d.c.x"), array(name, documents)];
        document(&[sub("cursor", &cursor), ok(1.0)])
    };
    let one = sub("0", &[int("a", 1), int("b", 2)]);
    let other = sub("1", &[int("b", 3), int("a", 4)]);
    let first = batch("firstBatch", 9, &[one, other]);
    let (progress, _, more) = heard(&mut wire, &answer_to(3, &first)).expect("well formed");
    assert_eq!(progress, Progress::NeedMore);
    let get_more = [long("getMore", 9), text("collection", "c.x")].concat();
    assert!(has(&more, &get_more) && has(&more, &text("$db", "d")));
    let mut answer = Answer::new(Keep::Rows);
    let mut wire = opened(&[]);
    sent(&mut wire, &Request::Text("{\"find\": \"t\"}"));
    let one = sub("0", &[int("b", 5)]);
    let other = sub("1", &[int("c", 6), int("a", 7)]);
    let last = batch("nextBatch", 0, &[one, other]);
    for (request, body) in [(3, first), (4, last)] {
        let received = wire.receive(&answer_to(request, &body), &mut Vec::new(), &mut answer);
        received.expect("well formed");
    }
    assert_eq!(answer.columns, ["a", "b", "c"]);
    let found = support::rows(&answer, "-");
    assert_eq!(found, ["1|2|-", "4|3|-", "-|5|-", "7|-|6"]);
}

#[test]
fn a_value_that_cannot_be_bound_leaves_nothing_behind() {
    let mut wire = opened(&[]);
    let marked = r#"{"find": "t", "filter": {"a": {"$numberDecimal": ?}}}"#;
    let (pieces, mut out) = (pieces(marked), b"before".to_vec());
    let parameters = &[Value::Text("one".into())];
    let pieces = &pieces;
    let refused = wire.request(&Request::Direct { pieces, parameters }, &mut out);
    let refused = refused.expect_err("it is no number").message;
    let expected = "value 1 (a): expected a number of at most 34 digits, found \"one\"";
    assert_eq!(refused, expected);
    assert_eq!(out, b"before");
    let parameters = &[Value::Int(1)];
    sent(&mut wire, &Request::Direct { pieces, parameters });
}

#[test]
fn a_load_sends_one_insert_while_the_last_is_stored() {
    let mut wire = opened(&[]);
    let load = native(r#"{"insert": "t", "fields": ["a", "b"]}"#);
    assert!(sent(&mut wire, &load).is_empty());
    let (progress, ..) = heard(&mut wire, &[]).expect("nothing is needed");
    assert_eq!(progress, Progress::BulkReady);
    let (mut row, mut out, mut rows) = (Row::new(), Vec::new(), 0);
    row.push_int(1);
    row.push_bytes(&[b'x'; 1000]);
    while !wire.bulk_is_full() {
        assert!(wire.bulk_row(&row, &mut out).is_continue());
        rows += 1;
        assert!(rows < 10_000, "a server is waited for");
    }
    assert!(has(&out, b"documents\0"));
    let stored = |count| document(&[int("n", count), ok(1.0)]);
    let (progress, ..) = heard(&mut wire, &answer_to(3, &stored(rows / 2))).expect("well formed");
    assert_eq!(progress, Progress::NeedMore);
    assert!(!wire.bulk_is_full());
    wire.bulk_end(None, &mut out);
    let answer = answered(&mut wire, 4, &stored(rows / 2));
    assert_eq!(answer.error, None);
    assert_eq!(answer.affected, u64::from(rows.cast_unsigned()));
}

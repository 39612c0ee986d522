//! The driver against answers that a server cannot be made to send on demand, and the bytes that it sends: those
//! of other clients for the same command, and the fields of sessions and transactions.

use assay_drivers::mongodb::MongodbWire;
use assay_drivers::{
    Answer, Certainty, ConnectOptions, ErrorClass, Keep, Progress, Request, SystemError,
    TransactionStatus, Wire as _,
};
use assay_values::{Row, Value};

use crate::mongodb::options;
use crate::support::{self, has, native, pieces, sent};

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
    [
        &length.to_le_bytes()[..],
        &77_i32.to_le_bytes(),
        &request.to_le_bytes(),
        &2013_i32.to_le_bytes(),
        &[0; 5],
        body,
    ]
    .concat()
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
    let mut wire = MongodbWire::new(options(more));
    let (mut out, mut answer) = (Vec::new(), Answer::default());
    wire.connected(&mut out);
    let version = document(&[text("version", "7.0.14"), ok(1.0)]);
    let mut progress = Progress::NeedMore;
    for (request, body) in [(1, hello(&[])), (2, version)] {
        let bytes = answer_to(request, &body);
        let (used, next) = wire
            .receive(&bytes, &mut out, &mut answer)
            .expect("well formed");
        assert_eq!(used, bytes.len());
        progress = next;
    }
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
    let (_, answer, _) = heard(&mut wire, &answer_to(3, &written)).expect("well formed");
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
        let (_, answer, _) = heard(&mut wire, &answer_to(number, &written)).expect("well formed");
        assert_eq!(answer.transaction, TransactionStatus::Open);
    }
    let bytes = sent(&mut wire, &Request::Commit);
    assert!(has(&bytes, b"\x10commitTransaction\0\x01") && has(&bytes, SECOND));
    assert!(has(&bytes, &concern) && has(&bytes, b"$db\0\x06\0\0\0admin\0"));
    let done = document(&[ok(1.0)]);
    let (_, answer, _) = heard(&mut wire, &answer_to(5, &done)).expect("well formed");
    assert_eq!(answer.error, None);
    assert_eq!(answer.transaction, TransactionStatus::None);
}

fn failure(code: i32, labels: &[&str]) -> Vec<u8> {
    let labels: Vec<Vec<u8>> = (labels.iter().enumerate())
        .map(|(number, label)| text(&number.to_string(), label))
        .collect();
    document(&[
        ok(0.0),
        text("errmsg", "said"),
        int("code", code),
        array("errorLabels", &labels),
    ])
}

#[test]
fn errors_have_their_class_and_say_what_is_known() {
    let write_error = |index| {
        let error = [
            int("index", index),
            int("code", 11_000),
            text("errmsg", "said"),
        ];
        document(&[
            int("n", index),
            array("writeErrors", &[sub("0", &error)]),
            ok(1.0),
        ])
    };
    let concern = [int("code", 64), text("errmsg", "said")];
    let unreplicated = document(&[int("n", 1), sub("writeConcernError", &concern), ok(1.0)]);
    for (body, class, certainty) in [
        (
            failure(112, &["TransientTransactionError"]),
            ErrorClass::Serialization,
            Certainty::Undone,
        ),
        (failure(50, &[]), ErrorClass::Timeout, Certainty::Undone),
        (failure(13, &[]), ErrorClass::Permission, Certainty::Undone),
        (
            failure(26, &[]),
            ErrorClass::UnknownObject,
            Certainty::Undone,
        ),
        (failure(1, &[]), ErrorClass::Other, Certainty::Unknown),
        (write_error(0), ErrorClass::Constraint, Certainty::Undone),
        // The first of two documents was stored.
        (write_error(1), ErrorClass::Constraint, Certainty::Unknown),
        (unreplicated, ErrorClass::Timeout, Certainty::Unknown),
    ] {
        let mut wire = opened(&[]);
        sent(&mut wire, &Request::Text(UPDATE));
        let (progress, answer, _) = heard(&mut wire, &answer_to(3, &body)).expect("it goes on");
        let error = answer.error.expect("there is one");
        assert_eq!(progress, Progress::Ready);
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
        let mut wire = opened(&[]);
        sent(&mut wire, &Request::Text(command));
        let (_, answer, _) =
            heard(&mut wire, &answer_to(3, &failure(code, &[]))).expect("it goes on");
        let error = answer.error.expect("there is one");
        assert_eq!(error.certainty, certainty, "{command}: {code}");
    }
    let mut wire = opened(&[]);
    sent(&mut wire, &Request::Begin);
    heard(&mut wire, &[]).expect("nothing is needed");
    sent(&mut wire, &Request::Text(UPDATE_MANY));
    let interrupted = failure(11_601, &["TransientTransactionError"]);
    let (_, answer, _) = heard(&mut wire, &answer_to(3, &interrupted)).expect("it goes on");
    let error = answer.error.expect("there is one");
    assert_eq!(error.certainty, Certainty::Undone, "its end undoes it");
    // The first statement's documents may be changed though it is the one that failed.
    let mut wire = opened(&[]);
    sent(&mut wire, &Request::Text(UPDATE_MANY));
    let failed = [int("index", 0), int("code", 11_000), text("errmsg", "said")];
    let body = document(&[
        int("n", 0),
        array("writeErrors", &[sub("0", &failed)]),
        ok(1.0),
    ]);
    let (_, answer, _) = heard(&mut wire, &answer_to(3, &body)).expect("it goes on");
    let error = answer.error.expect("there is one");
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
    let mut wire = opened(&[]);
    sent(&mut wire, &Request::Text(BULK));
    let failed = [
        ok(0.0),
        int("idx", 1),
        int("code", 11_000),
        text("errmsg", "said"),
    ];
    let cursor = [
        long("id", 0),
        array(
            "firstBatch",
            &[
                sub("0", &[ok(1.0), int("idx", 0), int("n", 1)]),
                sub("1", &failed),
            ],
        ),
        text("ns", "admin.$cmd.bulkWrite"),
    ];
    let body = document(&[
        sub("cursor", &cursor),
        int("nErrors", 1),
        int("nInserted", 1),
        ok(1.0),
    ]);
    let (_, answer, _) = heard(&mut wire, &answer_to(3, &body)).expect("it goes on");
    let error = answer.error.expect("there is one");
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
    for (body, class, certainty) in [
        (
            failure(50, &["UnknownTransactionCommitResult"]),
            ErrorClass::Timeout,
            Certainty::Unknown,
        ),
        (
            failure(251, &["TransientTransactionError"]),
            ErrorClass::Serialization,
            Certainty::Undone,
        ),
    ] {
        let mut wire = in_transaction();
        heard(&mut wire, &answer_to(3, &written)).expect("well formed");
        sent(&mut wire, &Request::Commit);
        let (_, answer, _) = heard(&mut wire, &answer_to(4, &body)).expect("it goes on");
        let error = answer.error.expect("there is one");
        assert_eq!((error.class, error.certainty), (class, certainty));
        assert_eq!(answer.transaction, TransactionStatus::None);
    }
    let mut wire = in_transaction();
    let conflict = failure(112, &["TransientTransactionError"]);
    let (_, answer, _) = heard(&mut wire, &answer_to(3, &conflict)).expect("it goes on");
    assert_eq!(answer.transaction, TransactionStatus::Failed);
    let bytes = sent(&mut wire, &Request::Rollback);
    assert!(has(&bytes, b"\x10abortTransaction\0\x01"));
    // The server has rolled it back already.
    let (_, answer, _) = heard(&mut wire, &answer_to(4, &failure(251, &[]))).expect("it goes on");
    assert_eq!(answer.error, None);
    assert_eq!(answer.transaction, TransactionStatus::None);
}

#[test]
fn a_server_without_sessions_has_no_transactions() {
    let mut wire = MongodbWire::new(ConnectOptions::default());
    let (mut out, mut answer) = (Vec::new(), Answer::default());
    wire.connected(&mut out);
    for (request, body) in [
        (1, document(&[int("maxWireVersion", 21), ok(1.0)])),
        (2, document(&[ok(1.0)])),
    ] {
        wire.receive(&answer_to(request, &body), &mut out, &mut answer)
            .expect("well formed");
    }
    let bytes = sent(&mut wire, &Request::Text(UPDATE));
    assert!(!has(&bytes, b"lsid"));
    heard(&mut wire, &answer_to(3, &document(&[ok(1.0)]))).expect("well formed");
    let refused = wire
        .request(&Request::Begin, &mut out)
        .expect_err("there are none");
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
    let first = batch(
        "firstBatch",
        9,
        &[
            sub("0", &[int("a", 1), int("b", 2)]),
            sub("1", &[int("b", 3), int("a", 4)]),
        ],
    );
    let (progress, _, more) = heard(&mut wire, &answer_to(3, &first)).expect("well formed");
    assert_eq!(progress, Progress::NeedMore);
    assert!(has(
        &more,
        &[long("getMore", 9), text("collection", "c.x")].concat()
    ));
    assert!(has(&more, &text("$db", "d")));
    let mut answer = Answer::new(Keep::Rows);
    let mut wire = opened(&[]);
    sent(&mut wire, &Request::Text("{\"find\": \"t\"}"));
    let last = batch(
        "nextBatch",
        0,
        &[
            sub("0", &[int("b", 5)]),
            sub("1", &[int("c", 6), int("a", 7)]),
        ],
    );
    for (request, body) in [(3, first), (4, last)] {
        wire.receive(&answer_to(request, &body), &mut Vec::new(), &mut answer)
            .expect("well formed");
    }
    assert_eq!(answer.columns, ["a", "b", "c"]);
    let cells = |row: &Vec<Option<Box<[u8]>>>| -> Vec<String> {
        let cell = |cell: &Option<Box<[u8]>>| {
            String::from_utf8_lossy(cell.as_deref().unwrap_or(b"-")).into_owned()
        };
        row.iter().map(cell).collect()
    };
    let rows: Vec<_> = answer.kept.iter().map(cells).collect();
    assert_eq!(
        rows,
        [
            ["1", "2", "-"],
            ["4", "3", "-"],
            ["-", "5", "-"],
            ["7", "-", "6"]
        ]
    );
}

#[test]
fn a_value_that_cannot_be_bound_leaves_nothing_behind() {
    let mut wire = opened(&[]);
    let marked = r#"{"find": "t", "filter": {"a": {"$numberDecimal": ?}}}"#;
    let (pieces, mut out) = (pieces(marked), b"before".to_vec());
    let parameters = &[Value::Text("one".into())];
    let pieces = &pieces;
    let refused = wire.request(&Request::Direct { pieces, parameters }, &mut out);
    let refused = refused.expect_err("it is no number");
    assert_eq!(
        refused.message,
        "value 1 (a): expected a number of at most 34 digits, found \"one\""
    );
    assert_eq!(out, b"before");
    let parameters = &[Value::Int(1)];
    wire.request(&Request::Direct { pieces, parameters }, &mut out)
        .expect("it can be expressed");
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
    let (progress, answer, _) =
        heard(&mut wire, &answer_to(4, &stored(rows / 2))).expect("well formed");
    assert_eq!((progress, answer.error), (Progress::Ready, None));
    assert_eq!(answer.affected, u64::from(rows.cast_unsigned()));
}

//! The driver against answers that no server can be made to give on demand: out of order, forgotten statements,
//! writes that time out.

use assay_drivers::cassandra::CassandraWire;
use assay_drivers::{
    Answer, Certainty, ErrorClass, Keep, Progress, Request, SystemError, Wire as _,
};
use assay_values::{Piece, Row};

use crate::cassandra::options;
use crate::support::{class, greeted, native, pieces, sent};

pub const ERROR: u8 = 0x00;
pub const READY: u8 = 0x02;
pub const SUPPORTED: u8 = 0x06;
pub const RESULT: u8 = 0x08;
pub const VOID: [u8; 4] = [0, 0, 0, 1];
/// A statement with one value, an int, and rows that are not described.
pub const PREPARED: &[u8] = &[
    0, 0, 0, 4, 0, 1, 7, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, b'k', 0, 1, b't', 0, 1, b'n', 0,
    9, 0, 0, 0, 4, 0, 0, 0, 0,
];

/// A message of a server that speaks version 4.
pub fn message(stream: i16, opcode: u8, body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(body.len()).expect("it is short");
    let [high, low] = stream.to_be_bytes();
    let head = [0x84, 0, high, low, opcode];
    [&head[..], &length.to_be_bytes(), body].concat()
}

/// One row with one text.
pub fn row(text: &str) -> Vec<u8> {
    let length = u32::try_from(text.len()).expect("it is short");
    let head: &[u8] = &[
        0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 1, 0, 1, b'k', 0, 1, b't', 0, 1, b'v', 0, 0x0D, 0, 0, 0, 1,
    ];
    [head, &length.to_be_bytes(), text.as_bytes()].concat()
}

fn error(code: u32, message: &str, rest: &[u8]) -> Vec<u8> {
    let length = u16::try_from(message.len())
        .expect("it is short")
        .to_be_bytes();
    [&code.to_be_bytes(), &length[..], message.as_bytes(), rest].concat()
}

/// A session with a server of version 4.
pub fn opened() -> CassandraWire {
    let wire = CassandraWire::new(options(&[]));
    let said = [(SUPPORTED, vec![0, 0]), (READY, Vec::new()), (RESULT, row("4.0"))];
    let (wire, progress) = greeted(wire, said.map(|(opcode, body)| message(0, opcode, &body)));
    assert_eq!(progress, Progress::Ready);
    assert_eq!(wire.server_version(), "Cassandra 4.0");
    wire
}

/// What the driver made of some bytes, and what it sent.
type Heard = (Vec<(Progress, Answer)>, Vec<u8>);

/// All that the driver makes of these bytes, and what it sends meanwhile.
fn heard(wire: &mut CassandraWire, mut input: &[u8]) -> Result<Heard, SystemError> {
    let (mut heard, mut out) = (Vec::new(), Vec::new());
    let mut answer = Answer::new(Keep::Rows);
    loop {
        let (used, progress) = wire.receive(input, &mut out, &mut answer)?;
        input = &input[used..];
        if progress == Progress::NeedMore {
            return Ok((heard, out));
        }
        let whole = std::mem::replace(&mut answer, Answer::new(Keep::Rows));
        heard.push((progress, whole));
        if progress == Progress::Ready {
            return Ok((heard, out));
        }
    }
}

fn pipeline(wire: &mut CassandraWire, count: usize) {
    let mut out = Vec::new();
    for _ in 0..count {
        let queued = wire.queue(&Request::Text("SELECT v FROM t"), &mut out);
        queued.expect("it can be expressed");
    }
    wire.sync(&mut out);
}

fn cell(answer: &Answer) -> &[u8] {
    answer.kept[0][0].as_deref().expect("a text")
}

#[test]
fn answers_in_any_order_are_given_in_the_order_of_the_requests() {
    for order in [[2, 0, 1], [2, 1, 0], [1, 2, 0], [0, 1, 2]] {
        let mut wire = opened();
        pipeline(&mut wire, 3);
        let answers = order.map(|stream| message(stream, RESULT, &row(&stream.to_string())));
        let (heard, _) = heard(&mut wire, &answers.concat()).expect("well formed");
        let progress: Vec<Progress> = heard.iter().map(|(progress, _)| *progress).collect();
        use Progress::{Answered, Ready};
        assert_eq!(progress, [Answered, Answered, Answered, Ready], "{order:?}");
        let cells: Vec<&[u8]> = heard[..3].iter().map(|(_, answer)| cell(answer)).collect();
        assert_eq!(cells, [b"0", b"1", b"2"], "{order:?}");
    }
}

#[test]
fn answers_behind_an_error_are_passed_over() {
    let mut wire = opened();
    pipeline(&mut wire, 4);
    let syntax = error(0x2000, "no viable alternative", &[]);
    let bytes = [
        message(3, ERROR, &syntax),
        message(0, RESULT, &row("first")),
        message(2, RESULT, &row("third")),
        message(1, ERROR, &syntax),
    ]
    .concat();
    let (heard, _) = heard(&mut wire, &bytes).expect("well formed");
    assert_eq!(heard.len(), 3, "{heard:?}");
    assert_eq!(cell(&heard[0].1), b"first");
    let class = heard[1].1.error.as_ref().map(|error| error.class);
    assert_eq!(class, Some(ErrorClass::Syntax));
    assert_eq!(heard[2].0, Progress::Ready);
}

fn prepared() -> CassandraWire {
    let mut wire = opened();
    let pieces: &[Piece] = &pieces("UPDATE t SET v = ?");
    sent(&mut wire, &Request::Prepare { id: 0, pieces });
    heard(&mut wire, &message(0, RESULT, PREPARED)).expect("well formed");
    wire
}

fn execute(wire: &mut CassandraWire) -> Vec<u8> {
    let parameters = &[assay_values::Value::Int(5)];
    sent(wire, &Request::Execute { id: 0, parameters })
}

#[test]
fn a_forgotten_statement_is_prepared_again_once() {
    const PREPARE: u8 = 0x09;
    let mut wire = prepared();
    let forgotten = message(0, ERROR, &error(0x2500, "unprepared", &[0, 1, 7]));
    let first = execute(&mut wire);
    let (nothing, sent) = heard(&mut wire, &forgotten).expect("well formed");
    assert!(nothing.is_empty(), "it is invisible");
    assert_eq!(sent[4], PREPARE);
    let (nothing, again) = heard(&mut wire, &message(0, RESULT, PREPARED)).expect("well formed");
    assert!(nothing.is_empty(), "it is invisible");
    assert_eq!(again, first, "with the same values");
    let (heard_of, _) = heard(&mut wire, &forgotten).expect("well formed");
    let (progress, answer) = &heard_of[0];
    assert_eq!(*progress, Progress::Ready);
    // A second time it is the statement's error.
    assert!(answer.error.is_some());
    execute(&mut wire);
    let (heard_of, _) = heard(&mut wire, &message(0, RESULT, &VOID)).expect("well formed");
    assert_eq!(heard_of[0].1.error, None, "the session goes on");
}

#[test]
fn a_write_that_times_out_may_have_been_done_and_the_session_goes_on() {
    let mut wire = prepared();
    execute(&mut wire);
    let details = [&[0, 4, 0, 0, 0, 1, 0, 0, 0, 2, 0, 6][..], b"SIMPLE"].concat();
    let body = error(0x1100, "Operation timed out", &details);
    let (heard_of, _) = heard(&mut wire, &message(0, ERROR, &body)).expect("well formed");
    let error = heard_of[0].1.error.as_ref().expect("it timed out");
    assert_eq!(error.class, ErrorClass::Timeout);
    assert_eq!(error.certainty, Certainty::Unknown);
    execute(&mut wire);
    let (heard_of, _) = heard(&mut wire, &message(0, RESULT, &VOID)).expect("well formed");
    assert_eq!(heard_of[0].1.error, None);
}

/// A load whose statement has one value.
fn load() -> CassandraWire {
    let mut wire = opened();
    sent(&mut wire, &native("INSERT INTO t (n) VALUES (?)"));
    let (heard_of, _) = heard(&mut wire, &message(0, RESULT, PREPARED)).expect("well formed");
    assert_eq!(heard_of[0].0, Progress::BulkReady);
    wire
}

fn send_row(wire: &mut CassandraWire, out: &mut Vec<u8>) {
    let mut row = Row::new();
    row.push_int(1);
    assert!(wire.bulk_row(&row, out).is_continue());
}

fn bulk_progress(wire: &mut CassandraWire, bytes: &[u8]) -> (Progress, Answer) {
    let (mut out, mut answer) = (Vec::new(), Answer::default());
    let received = wire.receive(bytes, &mut out, &mut answer);
    (received.expect("well formed").1, answer)
}

#[test]
fn a_load_waits_for_a_server_that_does_not_answer() {
    let (mut wire, mut out) = (load(), Vec::new());
    let mut rows = 0;
    while !wire.bulk_is_full() {
        send_row(&mut wire, &mut out);
        rows += 1;
        assert!(rows < 30_000, "streams have an end");
    }
    let mut answered: i16 = 0;
    while wire.bulk_is_full() {
        bulk_progress(&mut wire, &message(answered, RESULT, &VOID));
        answered += 1;
        assert!(answered < rows, "it goes on before all are answered");
    }
    wire.bulk_end(None, &mut out);
    for stream in answered..rows - 1 {
        let (progress, _) = bulk_progress(&mut wire, &message(stream, RESULT, &VOID));
        assert_eq!(progress, Progress::NeedMore);
    }
    let (progress, answer) = bulk_progress(&mut wire, &message(rows - 1, RESULT, &VOID));
    assert_eq!(progress, Progress::Ready);
    assert_eq!(answer.error, None);
    assert_eq!(answer.affected, u64::from(rows.cast_unsigned()));
}

#[test]
fn a_row_that_fails_ends_the_load_when_all_have_been_answered() {
    let (mut wire, mut out) = (load(), Vec::new());
    for _ in 0..3 {
        send_row(&mut wire, &mut out);
    }
    let overloaded = message(1, ERROR, &error(0x1001, "too much", &[]));
    let (progress, _) = bulk_progress(&mut wire, &overloaded);
    assert_eq!(progress, Progress::NeedMore);
    out.clear();
    send_row(&mut wire, &mut out);
    assert!(out.is_empty(), "no more rows are sent");
    bulk_progress(&mut wire, &message(2, RESULT, &VOID));
    let (progress, answer) = bulk_progress(&mut wire, &message(0, RESULT, &VOID));
    assert_eq!(progress, Progress::Ready);
    assert_eq!(answer.affected, 2);
    assert_eq!(class(answer), Some(ErrorClass::Resources));
}

//! The mSQL driver against bytes written by hand, as the description of the protocol has them; and against
//! servers that violate it.

use assay_drivers::msql::MsqlWire;
use assay_drivers::{Answer, ConnectOptions, ErrorClass, Keep, Progress, Request, Wire as _};
use assay_values::Value;

use crate::support;

/// Packets: a length of four bytes, the lowest first, and text.
fn packets(texts: &[&str]) -> Vec<u8> {
    let packet = |text: &&str| {
        let length = u32::try_from(text.len()).expect("it is short");
        [&length.to_le_bytes()[..], text.as_bytes()].concat()
    };
    texts.iter().map(packet).collect::<Vec<_>>().concat()
}

fn new() -> MsqlWire {
    MsqlWire::new(ConnectOptions {
        user: "accel".to_owned(),
        database: "e831".to_owned(),
        ..ConnectOptions::default()
    })
}

/// A session that is ready for its first request.
fn opened() -> MsqlWire {
    let mut wire = new();
    let (mut out, mut answer) = (Vec::new(), Answer::default());
    wire.connected(&mut out);
    assert!(out.is_empty(), "the server speaks first");
    for (from_server, to_server, progress) in [
        ("0:4:1.0.16\n", "accel\n", Progress::NeedMore),
        ("1", "2:e831", Progress::NeedMore),
        ("1", "", Progress::Ready),
    ] {
        let bytes = packets(&[from_server]);
        out.clear();
        let received = wire.receive(&bytes, &mut out, &mut answer);
        assert_eq!(received, Ok((bytes.len(), progress)));
        let said: Vec<_> = [to_server]
            .into_iter()
            .filter(|text| !text.is_empty())
            .collect();
        assert_eq!(out, packets(&said));
    }
    assert_eq!(wire.server_version(), "mSQL 1.0.16");
    wire
}

/// Sends a statement; returns the session that waits for its answer.
fn asked() -> MsqlWire {
    let mut wire = opened();
    let out = support::sent(&mut wire, &Request::Text("select name, val from data"));
    assert_eq!(out, packets(&["3:select name, val from data"]));
    wire
}

const ANSWER: [&str; 7] = [
    "1:2\n",
    "6:X:00001:7",
    "0:-2:\n",
    "-100\n",
    "4:data4:name1:22:161:N1:N",
    "4:data3:val1:11:41:N1:N",
    "-100\n",
];

#[test]
fn rows_come_before_the_names_of_their_columns() {
    let bytes = packets(&ANSWER);
    for cut in [1, 5, bytes.len()] {
        let (mut wire, mut out, mut input) = (asked(), Vec::new(), Vec::new());
        let mut answer = Answer::new(Keep::Rows);
        let mut last = Progress::NeedMore;
        for part in bytes.chunks(cut) {
            assert_eq!(last, Progress::NeedMore);
            input.extend_from_slice(part);
            let (used, progress) = (wire.receive(&input, &mut out, &mut answer)).expect("valid");
            input.drain(..used);
            last = progress;
        }
        assert_eq!(last, Progress::Ready);
        assert_eq!(answer.columns, ["name", "val"]);
        let cell = |text: &str| Some(text.as_bytes().into());
        let rows = [vec![cell("X:0000"), cell("7")], vec![cell(""), None]];
        assert_eq!(answer.kept, rows);
    }
}

#[test]
fn values_are_written_into_the_statement() {
    let mut wire = opened();
    let (mut out, mut answer) = (Vec::new(), Answer::default());
    let pieces = &support::pieces("update data set val = ? where name = ?");
    let asked = support::sent(&mut wire, &Request::Prepare { id: 0, pieces });
    assert_eq!(asked, packets(&["2:e831"]), "the server cannot prepare");
    let done = packets(&["1"]);
    let received = wire.receive(&done, &mut out, &mut answer);
    assert_eq!(received, Ok((done.len(), Progress::Ready)));
    let parameters = &[Value::Int(7), Value::Text("it's".into())];
    let asked = support::sent(&mut wire, &Request::Execute { id: 0, parameters });
    let written = "3:update data set val = 7 where name = 'it\\'s'";
    assert_eq!(asked, packets(&[written]));
    let refused = packets(&["-1:Unknown table \"data\"\n"]);
    let received = wire.receive(&refused, &mut out, &mut answer);
    assert_eq!(received, Ok((refused.len(), Progress::Ready)));
    let error = answer.error.expect("the server refused it");
    assert_eq!(error.class, ErrorClass::UnknownObject);
    assert_eq!(error.message, "Unknown table \"data\"");
}

/// Why the session is over after these bytes.
fn refused(mut wire: MsqlWire, bytes: &[u8]) -> String {
    support::refused(&mut wire, bytes).message
}

#[test]
fn another_protocol_is_refused() {
    for bytes in [
        &b"HTTP/1.1 400 Bad Request\r\n\r\n"[..],
        b"SSH-2.0-OpenSSH_9.2\r\n",
        b"J\0\0\0\x0a5.5.5-10.11\0\x01\0\0\0 and more bytes, as many as the length asks for: 74 in all",
        &[0xFF; 16],
        &packets(&["1"]),
        &packets(&[""]),
        &packets(&["0:x:1"]),
    ] {
        let words = refused(new(), bytes);
        assert!(words.contains("expected"), "{words}");
    }
    let words = refused(new(), &packets(&["0:3:0.9"]));
    assert!(words.contains("found protocol 3"), "{words}");
    let words = refused(new(), &packets(&["-1:Too many connections\n"]));
    assert_eq!(words, "Too many connections");
}

#[test]
fn lengths_and_counts_are_not_believed_beyond_the_bytes() {
    for texts in [
        &["1:x"][..],
        &["1:-1"],
        &["-100"],
        &["0:4:1.0.16"],
        &["1:2", "6:X:00001:7", "6:X:0000"],
        &["1:2", "6:X:00001:71:7"],
        &["1:2", "99:X:0000"],
        &["1:2", "9999999999:X:0000"],
        &["1:4000000000", "1:x"],
        &["1:1", "1:x", "-100", "4:data4:name"],
        &["1:1", "1:x", "-100", "-100"],
        &["1:1", "1:x", "-100", ANSWER[4], ANSWER[5]],
    ] {
        refused(asked(), &packets(texts));
    }
    refused(asked(), &[0xFF, 0xFF, 0xFF, 0x7F, b'1']);
}

#[test]
fn every_beginning_of_an_answer_is_waited_for() {
    let bytes = packets(&ANSWER);
    for end in 0..bytes.len() {
        let (mut out, mut answer) = (Vec::new(), Answer::new(Keep::Rows));
        let (_, progress) = asked()
            .receive(&bytes[..end], &mut out, &mut answer)
            .expect("the rest may follow");
        assert_eq!(progress, Progress::NeedMore);
    }
}

#[test]
fn a_packet_that_answers_nothing_ends_the_session() {
    refused(opened(), &packets(&["1"]));
    let words = refused(opened(), &packets(&["-1:Server shutting down\n"]));
    assert_eq!(words, "Server shutting down");
}

//! Servers that speak against the protocol: the session ends with the reason, and nothing is believed that the
//! bytes cannot hold.

use assay_drivers::cassandra::CassandraWire;
use assay_drivers::{ErrorClass, Request, Wire as _};

use crate::cassandra::options;
use crate::cassandra::scripted::{
    ERROR, PREPARED, READY, RESULT, SUPPORTED, VOID, message, opened, row,
};
use crate::support::{self, greeted, is_waited_for, sent};

/// Why the session is over after these bytes.
fn refused(wire: &mut CassandraWire, bytes: &[u8]) -> String {
    let error = support::refused(wire, bytes);
    assert!(
        [ErrorClass::Protocol, ErrorClass::LostConnection].contains(&error.class),
        "{error}"
    );
    error.message
}

fn asked() -> CassandraWire {
    let mut wire = opened();
    sent(&mut wire, &Request::Text("SELECT v FROM t"));
    wire
}

#[test]
fn another_protocol_is_not_believed() {
    for bytes in [
        &b"HTTP/1.1 400 Bad Request\r\n\r\n"[..],
        b"J\0\0\0\x0a5.5.5-10.11\0\x01\0\0\0",
        &[0x04, 0, 0, 0, SUPPORTED, 0, 0, 0, 2, 0, 0],
        &[0x84, 0, 0, 0, SUPPORTED, 0x10, 0, 0, 0],
        &[0x84, 0, 0, 0, SUPPORTED, 0, 0, 0, 2, 0xFF, 0xFF],
        &message(0, READY, &[]),
        &message(0, ERROR, &[]),
        &message(0, ERROR, b"\0\0\0\x0A\0\x03who"),
        &message(-1, SUPPORTED, &[0, 0]),
    ] {
        let mut wire = CassandraWire::new(options(&[]));
        wire.connected(&mut Vec::new());
        refused(&mut wire, bytes);
    }
}

#[test]
fn counts_and_lengths_are_not_believed_beyond_the_bytes() {
    let rows = |columns: [u8; 4], rest: &[u8]| {
        [&[0, 0, 0, 2, 0, 0, 0, 1][..], &columns, &[0, 0, 0, 0], rest].concat()
    };
    let mut bodies = vec![
        Vec::new(),
        vec![0, 0, 0, 9],
        PREPARED.to_vec(),
        // Rows without columns, two thousand millions of columns, and of rows.
        rows([0; 4], &[0x7F, 0xFF, 0xFF, 0xFF]),
        rows([0x7F, 0xFF, 0xFF, 0xFF], &[0; 64]),
        rows([0xFF; 4], &[0; 64]),
        [&row("")[..23], &[0x7F, 0xFF, 0xFF, 0xFF]].concat(),
        // A list of lists of lists …
        [&row("")[..21], &[0, 0x20].repeat(100_000)].concat(),
    ];
    // Every beginning of a good answer.
    let good = row("text");
    bodies.extend((0..good.len()).map(|end| good[..end].to_vec()));
    for body in bodies {
        refused(&mut asked(), &message(0, RESULT, &body));
    }
    for bytes in [
        message(1, RESULT, &VOID),
        message(0, SUPPORTED, &[0, 0]),
        message(0, 0x77, &[]),
        vec![0x84, 0, 0, 0, RESULT, 0xFF, 0xFF, 0xFF, 0xFF],
        // Compressed, which was not agreed on.
        vec![0x84, 1, 0, 0, RESULT, 0, 0, 0, 4, 0, 0, 0, 1],
        // Warnings and payloads longer than the message.
        vec![0x84, 8, 0, 0, RESULT, 0, 0, 0, 2, 0xFF, 0xFF],
        vec![0x84, 4, 0, 0, RESULT, 0, 0, 0, 2, 0xFF, 0xFF],
        vec![0x84, 2, 0, 0, RESULT, 0, 0, 0, 2, 0xFF, 0xFF],
    ] {
        refused(&mut asked(), &bytes);
    }
}

#[test]
fn a_message_that_nothing_asked_for_ends_the_session() {
    let words = refused(&mut opened(), &message(0, RESULT, &VOID));
    assert!(words.contains("silence"), "{words}");
    let words = refused(&mut opened(), &message(-1, ERROR, b"\0\0\0\0\0\x07goodbye"));
    assert!(words.contains("goodbye"), "{words}");
}

#[test]
fn a_second_answer_before_its_turn_ends_the_session() {
    let mut wire = opened();
    for _ in 0..2 {
        let queued = wire.queue(&Request::Text("SELECT v FROM t"), &mut Vec::new());
        queued.expect("it can be expressed");
    }
    wire.sync(&mut Vec::new());
    let twice = message(1, RESULT, &VOID).repeat(2);
    let words = refused(&mut wire, &twice);
    assert!(words.contains("one answer to each request"), "{words}");
}

/// A session of version 5, where messages travel in segments.
fn framed(compression: &str) -> CassandraWire {
    let wire = CassandraWire::new(options(&[("compression", compression)]));
    let supported =
        b"\0\x02\0\x11PROTOCOL_VERSIONS\0\x01\0\x045/v5\0\x0BCOMPRESSION\0\x01\0\x03lz4";
    greeted(
        wire,
        [message(0, SUPPORTED, supported), message(0, READY, &[])],
    )
    .0
}

#[test]
fn a_segment_with_a_wrong_checksum_ends_the_session() {
    let words = refused(&mut framed("none"), &[0; 16]);
    assert!(words.contains("checksum"), "{words}");
    let words = refused(&mut framed("lz4"), &[0x55; 16]);
    assert!(words.contains("checksum"), "{words}");
}

/// The rest of a message never comes: the driver waits, and takes no memory for it.
#[test]
fn half_a_message_is_waited_for() {
    let bytes = [0x84, 0, 0, 0, RESULT, 0x0F, 0xFF, 0xFF, 0xFF, 1, 2, 3];
    is_waited_for(&mut asked(), &bytes);
}

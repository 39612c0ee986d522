//! Servers that violate the protocol: the session ends with the reason, and no length or count is believed that the
//! bytes cannot hold.

use assay_drivers::mongodb::MongodbWire;
use assay_drivers::{Answer, ErrorClass, Keep, Request, Wire as _};

use crate::mongodb::options;
use crate::mongodb::scripted::{
    answer_to, array, document, hello, int, long, ok, opened, sub, text,
};
use crate::support::{self, has, is_waited_for, sent};

/// Why the session is over after these bytes.
fn refused(wire: &mut MongodbWire, bytes: &[u8]) -> String {
    support::refused(wire, bytes).message
}

fn asked() -> MongodbWire {
    let mut wire = opened(&[]);
    sent(&mut wire, &Request::Text("{\"find\": \"t\"}"));
    wire
}

fn header(length: i32, opcode: i32) -> Vec<u8> {
    [length, 1, 3, opcode].map(i32::to_le_bytes).concat()
}

#[test]
fn another_protocol_is_not_believed() {
    let old = document(&[int("maxWireVersion", 2), ok(1.0)]);
    for bytes in [
        &b"HTTP/1.1 400 Bad Request\r\n\r\n"[..],
        b"J\0\0\0\x0a5.5.5-10.11\0\x01\0\0\0",
        &header(100, 1),
        &header(-1, 2013),
        &header(20, 2012),
        &header(48_100_000, 2013),
        &answer_to(2, &hello(&[])),
        &answer_to(1, &old),
        &answer_to(1, &document(&[])),
        &answer_to(1, b"junk"),
    ] {
        let mut wire = MongodbWire::new(options(&[]));
        wire.connected(&mut Vec::new());
        refused(&mut wire, bytes);
    }
}

#[test]
fn lengths_are_not_believed_beyond_the_bytes() {
    let cursor = |batch: Vec<u8>| {
        let cursor = [long("id", 0), text("ns", "d.c"), batch];
        document(&[sub("cursor", &cursor), ok(1.0)])
    };
    let row = [int("a", 1), text("b", "x"), array("c", &[int("0", 1)])];
    let good = cursor(array("firstBatch", &[sub("0", &row)]));
    // Nested ten thousand times.
    let nested = (0..10_000).fold(int("x", 1), |within, _| sub("x", &[within]));
    let mut bodies = vec![
        cursor(array("firstBatch", &[int("0", 1)])),
        cursor(array("firstBatch", &[sub("0", &[nested])])),
        // A string without its end, a length below zero, an unknown type.
        document(&[b"\x02a\0\x02\0\0\0xx".to_vec(), ok(1.0)]),
        document(&[b"\x02a\0\xFF\xFF\xFF\xFF".to_vec(), ok(1.0)]),
        document(&[b"\x05a\0\xFF\xFF\xFF\x7F\0".to_vec(), ok(1.0)]),
        document(&[b"\x55a\0".to_vec(), ok(1.0)]),
        document(&[b"\x10".to_vec()]),
    ];
    // Every beginning of a good answer, and every byte of it set to the highest length.
    bodies.extend((0..good.len()).map(|end| good[..end].to_vec()));
    for body in bodies {
        refused(&mut asked(), &answer_to(3, &body));
    }
    for place in 0..good.len() {
        let mut body = good.clone();
        body[place] = 0x7F;
        // Some of these are other texts and numbers; none may panic or be read beyond its end.
        let (mut out, mut answer) = (Vec::new(), Answer::new(Keep::Rows));
        let _ = asked().receive(&answer_to(3, &body), &mut out, &mut answer);
    }
    // Sections where an answer has one document, and flags that do not exist.
    for place in [16, 17, 20] {
        let mut bytes = answer_to(3, &good);
        bytes[place] = 0x0A;
        refused(&mut asked(), &bytes);
    }
}

#[test]
fn an_unexpected_message_ends_the_session() {
    let words = refused(&mut opened(&[]), &answer_to(3, &document(&[ok(1.0)])));
    assert!(words.contains("silence"), "{words}");
    let stops = document(&[ok(0.0), text("errmsg", "goodbye"), int("code", 91)]);
    let words = refused(&mut opened(&[]), &answer_to(0, &stops));
    assert!(words.contains("goodbye"), "{words}");
    let words = refused(&mut asked(), &answer_to(4, &document(&[ok(1.0)])));
    assert!(words.contains("request 4"), "{words}");
}

/// A password is sent in clear text only where it cannot be intercepted, and a server must prove that it knows it.
#[test]
fn a_server_does_not_get_the_password() {
    let login = |mechanism: &str, is_private: bool| {
        let mut options = options(&[]);
        options.user = "user".to_owned();
        options.password = Some("secret".to_owned());
        options.is_private = is_private;
        let mut wire = MongodbWire::new(options);
        wire.connected(&mut Vec::new());
        let mechanisms = array("saslSupportedMechs", &[text("0", mechanism)]);
        let (mut out, mut answer) = (Vec::new(), Answer::default());
        let bytes = answer_to(1, &hello(&[mechanisms]));
        let heard = wire.receive(&bytes, &mut out, &mut answer);
        (wire, heard.map(|_| out))
    };
    let error = login("PLAIN", false).1.expect_err("anybody could read it");
    assert_eq!(error.class, ErrorClass::Authentication);
    assert_eq!(&*error.code, "clear text");
    assert!(login("PLAIN", true).1.is_ok_and(|out| has(&out, b"secret")));
    for mechanism in ["SCRAM-SHA-256", "SCRAM-SHA-1"] {
        let (mut wire, out) = login(mechanism, false);
        let out = out.expect("it asks for a proof");
        assert!(has(&out, mechanism.as_bytes()) && !has(&out, b"secret"));
        // Done, without any proof.
        let payload = b"\x05payload\0\0\0\0\0\0\x08done\0\x01".to_vec();
        let done = document(&[payload, int("conversationId", 1), ok(1.0)]);
        refused(&mut wire, &answer_to(2, &done));
    }
}

/// The rest of a message never arrives: the driver waits, and allocates no memory for it.
#[test]
fn half_a_message_is_waited_for() {
    let bytes = [header(48_000_000, 2013), vec![0; 9]].concat();
    is_waited_for(&mut asked(), &bytes);
}

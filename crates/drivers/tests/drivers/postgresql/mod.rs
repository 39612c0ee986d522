//! Tests the PostgreSQL driver with recorded conversations, mutated recordings, and an installed server.
//!
//! A conversation (`conversations/*.txt`) contains each request, the bytes that the driver sends, the bytes that
//! a server returned, and the result. It is replayed without a server, whole and byte by byte; and if
//! PostgreSQL is installed, it is run on a private server, with the same results.

mod conversation;
mod live;

use assay_drivers::postgresql::PostgresqlWire;
use assay_drivers::{ConnectOptions, ErrorClass, Keep, Progress, SystemError, Wire as _};
use assay_values::Random;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::{Digest as _, Sha256};

use crate::fuzz::{below, broken};
use crate::postgresql::conversation::Conversation;
use crate::support::{is_waited_for, refused};

/// Every recording, by name.
#[rustfmt::skip]
pub const ALL: &[(&str, &str)] = &[
    ("statements", include_str!("conversations/statements.txt")),
    ("loads", include_str!("conversations/loads.txt")),
    ("md5", include_str!("conversations/md5.txt")),
    ("clear", include_str!("conversations/clear.txt")),
    ("no_database", include_str!("conversations/no_database.txt")),
    ("wrong_password", include_str!("conversations/wrong_password.txt")),
    ("bad_session_statement", include_str!("conversations/bad_session_statement.txt")),
    ("terminated", include_str!("conversations/terminated.txt")),
    ("pipelines", include_str!("conversations/pipelines.txt")),
    ("types", include_str!("conversations/types.txt")),
];

/// The names of statements are those of a session, so their 16 digits are written as zeros.
fn without_the_session(mut sent: Vec<u8>) -> Vec<u8> {
    let places = sent.windows(PREFIX.len());
    let starts = places.enumerate().filter(|(_, part)| *part == PREFIX);
    let ends: Vec<_> = starts.map(|(start, _)| start + PREFIX.len()).collect();
    for start in ends {
        sent[start..start + 16].fill(b'0');
    }
    sent
}

const PREFIX: &[u8] = b"assay_";

/// Replays a conversation with the server's bytes cut into pieces of `piece` bytes.
fn replay(name: &str, text: &str, piece: usize, keep: Keep) {
    let conversation = Conversation::read(text);
    let mut wire = PostgresqlWire::new(conversation.options);
    let mut answer = conversation::answer();
    for step in conversation.steps {
        let (mut out, mut input) = (Vec::new(), Vec::new());
        answer.clear(keep);
        let mut earlier = String::new();
        let begun = conversation::begin(&mut wire, &step.request, &mut out);
        let waits = begun.expect("the request is valid");
        let what = format!("{name}: {}", step.request);
        let mut result = Ok(Progress::NeedMore);
        for part in step.received.chunks(piece) {
            assert_eq!(result, Ok(Progress::NeedMore), "{what} ended early");
            input.extend_from_slice(part);
            result = conversation::read_all(&mut earlier, &mut answer, keep, |answer| {
                let (used, progress) = wire.receive(&input, &mut out, answer)?;
                input.drain(..used);
                Ok(progress)
            });
        }
        if waits {
            let expected = match keep {
                Keep::Rows => step.meaning,
                _ => conversation::counted(&step.meaning),
            };
            let last = conversation::meaning(&result, &answer);
            assert_eq!(earlier + &last, expected, "{what}");
            assert!(input.is_empty() || result.is_err(), "{what} left bytes");
        }
        let sent = without_the_session(out).escape_ascii().to_string();
        assert_eq!(sent, step.sent.escape_ascii().to_string(), "{what}");
    }
}

#[test]
fn the_results_do_not_depend_on_how_the_bytes_arrive() {
    for (name, text) in ALL {
        for piece in [usize::MAX, 1, 2, 7] {
            for keep in [Keep::Rows, Keep::Count] {
                replay(name, text, piece, keep);
            }
        }
    }
}

/// Behind a pooler, the name of a statement may be that of another client's.
#[test]
fn the_answer_to_another_statement_is_an_error() {
    let (_, text) = ALL[0];
    let of_another = text.replacen("INSERT 0 1", "UPDATE 111", 1).replacen(
        "= Ready rows 0 affected 1\n",
        "= Ready rows 0 affected 111 error wrong statement \n",
        1,
    );
    let end = of_another.find("error wrong statement ");
    let end = end.expect("it was replaced");
    let end = end + of_another[end..].find('\n').expect("a line ends") + 1;
    for keep in [Keep::Rows, Keep::Count] {
        replay("another statement", &of_another[..end], usize::MAX, keep);
    }
}

/// The driver's result for a server's answer to the TLS request.
fn answer_to_tls_request(bytes: &[u8]) -> (Result<(usize, Progress), SystemError>, Vec<u8>) {
    let options = ConnectOptions {
        wants_tls: true,
        ..Default::default()
    };
    let mut wire = PostgresqlWire::new(options);
    let (mut out, mut answer) = (Vec::new(), conversation::answer());
    wire.connected(&mut out);
    assert_eq!(out, b"\0\0\0\x08\x04\xd2\x16\x2f");
    is_waited_for(&mut wire, b"");
    out.clear();
    let result = wire.receive(bytes, &mut out, &mut answer);
    if matches!(result, Ok((_, Progress::StartTls))) {
        assert!(out.is_empty());
        wire.secured(&mut out);
    }
    (result, out)
}

#[test]
fn the_startup_message_is_sent_inside_tls_or_after_a_refusal() {
    for (bytes, progress) in [(b"S", Progress::StartTls), (b"N", Progress::NeedMore)] {
        let (result, out) = answer_to_tls_request(bytes);
        assert_eq!(result, Ok((1, progress)));
        assert_eq!(out[4..8], [0, 3, 0, 0]);
    }
}

#[test]
fn unencrypted_bytes_after_the_server_accepts_tls_are_refused() {
    for bytes in [&b"SR\0\0\0\x08\0\0\0\0"[..], b"E\0\0\0\x04", b"?"] {
        assert!(answer_to_tls_request(bytes).0.is_err());
    }
}

#[test]
fn a_server_of_another_protocol_is_refused_at_its_first_byte() {
    for greeting in
        [&b"HTTP/1.1 400 Bad Request\r\n"[..], b"\x4a\0\0\0\x0a5.5.5-10.11", b"SSH-2.0-OpenSSH\r\n"]
    {
        let mut wire = PostgresqlWire::new(Default::default());
        wire.connected(&mut Vec::new());
        let error = refused(&mut wire, greeting);
        assert_eq!(error.class.word(), "protocol", "{error}");
    }
}

/// For any change of a server's bytes the driver returns an answer or an error, and does not hang.
#[test]
fn broken_bytes_are_refused_and_never_panic() {
    let mut refused = 0;
    for seed in 0..3_000 {
        let mut random = Random::stream(seed, 1);
        let (_, text) = ALL[below(ALL.len(), &mut random)];
        let conversation = Conversation::read(text);
        let broken_step = below(conversation.steps.len(), &mut random);
        let mut wire = PostgresqlWire::new(conversation.options);
        let mut answer = conversation::answer();
        'session: for (index, mut step) in conversation.steps.into_iter().enumerate() {
            let (mut out, mut input) = (Vec::new(), Vec::new());
            answer.clear([Keep::Count, Keep::Digest, Keep::Rows][below(3, &mut random)]);
            if conversation::begin(&mut wire, &step.request, &mut out).is_err() {
                break;
            }
            if index == broken_step {
                step.received = broken(&step.received, &mut random);
            }
            let piece = 1 + below(64, &mut random);
            for part in step.received.chunks(piece) {
                input.extend_from_slice(part);
                match wire.receive(&input, &mut out, &mut answer) {
                    Ok((used, Progress::NeedMore)) => drop(input.drain(..used)),
                    Ok((used, _)) => {
                        assert!(used <= input.len(), "seed {seed}: more than was received");
                        break;
                    }
                    Err(_) => {
                        refused += 1;
                        let again = wire.receive(b"Z\0\0\0\x05I", &mut out, &mut answer);
                        assert!(again.is_err(), "seed {seed}");
                        break 'session;
                    }
                }
            }
        }
    }
    assert!(refused > 500, "only {refused} of 3000 were refused");
}

/// `pencil`, salted with `W22ZaJ0SNY7soEsUEjb6gQ==` and 4096 iterations: H(ClientKey) and ServerKey.
const STORED_KEY: &str = "WG5d8oPm3OtcPnkdi4Uo7BkeZkBFzpcXkuLmtbsT4qY=";
const SERVER_KEY: &str = "wfPLwcE6nTWhTAmQ7tl2KeoiWGPlZqQxSrmfPwDl2dU=";
const SERVER_NONCE: &str = "%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0";

fn hmac(key: &[u8], text: &str) -> [u8; 32] {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("HMAC accepts any key length");
    mac.update(text.as_bytes());
    mac.finalize().into_bytes().into()
}

fn message(code: i32, text: &str) -> Vec<u8> {
    let length = u32::try_from(8 + text.len()).expect("it is short");
    let code = code.to_be_bytes();
    [b"R", &length.to_be_bytes()[..], &code, text.as_bytes()].concat()
}

/// Acts as the server. `spoil` changes its final signature. Returns whether the client's proof is right, and
/// the driver's result for the server's signature.
fn exchange(password: &str, spoil: bool) -> (bool, Result<(usize, Progress), SystemError>) {
    let options = ConnectOptions {
        user: "user".into(),
        password: Some(password.into()),
        ..ConnectOptions::default()
    };
    let mut wire = PostgresqlWire::new(options);
    let (mut out, mut answer) = (Vec::new(), conversation::answer());
    wire.connected(&mut out);
    let mut say = |bytes: &[u8]| {
        out.clear();
        let result = wire.receive(bytes, &mut out, &mut answer);
        (result, out.clone())
    };

    let (_, first) = say(&message(10, "SCRAM-SHA-256-PLUS\0SCRAM-SHA-256\0\0"));
    let head = b"SCRAM-SHA-256\0";
    assert_eq!(first[0], b'p');
    assert_eq!(&first[5..5 + head.len()], head);
    let client_first = std::str::from_utf8(&first[5 + head.len() + 4..]).expect("SCRAM is text");
    let bare = client_first
        .strip_prefix("n,,")
        .expect("no channel binding");
    // The name is in the startup message.
    let nonce = bare.strip_prefix("n=,r=").expect("no name");
    assert!(nonce.len() >= 18, "{nonce} can be guessed");

    let server_first = format!("r={nonce}{SERVER_NONCE},s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096");
    let (_, last) = say(&message(11, &server_first));
    let client_final = std::str::from_utf8(&last[5..]).expect("SCRAM is text");
    let (unproven, proof) = client_final.rsplit_once(",p=").expect("a proof is last");
    assert_eq!(unproven, format!("c=biws,r={nonce}{SERVER_NONCE}"));

    let decode = |text: &str| STANDARD.decode(text).expect("base64");
    let signed = format!("{bare},{server_first},{unproven}");
    let signature = hmac(&decode(STORED_KEY), &signed);
    let bytes = decode(proof).into_iter().zip(signature);
    let client_key: Vec<u8> = bytes.map(|(a, b)| a ^ b).collect();
    let is_proven = Sha256::digest(&client_key).as_slice() == decode(STORED_KEY);

    let mut server_signature = hmac(&decode(SERVER_KEY), &signed);
    server_signature[0] ^= u8::from(spoil);
    let server_final = format!("v={}", STANDARD.encode(server_signature));
    (is_proven, say(&message(12, &server_final)).0)
}

#[test]
fn only_the_right_password_gives_a_valid_proof() {
    assert!(exchange("pencil", false).0);
    assert!(!exchange("pen", false).0);
}

#[test]
fn a_server_that_does_not_know_the_password_is_refused() {
    let (_, right) = exchange("pencil", false);
    assert!(right.is_ok_and(|(_, progress)| progress == Progress::NeedMore));
    let (_, wrong) = exchange("pencil", true);
    let error = wrong.expect_err("its signature is wrong");
    assert_eq!(error.class, ErrorClass::Authentication);
}

#[test]
fn a_server_that_skips_its_proof_is_refused() {
    let options = ConnectOptions {
        password: Some("pencil".into()),
        ..ConnectOptions::default()
    };
    let mut wire = PostgresqlWire::new(options);
    wire.connected(&mut Vec::new());
    let skipping = [message(10, "SCRAM-SHA-256\0\0"), message(0, "")].concat();
    assert_eq!(refused(&mut wire, &skipping).class, ErrorClass::Protocol);
}

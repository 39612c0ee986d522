//! Replays the recorded conversations without a server.

use assay_drivers::postgresql::PostgresqlWire;
use assay_drivers::{ConnectOptions, Keep, Progress, SystemError, Wire as _};

use crate::postgresql::conversation::{self, Conversation};

/// Every recording, by name.
pub const ALL: &[(&str, &str)] = &[
    ("statements", include_str!("conversations/statements.txt")),
    ("loads", include_str!("conversations/loads.txt")),
    ("md5", include_str!("conversations/md5.txt")),
    ("clear", include_str!("conversations/clear.txt")),
    ("no_database", include_str!("conversations/no_database.txt")),
    (
        "wrong_password",
        include_str!("conversations/wrong_password.txt"),
    ),
    (
        "bad_session_statement",
        include_str!("conversations/bad_session_statement.txt"),
    ),
    ("terminated", include_str!("conversations/terminated.txt")),
    ("pipelines", include_str!("conversations/pipelines.txt")),
    ("types", include_str!("conversations/types.txt")),
];

/// The names of statements are those of a session, so their 16 digits are written as zeros.
fn without_the_session(mut sent: Vec<u8>) -> Vec<u8> {
    let places = sent.windows(PREFIX.len());
    let starts = places.enumerate().filter(|(_, part)| *part == PREFIX);
    for start in starts
        .map(|(start, _)| start + PREFIX.len())
        .collect::<Vec<_>>()
    {
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
        let waits =
            conversation::begin(&mut wire, &step.request, &mut out).expect("the request is valid");
        let mut result = Ok(Progress::NeedMore);
        for part in step.received.chunks(piece) {
            assert_eq!(
                result,
                Ok(Progress::NeedMore),
                "{name}: {} ended early",
                step.request
            );
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
            assert_eq!(earlier + &last, expected, "{name}: {}", step.request);
            assert!(
                input.is_empty() || result.is_err(),
                "{name}: {} left bytes",
                step.request
            );
        }
        assert_eq!(
            without_the_session(out).escape_ascii().to_string(),
            step.sent.escape_ascii().to_string(),
            "{name}: {}",
            step.request
        );
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
    let end = of_another
        .find("error wrong statement ")
        .expect("it was replaced");
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
    assert_eq!(
        wire.receive(b"", &mut out, &mut answer),
        Ok((0, Progress::NeedMore))
    );
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
    for greeting in [
        &b"HTTP/1.1 400 Bad Request\r\n"[..],
        b"\x4a\0\0\0\x0a5.5.5-10.11",
        b"SSH-2.0-OpenSSH\r\n",
    ] {
        let mut wire = PostgresqlWire::new(Default::default());
        let (mut out, mut answer) = (Vec::new(), conversation::answer());
        wire.connected(&mut out);
        let error = wire
            .receive(greeting, &mut out, &mut answer)
            .expect_err("the server is not PostgreSQL");
        assert_eq!(error.class.word(), "protocol", "{error}");
    }
}

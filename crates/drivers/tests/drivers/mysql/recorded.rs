//! Replays conversations recorded from real servers: the driver must send the same bytes and return the
//! same answers, however the received bytes are cut; damaged bytes must be refused.
//!
//! `ASSAY_TEST_RECORD=1` records them again from the installed servers (see `live`).

use assay_drivers::mysql::MysqlWire;
use assay_drivers::{Answer, Keep, Progress, SystemError, Wire};
use assay_values::Random;

use crate::fuzz::below;
use crate::mysql::client::Client;
use crate::mysql::conversation::{self, SERVERS, Step};
use crate::server::Server;
use crate::support::{Event, Replay, pieces, read, said, write};

#[test]
fn recorded_conversations_replay_whole_and_byte_by_byte() {
    for server in SERVERS {
        let events = read("mysql", server);
        for cut in [usize::MAX, 1, 3] {
            let hold = |keep| {
                let wire = MysqlWire::new(conversation::opening());
                let replay = Replay::new(&events, cut);
                let mut client = Client::open(replay, wire).expect("the session is accepted");
                conversation::hold(&mut client, &conversation::steps(), keep)
            };
            let expected = said(&events);
            assert_eq!(
                hold(Keep::Rows),
                expected,
                "{server}, {cut} bytes at a time"
            );
            let counts = expected.into_iter().map(conversation::counted);
            let counts: Vec<_> = counts.collect();
            assert_eq!(hold(Keep::Count), counts, "{server}, {cut} bytes at a time");
        }
    }
}

/// All bytes that a server sent.
fn received(server: &str) -> Vec<Vec<u8>> {
    let of_server = |event| match event {
        Event::Received(bytes) => Some(bytes),
        _ => None,
    };
    let events = read("mysql", server).into_iter();
    events.filter_map(of_server).collect()
}

/// The recorded greeting of a server, with or without the offer of TLS.
fn greeting(server: &str, offers_tls: bool) -> Vec<u8> {
    let mut greeting = received(server).swap_remove(0);
    let version = greeting[5..].iter().position(|&byte| byte == 0);
    let version = version.expect("a version ends");
    let flags = &mut greeting[5 + version + 15];
    *flags = if offers_tls { *flags | 8 } else { *flags & !8 };
    greeting
}

/// Before TLS is established the client sends only the request for it.
#[test]
fn tls_begins_before_the_user_name_is_sent() {
    let mut with_tls = conversation::opening();
    with_tls.wants_tls = true;
    for server in SERVERS {
        let (mut wire, mut out) = (MysqlWire::new(with_tls.clone()), Vec::new());
        let greeting = greeting(server, true);
        let received = wire.receive(&greeting, &mut out, &mut Answer::default());
        assert_eq!(received, Ok((greeting.len(), Progress::StartTls)));
        assert_eq!(out.len(), 36, "no name, no password");
        assert_eq!(&out[..4], &[32, 0, 0, 1][..], "no name, no password");
        out.clear();
        wire.secured(&mut out);
        assert_eq!(out[3], 2, "the next packet of the exchange");
        assert!(out.windows(5).any(|part| part == b"guest"));

        let injected = [&greeting[..], &[7, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0]].concat();
        let mut wire = MysqlWire::new(with_tls.clone());
        let refused = wire.receive(&injected, &mut Vec::new(), &mut Answer::default());
        let error = refused.expect_err("an OK unencrypted").message;
        assert!(error.contains("unencrypted"), "{error}");
    }
}

/// A man in the middle requests the plain password, in three ways; or hides that the server
/// offers TLS.
#[test]
fn a_password_is_never_sent_in_clear_text_without_tls() {
    let open = conversation::opening();
    let mut hoped_for_tls = conversation::opening();
    (hoped_for_tls.wants_tls, hoped_for_tls.is_private) = (true, true);
    for options in [open, hoped_for_tls] {
        let ask = |request: &[u8]| {
            let (mut wire, mut out) = (MysqlWire::new(options.clone()), Vec::new());
            let mut answer = Answer::default();
            let greeting = greeting("mysql", false);
            let greeted = wire.receive(&greeting, &mut out, &mut answer);
            greeted.expect("a greeting");
            out.clear();
            let length = u8::try_from(request.len()).expect("short");
            let message = [&[length, 0, 0, 2], request].concat();
            let heard = wire.receive(&message, &mut out, &mut answer);
            (heard.map_err(|error| error.message), out)
        };
        let (switched, out) = ask(b"\xfemysql_clear_password\0");
        assert!(switched.is_err_and(|error| error.contains("clear text")));
        assert!(out.is_empty());
        let (old, _) = ask(b"\xfe");
        assert!(old.is_err_and(|error| error.contains("mysql_old_password")));
        let (needed, out) = ask(b"\x01\x04");
        needed.expect("the server may require it");
        // A request for the server's key, not the password.
        assert_eq!(out, [1, 0, 0, 3, 2]);
    }
}

/// For any change of a server's bytes, the driver returns an answer or an error; it never panics or
/// hangs. The changes come from a fixed stream.
#[test]
fn damaged_bytes_never_cause_a_panic() {
    const ROUNDS: usize = 40_000;
    let mut stream = Random::stream(1, 0);
    let mut random = |end: usize| below(end, &mut stream);
    let mut refused = 0;
    for server in SERVERS {
        let sent = received(server).concat();
        for round in 0..ROUNDS {
            // Every other time lengths are unchanged, so that the damage is not found in the packet headers.
            let kinds = if round % 2 == 0 { 2 } else { 5 };
            let mut damaged = sent.clone();
            for _ in 0..1 + random(4) {
                let at = random(damaged.len().max(1));
                match random(kinds) {
                    _ if damaged.is_empty() => break,
                    0 => damaged[at] ^= 1 << random(8),
                    1 => damaged[at] = [0, 1, 0xFB, 0xFC, 0xFD, 0xFE, 0xFF][random(7)],
                    2 => damaged.truncate(at.max(1)),
                    3 => drop(damaged.drain(at..damaged.len().min(at + 1 + random(6)))),
                    _ => damaged
                        .splice(at..at, std::iter::repeat_n(0xFF, 1 + random(9)))
                        .for_each(drop),
                }
            }
            refused += usize::from(run_steps(&damaged).is_err());
        }
    }
    let all = ROUNDS * SERVERS.len();
    assert!(refused > all / 2, "{refused} of {all} were refused");
    assert!(refused < all, "{refused} of {all} were refused");
}

/// Runs the steps with bytes that no longer match them.
fn run_steps(sent: &[u8]) -> Result<(), SystemError> {
    let mut wire = MysqlWire::new(conversation::opening());
    let (mut out, mut answer, mut rest) = (Vec::new(), Answer::new(Keep::Rows), sent);
    let mut hear = |wire: &mut MysqlWire, out: &mut Vec<u8>| loop {
        let (used, progress) = wire.receive(rest, out, &mut answer)?;
        rest = &rest[used..];
        match progress {
            Progress::NeedMore if used == 0 => {
                return Err(SystemError::protocol("more", "nothing more"));
            }
            Progress::NeedMore => {}
            progress => return Ok(progress),
        }
    };
    hear(&mut wire, &mut out)?;
    for step in &conversation::steps() {
        out.clear();
        let pieces = match step {
            Step::Prepare(_, text) => pieces(text),
            _ => Vec::new(),
        };
        if wire.request(&step.request(&pieces), &mut out).is_err() {
            continue; // the damaged answer reported that the statement was not prepared
        }
        if let (Progress::BulkReady, Step::Load(_, _, rows)) = (hear(&mut wire, &mut out)?, step) {
            for row in rows {
                assert!(wire.bulk_row(row, &mut out).is_continue());
            }
            wire.bulk_end(None, &mut out);
            hear(&mut wire, &mut out)?;
        }
    }
    Ok(())
}

/// Not a test of the driver: makes the recordings if `ASSAY_TEST_RECORD` is set.
#[test]
fn recordings_are_made_on_request() {
    if std::env::var_os("ASSAY_TEST_RECORD").is_none() {
        return;
    }
    for (name, server) in SERVERS.iter().zip([Server::mariadb(), Server::mysql()]) {
        let Some(server) = server else { continue };
        let mut root = Client::root(&server, "");
        root.rows("CREATE DATABASE own");
        root.rows("CREATE USER 'guest'@'127.0.0.1' IDENTIFIED BY 'pass wörd'");
        root.rows("GRANT ALL ON own.* TO 'guest'@'127.0.0.1'");
        // A login before the recording, so that the server has cached the proof: a recording must not contain random bytes.
        let open = || Client::tcp(&server, conversation::opening()).expect("it is accepted");
        drop(open());
        let mut client = open();
        let answers = conversation::hold(&mut client, &conversation::steps(), Keep::Rows);
        answers.into_iter().for_each(|answer| client.say(answer));
        write("mysql", name, &client.events);
    }
}

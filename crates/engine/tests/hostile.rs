//! Servers that break their protocol, or speak none: whatever they send, a session or a run ends in time and
//! with an error, and its memory stays bounded. Every wire driver of the registry is tried.
//!
//! A program of its own, whose memory is that of these tests alone.

#![expect(clippy::unwrap_used, reason = "in a test a panic is the message")]

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::ops::ControlFlow;
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::Duration;

use assay_drivers::registry::{DRIVERS, SessionKind};
use assay_engine::{
    DeploymentDocument, DriveDocument, ServeDocument, Session, drive, null_protocols,
    null_protocols_in, serve,
};
use assay_values::Random;
use serde_json::{Value, json};

/// The limit after which something counts as hung.
const HANG: Duration = Duration::from_secs(60);
/// More than all tests of this program need.
const MOST_RESIDENT_BYTES: u64 = 300 * 1024 * 1024;

const FLOOD_BYTES: usize = 4 * 1024 * 1024;

fn wire_drivers() -> impl Iterator<Item = &'static str> {
    let is_wire = |sessions| matches!(sessions, SessionKind::Wire(_));
    (DRIVERS
        .iter()
        .filter(move |driver| is_wire(driver.sessions)))
    .map(|driver| driver.name)
}

/// Tries all of them at the same time: most tries wait for a time-out.
fn each_wire_driver(attempt: impl Fn(&'static str) + Sync) {
    std::thread::scope(|scope| {
        for driver in wire_drivers() {
            let attempt = &attempt;
            scope.spawn(move || attempt(driver));
        }
    });
}

/// Runs `work` in a thread of its own. Panics where it takes too long.
fn in_time<T: Send + 'static>(what: &str, work: impl FnOnce() -> T + Send + 'static) -> T {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || sender.send(work()));
    match receiver.recv_timeout(HANG) {
        Ok(done) => done,
        Err(error) => panic!("{what}: {error}"),
    }
}

/// A server on a port of its own: `speak` gets each connection. It ends with the test program.
fn peer(speak: impl Fn(TcpStream) + Send + Sync + 'static) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let speak = Arc::new(speak);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let speak = Arc::clone(&speak);
            std::thread::spawn(move || speak(stream));
        }
    });
    port
}

fn deployment(driver: &str, port: u16) -> Value {
    json!({ "driver": driver, "host": "127.0.0.1", "port": port, "user": "u", "password": "p",
            "database": "d", "connect_timeout_s": 1.5, "answer_timeout_s": 1.5 })
}

fn open(deployment: &Value) -> Result<String, String> {
    let document = DeploymentDocument::parse(&deployment.to_string()).unwrap();
    match Session::open(&document) {
        Ok(session) => Ok(session.server_version().to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

/// Writes the bytes again and again until the client has had enough.
fn endlessly(mut stream: TcpStream, first: &[u8], again: &[u8]) {
    let block = again.repeat(1 + 65_536 / again.len());
    if stream.write_all(first).is_ok() {
        while stream.write_all(&block).is_ok() {}
    }
}

/// Writes the bytes, and waits for the client to close the connection.
fn once(mut stream: TcpStream, bytes: &[u8]) {
    let _ = stream.write_all(bytes);
    while stream.read(&mut [0; 4096]).is_ok_and(|count| count > 0) {}
}

#[expect(clippy::cast_possible_truncation, reason = "any byte will do")]
fn noise(seed: u64, length: usize) -> Vec<u8> {
    let mut random = Random::stream(seed, 0);
    std::iter::repeat_with(|| random.next() as u8)
        .take(length)
        .collect()
}

fn resident_peak_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    let number = line.unwrap().split_whitespace().nth(1).unwrap();
    number.parse::<u64>().unwrap() * 1024
}

fn memory_is_bounded(after: &str) {
    let peak = resident_peak_bytes();
    assert!(peak < MOST_RESIDENT_BYTES, "{after}: {peak} bytes at most");
}

#[test]
fn a_session_with_what_is_no_server_ends_with_an_error() {
    /// The beginnings of messages that are longer than any, in the lengths of several protocols.
    const LONG: [&[u8]; 6] = [
        b"R\x7f\xff\xff\xff",
        b"E\x7f\xff\xff\xff",
        b"\xff\xff\xff\x00",
        b"\x84\0\0\0\x06\x7f\xff\xff\xff",
        b"\xff\xff\xff\x7f\x01\0\0\0\0\0\0\0\xdd\x07\0\0",
        b"99999999999999999999",
    ];
    each_wire_driver(|driver| {
        let fails = |what: &str, port: u16| {
            let (deployment, what) = (deployment(driver, port), format!("{driver}, {what}"));
            let message = in_time(&what, move || open(&deployment)).expect_err(&what);
            memory_is_bounded(&what);
            message
        };
        let says = |what: &str, port: u16, words: &str| {
            let message = fails(what, port);
            assert!(message.contains(words), "{driver}, {what}: {message}");
        };
        let silent = peer(|stream| once(stream, b""));
        says("silence", silent, "the server sent nothing");
        fails("closed at once", peer(drop));
        let words = b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n";
        let http = peer(move |stream| once(stream, words));
        says("HTTP", http, "an HTTP server answers there");
        // Byte by byte, and then no more.
        let slow = peer(|mut stream| {
            for byte in b"HTTP/1.1 4" {
                std::thread::sleep(Duration::from_millis(1));
                let _ = stream.write_all(&[*byte]);
            }
            once(stream, b"");
        });
        says("slow HTTP", slow, "HTTP");
        let alert = peer(|stream| once(stream, b"\x15\x03\x01\0\x02\x02\x28"));
        says("TLS", alert, "begins with TLS");
        let other = peer(|stream| once(stream, b"220 mail.example ESMTP ready\r\n"));
        says(
            "another protocol",
            other,
            "\"220 mail.example ESMTP ready\"",
        );
        let zeros = peer(|stream| endlessly(stream, &[], &[0]));
        says("zeros without end", zeros, "the bytes 00 00 00");
        for byte in [1_u8, 0x0a, 0x30, 0x4e, 0x84, 0xff] {
            let what = format!("{byte:#x} without end");
            fails(&what, peer(move |stream| endlessly(stream, &[], &[byte])));
        }
        fails(
            "notices without end",
            peer(|stream| endlessly(stream, &[], b"N\0\0\0\x05\0")),
        );
        for first in LONG {
            let what = format!("a message of {first:x?}");
            fails(&what, peer(move |stream| endlessly(stream, first, b"\0x")));
        }
        // All at the same time: a length at random has a client wait for the rest.
        std::thread::scope(|scope| {
            for seed in 0..20 {
                scope.spawn(move || {
                    let what = format!("noise {seed}");
                    fails(&what, peer(move |stream| once(stream, &noise(seed, 4000))));
                });
            }
        });
        let flood = noise(99, 60_000);
        fails(
            "noise without end",
            peer(move |stream| endlessly(stream, &[], &flood)),
        );
    });
}

/// A null server of this protocol; ended by the flag.
fn null_server(protocol: &'static str) -> (tempfile::TempDir, String, Arc<AtomicBool>) {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("null.sock").display().to_string();
    let text = json!({ "protocol": protocol, "unix": socket, "threads": 1,
                       "options": { "rows": "50" } });
    let is_over = Arc::new(AtomicBool::new(false));
    let end = Arc::clone(&is_over);
    let (ready_sender, ready_receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let serving = ServeDocument::parse(&text.to_string()).unwrap();
        let mut ready = |_: &_| {
            ready_sender.send(()).unwrap();
            ControlFlow::Continue(())
        };
        serve(
            &serving,
            &mut ready,
            &mut || match end.load(Ordering::Relaxed) {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            },
        )
    });
    ready_receiver.recv_timeout(HANG).unwrap();
    (folder, socket, is_over)
}

#[test]
fn a_server_of_another_protocol_is_an_error() {
    for protocol in null_protocols() {
        let (folder, socket, is_over) = null_server(protocol);
        each_wire_driver(|driver| {
            if driver == protocol {
                return;
            }
            let what = format!("{driver} with a server of {protocol}");
            let deployment = json!({ "driver": driver, "unix": socket, "user": "u", "password": "p",
                               "database": "d", "connect_timeout_s": 1.5 });
            let message = in_time(&what, move || open(&deployment)).expect_err(&what);
            // These speak first, so that every client can tell.
            let speaking_first = [("mysql", "mariadb://"), ("msql", "msql://")];
            if let Some((_, scheme)) = speaking_first.iter().find(|(name, _)| *name == protocol) {
                let found = format!(" answers there: {scheme} in the URL");
                assert!(message.contains(&found), "{what}: {message}");
            }
        });
        is_over.store(true, Ordering::Relaxed);
        drop(folder);
    }
}

/// A server that refuses a client at once may have closed the socket before the client has sent anything.
#[test]
fn what_a_server_says_before_it_closes_is_reported() {
    #[rustfmt::skip]
    let refusals: [(&str, &[u8]); 3] = [
        ("postgresql", b"E\0\0\0\x2cSFATAL\0C53300\0Msorry, too many clients\0\0"),
        ("mysql", b"\x1e\0\0\0\xff\x10\x04sorry, too many connections"),
        ("msql", b"\x1b\0\0\0-1:sorry, too many clients\n"),
    ];
    for (driver, refusal) in refusals {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("s");
        let listener = UnixListener::bind(&socket).unwrap();
        std::thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                let _ = stream.write_all(refusal);
            }
        });
        let deployment = json!({ "driver": driver, "unix": socket, "user": "u", "database": "d" });
        for _ in 0..100 {
            let message = open(&deployment).unwrap_err();
            assert!(message.contains("sorry, too many"), "{driver}: {message}");
        }
    }
}

/// A server that a client has logged in to, and that sends short messages without an end: those that answer
/// nothing are passed over, and the client still looks at the clock.
#[test]
fn messages_without_end_do_not_keep_a_client_from_its_deadline() {
    const LOGIN: &[u8] = b"R\0\0\0\x08\0\0\0\0Z\0\0\0\x05I";
    const NOTICE: &[u8] = b"N\0\0\0\x0cMhello\0\0";
    let port = peer(|mut stream| {
        let _ = stream.read(&mut [0; 4096]);
        let _ = stream.write_all(LOGIN);
        let _ = stream.read(&mut [0; 4096]);
        endlessly(stream, b"", NOTICE);
    });
    let deployment = deployment("postgresql", port);
    let document = json!({
        "deployment": deployment, "scripts": [{ "name": "A", "path": "A.sql", "text": "SELECT 1;\n" }],
        "order": "sequence", "clients": 1, "threads": 1, "stop": { "passes": 1 },
        "drain_s": 0.2, "statement_timeout_s": 0.3, "seed": 1, "protocol": "simple",
    });
    let run = in_time("notices without end", move || {
        let document = DriveDocument::parse(&document.to_string()).unwrap();
        drive(&document, &mut |_| ControlFlow::Continue(()), &mut || {
            ControlFlow::Continue(None)
        })
    });
    assert_eq!(run.unwrap().outcomes.unknown, 1);
    let message = in_time("a session", move || {
        let document = DeploymentDocument::parse(&deployment.to_string()).unwrap();
        let mut session = Session::open(&document).unwrap();
        session.execute("SELECT 1").unwrap_err().to_string()
    });
    assert!(message.contains("did not answer a query"), "{message}");
    memory_is_bounded("notices without end");
}

/// What happens to the answers of a server on their way.
#[derive(Clone, Copy, Debug)]
enum Damage {
    /// The connection ends.
    Cut,
    /// It goes no further, and the connection stays.
    Stopped,
    /// A byte has other bits.
    Changed,
    /// Bytes that the server did not send.
    Added,
    /// A length beyond all bounds, and many bytes: a server that a client has logged in to may send messages of
    /// a gigabyte.
    Flooded,
}

const DAMAGES: [Damage; 5] =
    [Damage::Cut, Damage::Stopped, Damage::Changed, Damage::Added, Damage::Flooded];

/// Passes the bytes of a client on, and those of the server with this damage behind so many of them.
fn damaged(client: TcpStream, socket: &str, behind: usize, damage: Damage) {
    let Ok(server) = UnixStream::connect(socket) else {
        return;
    };
    let (mut from_client, mut to_server) =
        (client.try_clone().unwrap(), server.try_clone().unwrap());
    std::thread::spawn(move || {
        let _ = std::io::copy(&mut from_client, &mut to_server);
        let _ = to_server.shutdown(Shutdown::Both);
    });
    let (mut from_server, mut to_client) = (server, client);
    let (mut buffer, mut passed) = ([0; 4096], 0);
    while let Ok(count @ 1..) = from_server.read(&mut buffer) {
        let bytes = &mut buffer[..count];
        let at = behind.wrapping_sub(passed);
        passed += count;
        if at >= count {
            if to_client.write_all(bytes).is_err() {
                return;
            }
            continue;
        }
        let written = match damage {
            Damage::Changed => {
                bytes[at] ^= 0x5a;
                to_client.write_all(bytes)
            }
            Damage::Added => {
                to_client.write_all(&[&bytes[..at], &[0xff, 0, 0x7f, 1], &bytes[at..]].concat())
            }
            Damage::Cut => {
                let _ = to_client.write_all(&bytes[..at]);
                let _ = to_client.shutdown(Shutdown::Both);
                return;
            }
            Damage::Stopped => {
                let _ = to_client.write_all(&bytes[..at]);
                return once(to_client, b"");
            }
            Damage::Flooded => {
                let first = [&bytes[..at], &[0x7f, 0xff, 0xff, 0xff]].concat();
                let rest = [0x7f, 0xff, 0xff, 0xff, 0].repeat(FLOOD_BYTES / 5);
                let _ = to_client.set_write_timeout(Some(Duration::from_secs(5)));
                return once(to_client, &[first, rest].concat());
            }
        };
        if written.is_err() {
            return;
        }
    }
}

#[test]
fn a_run_whose_answers_are_damaged_ends_and_counts_every_transaction() {
    let statements = [
        ("sql", "SELECT a FROM t WHERE id = :id"),
        ("json", "{\"find\": \"t\", \"filter\": {\"id\": :id}}"),
    ];
    let drivers = statements.iter().flat_map(|(language, statement)| {
        let drivers = null_protocols_in(language).into_iter();
        drivers.map(move |driver| (driver, *language, *statement))
    });
    // All at the same time: a stopped answer has a client wait for a time-out.
    std::thread::scope(|scope| {
        for (driver, language, statement) in drivers {
            scope.spawn(move || try_damages(driver, language, statement));
        }
    });
}

fn try_damages(driver: &'static str, language: &str, statement: &str) {
    const EACH: u64 = 8;
    let (folder, socket, is_over) = null_server(driver);
    for (number, damage) in (0_u64..).zip(DAMAGES) {
        for round in 0..EACH {
            let mut random = Random::stream(number * EACH + round, 7);
            let behind = usize::try_from(random.between(0, 3000)).unwrap();
            let what = format!("{driver}, {damage:?} behind {behind} bytes");
            let to = socket.clone();
            let port = peer(move |stream| damaged(stream, &to, behind, damage));
            let document = json!({
                "deployment": deployment(driver, port),
                "scripts": [{ "name": "A", "path": "A.sql",
                              "text": format!("\\set id random(1, 9)\n{statement};\n") }],
                "lexer": language, "order": "sequence", "clients": 2, "threads": 1, "protocol": "prepared",
                "stop": { "passes": 10 }, "drain_s": 0.2, "statement_timeout_s": 0.3,
                "digest": true, "seed": 1,
            });
            let ended = in_time(&what, move || {
                let document = DriveDocument::parse(&document.to_string()).unwrap();
                drive(&document, &mut |_| ControlFlow::Continue(()), &mut || {
                    ControlFlow::Continue(None)
                })
                .map_err(|error| error.to_string())
            });
            // A session that cannot be opened is an error of the run.
            if let Ok(run) = ended {
                let outcomes = &run.outcomes;
                let all = outcomes.ok + outcomes.failed + outcomes.unknown + outcomes.skipped;
                assert_eq!(outcomes.scheduled, all, "{what}");
            }
            memory_is_bounded(&what);
        }
    }
    is_over.store(true, Ordering::Relaxed);
    drop(folder);
}

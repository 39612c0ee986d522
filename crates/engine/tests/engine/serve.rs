//! The null servers, driven by the engine's clients over real sockets.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use assay_engine::{ServeDocument, Served, null_protocols_in, serve};
use serde_json::{Value, json};

use crate::support::{driven, outcomes, session};

/// Ends the server also when a test fails, which waits for its thread.
struct EndOnDrop<'a>(&'a AtomicBool);

impl Drop for EndOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Runs `act` with a server of the protocol with these options; returns what it served.
#[expect(
    clippy::needless_pass_by_value,
    reason = "callers write the JSON in place"
)]
pub fn served(protocol: &str, options: Value, act: impl FnOnce(Value)) -> Served {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("null.sock");
    let text = json!({ "protocol": protocol, "unix": socket, "threads": 2, "options": options });
    let serving = ServeDocument::parse(&text.to_string()).unwrap();
    let is_over = AtomicBool::new(false);
    let (ready_sender, ready_receiver) = mpsc::channel();
    let served = std::thread::scope(|scope| {
        let server = scope.spawn(|| {
            let mut ready = |_: &_| {
                ready_sender.send(()).unwrap();
                ControlFlow::Continue(())
            };
            serve(&serving, &mut ready, &mut || {
                if is_over.load(Ordering::Relaxed) {
                    ControlFlow::Break(())
                } else {
                    ControlFlow::Continue(())
                }
            })
        });
        ready_receiver.recv().unwrap();
        let end = EndOnDrop(&is_over);
        act(json!({ "driver": protocol, "unix": socket, "user": "test" }));
        drop(end);
        server.join().unwrap()
    });
    assert!(!socket.exists(), "the socket is removed with the server");
    served.unwrap()
}

#[test]
fn every_statement_of_many_clients_is_answered() {
    for protocol in null_protocols_in("sql") {
        let served = served(
            protocol,
            json!({ "delay": "uniform:0ms..2ms" }),
            |deployment| {
                let more = json!({ "clients": 100, "threads": 2, "stop": { "transactions": 20 },
                               "protocol": "prepared" });
                let script = "\\set id random(1, 9)\nSELECT a FROM t WHERE id = :id;\n";
                let observation = driven(deployment, &[script], more);
                assert_eq!(outcomes(&observation), (2000, 0, 0, 0), "{protocol}");
            },
        );
        assert_eq!((served.sessions, served.refused), (100, 0), "{protocol}");
        assert_eq!(served.statements, 2000, "{protocol}");
    }
}

/// More rows than a socket buffers: the server waits until they are read, and continues.
#[test]
fn a_large_answer_is_sent_as_fast_as_it_is_read() {
    for protocol in null_protocols_in("sql") {
        served(protocol, json!({ "rows": "500000" }), |deployment| {
            let mut session = session(&deployment);
            for _ in 0..2 {
                let answer = session.execute("SELECT a, b FROM t").unwrap();
                assert_eq!(answer.rows, 500_000, "{protocol}");
                assert_eq!(answer.kept[499_999][1].as_deref(), Some(&b"500000"[..]));
            }
        });
    }
}

/// Neither the client nor the server may copy the statement again with each piece: that took minutes.
#[test]
fn a_statement_of_200_megabytes_is_sent_and_received_fast() {
    let mut sent = 0;
    for protocol in null_protocols_in("sql") {
        served(protocol, json!({}), |deployment| {
            let mut session = session(&deployment);
            let statement = format!("SELECT '{}'", "x".repeat(200_000_000));
            let begun = Instant::now();
            match session.execute(&statement) {
                Ok(answer) => {
                    assert_eq!(answer.rows, 1, "{protocol}");
                    sent += 1;
                }
                // The protocol has no room for it.
                Err(error) => assert!(error.to_string().contains("takes at most"), "{error}"),
            }
            assert!(begun.elapsed() < Duration::from_secs(120), "{protocol}");
            // Session and server still work, and have released the memory.
            assert_eq!(session.execute("SELECT 1").unwrap().rows, 1, "{protocol}");
        });
    }
    assert!(sent >= 2, "PostgreSQL and MySQL have room for it");
}

#[test]
fn a_client_that_disconnects_in_a_long_statement_frees_its_place() {
    for protocol in null_protocols_in("sql") {
        let options = json!({ "delay": "constant:60s", "refuse_after": "1" });
        served(protocol, options, |deployment| {
            let impatient = json!({ "statement_timeout_s": 0.1, "stop": { "transactions": 1 } });
            let observation = driven(deployment.clone(), &["SELECT 1"], impatient.clone());
            assert_eq!(outcomes(&observation).3, 1, "{protocol}: unknown");
            // The server needs a moment to notice that the client has disconnected.
            let again = || driven(deployment.clone(), &["SELECT 1"], impatient.clone());
            let is_accepted = std::iter::repeat_with(again)
                .take(100)
                .any(|again| again.ended_by.word() == observation.ended_by.word());
            assert!(is_accepted, "{protocol}: refused each time");
        });
    }
}

//! The null servers, driven by our own clients over real sockets.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use assay_engine::{ServeDocument, Served, Session, SiteDocument, null_protocols, serve};
use serde_json::{Value, json};

use crate::support::{document, observe, outcomes};

/// Lets `act` work with a server of the protocol that is told these options; gives what it served.
pub fn served(protocol: &str, options: Value, act: impl FnOnce(Value)) -> Served {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("null.sock");
    let text = json!({ "protocol": protocol, "unix": socket, "threads": 2, "options": options });
    let serving = ServeDocument::parse(&text.to_string()).unwrap();
    let is_over = AtomicBool::new(false);
    let (tell, listens) = mpsc::channel();
    let served = std::thread::scope(|scope| {
        let server = scope.spawn(|| {
            let mut ready = |_: &_| {
                tell.send(()).unwrap();
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
        listens.recv().unwrap();
        act(json!({ "driver": protocol, "unix": socket, "user": "anybody" }));
        is_over.store(true, Ordering::Relaxed);
        server.join().unwrap()
    });
    assert!(!socket.exists(), "the socket goes away with the server");
    served.unwrap()
}

#[test]
fn every_statement_of_many_clients_is_answered() {
    for protocol in null_protocols() {
        let served = served(protocol, json!({ "delay": "uniform:0ms..2ms" }), |site| {
            let more = json!({ "clients": 100, "threads": 2, "stop": { "transactions": 20 },
                               "protocol": "prepared" });
            let script = "\\set id random(1, 9)\nSELECT a FROM t WHERE id = :id;\n";
            let observation = observe(&document(site, &[script], more));
            assert_eq!(outcomes(&observation), (2000, 0, 0, 0), "{protocol}");
        });
        assert_eq!((served.sessions, served.refused), (100, 0), "{protocol}");
        assert_eq!(served.statements, 2000, "{protocol}");
    }
}

/// More rows than a socket holds: the server waits until they are taken, and goes on.
#[test]
fn a_large_answer_is_sent_as_fast_as_it_is_read() {
    for protocol in null_protocols() {
        served(protocol, json!({ "rows": "500000" }), |site| {
            let site = SiteDocument::parse(&site.to_string()).unwrap();
            let mut session = Session::open(&site).unwrap();
            for _ in 0..2 {
                let answer = session.execute("SELECT a, b FROM t").unwrap();
                assert_eq!(answer.rows, 500_000, "{protocol}");
                assert_eq!(answer.kept[499_999][1].as_deref(), Some(&b"500000"[..]));
            }
        });
    }
}

/// Neither the client that sends it nor the server that gathers it moves its bytes again with each piece:
/// that took minutes.
#[test]
fn one_statement_of_200_megabytes_is_sent_and_read_in_a_moment() {
    for protocol in null_protocols() {
        served(protocol, json!({}), |site| {
            let site = SiteDocument::parse(&site.to_string()).unwrap();
            let mut session = Session::open(&site).unwrap();
            let statement = format!("SELECT '{}'", "x".repeat(200_000_000));
            let begun = Instant::now();
            let answer = session.execute(&statement).unwrap();
            assert_eq!(answer.rows, 1, "{protocol}");
            assert!(begun.elapsed() < Duration::from_secs(20), "{protocol}");
            // The session and the server go on, and hold nothing of it.
            assert_eq!(session.execute("SELECT 1").unwrap().rows, 1, "{protocol}");
        });
    }
}

#[test]
fn a_client_that_goes_away_in_a_long_statement_leaves_its_place() {
    for protocol in null_protocols() {
        let told = json!({ "delay": "constant:60s", "refuse_after": "1" });
        served(protocol, told, |site| {
            let impatient = json!({ "statement_timeout_s": 0.1, "stop": { "transactions": 1 } });
            let observation = observe(&document(site.clone(), &["SELECT 1"], impatient.clone()));
            assert_eq!(outcomes(&observation).3, 1, "{protocol}: unknown");
            // The server needs a moment to see that it has gone.
            let again = || observe(&document(site.clone(), &["SELECT 1"], impatient.clone()));
            let is_let_in = std::iter::repeat_with(again)
                .take(100)
                .any(|again| again.ended_by.word() == observation.ended_by.word());
            assert!(is_let_in, "{protocol}: refused each time");
        });
    }
}

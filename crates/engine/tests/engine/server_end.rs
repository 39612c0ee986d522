//! A server that refuses connections, crashes, or does not run.

use std::ops::ControlFlow;

use assay_engine::{Session, probe};
use serde_json::json;

use crate::support::server::Server;
use crate::support::{deployed, document, driven, ended, the_error, watched};

#[test]
fn a_server_that_crashes_ends_the_run_as_lost() {
    let Some(mut server) = Server::start(&[]) else {
        return;
    };
    let crashing = document(
        server.deployment(),
        &["SELECT 1;", "SELECT pg_sleep(0.001);"],
        json!({ "clients": 16, "threads": 2, "stop": { "duration_s": 600 } }),
    );
    let mut is_alive = true;
    let run = watched(&crashing, |progress| {
        if progress.done > 100 && is_alive {
            server.crash();
            is_alive = false;
        }
        ControlFlow::Continue(())
    });
    assert_eq!((run.ended_by.word(), ended(&run, "lost")), ("lost", 16));
    assert!(run.outcomes.ok > 100);
    // Transactions that waited for an answer have an unknown outcome.
    assert!(
        (1..=16).contains(&run.outcomes.unknown),
        "{:?}",
        run.outcomes
    );
    assert!(
        run.errors
            .iter()
            .all(|error| error.class == "lost connection"),
        "{:?}",
        run.errors
    );
}

#[test]
fn all_clients_try_a_full_server_and_nothing_is_run() {
    let Some(server) = Server::start(&["max_connections=20"]) else {
        return;
    };
    let run = driven(
        server.deployment(),
        &["SELECT 1;"],
        json!({ "clients": 40, "threads": 2, "stop": { "passes": 5 } }),
    );
    assert_eq!(run.ended_by.word(), "refused");
    assert_eq!(run.outcomes.scheduled, 0);
    let error = the_error(&run);
    assert_eq!(error.class, "too many connections");
    assert_eq!(error.count, ended(&run, "refused") as u64);
    // Other sessions may use some of the 20, so that a few more than 20 of the 40 are refused.
    assert!((20..=25).contains(&error.count), "{error:?}");

    // Sessions of the previous run may still be closing.
    let deployment = deployed(&server.deployment());
    let found = std::iter::repeat_with(|| {
        probe(&deployment, 40, &mut || ControlFlow::Continue(())).unwrap()
    })
    .take(50)
    .inspect(|_| std::thread::sleep(std::time::Duration::from_millis(20)))
    .find(|found| found.opened == 20)
    .expect("the server has 20 places, superusers' included");
    assert_eq!(found.refused_at, Some(21));
    assert_eq!(found.error.unwrap().class, "too many connections");
}

#[test]
fn an_address_without_a_server_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let deployment = json!({ "driver": "postgresql", "unix": folder.path().join("socket") });
    let run = driven(deployment.clone(), &["SELECT 1;"], json!({ "clients": 3 }));
    assert_eq!(run.ended_by.word(), "refused");
    let error = &run.errors[0];
    assert_eq!(error.class, "connection refused");
    assert!(error.message.contains("socket"), "{error:?}");

    let message = Session::open(&deployed(&deployment))
        .err()
        .unwrap()
        .to_string();
    assert!(message.contains("opening a session"), "{message}");
    assert!(message.contains("socket"), "{message}");
}

#[test]
fn connecting_to_a_silent_server_times_out() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let deployment = json!({
        "driver": "postgresql", "host": "localhost", "connect_timeout_s": 0.3,
        "port": listener.local_addr().unwrap().port(),
    });
    let run = driven(deployment, &["SELECT 1;"], json!({ "clients": 2 }));
    assert_eq!(run.ended_by.word(), "refused");
    assert_eq!(the_error(&run).class, "timeout");
    assert!(run.connect_ns >= 300_000_000);
}

#[test]
fn statements_of_abandoned_transactions_are_cancelled_on_the_server() {
    let Some(server) = Server::start(&[]) else {
        return;
    };
    let more = json!({ "clients": 3, "threads": 2, "stop": { "duration_s": 0.2 }, "drain_s": 0.2 });
    let run = driven(server.deployment(), &["SELECT pg_sleep(600);"], more);
    let unfinished = run.unfinished.unwrap();
    assert_eq!((unfinished.transactions, unfinished.cancelled), (3, 3));
}

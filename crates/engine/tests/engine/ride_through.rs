//! A server crashes in the middle of a run, and is restarted or not.

use std::time::Duration;

use assay_engine::Observation;
use serde_json::{Value, json};

use crate::support::quiet::on_a_quiet_machine;
use crate::support::server::Server;
use crate::support::{document, driven, ended, null_deployment, observe, outcomes, the_error};

/// Runs while the server crashes after `crash_s`, and is restarted after `start_s`, if given.
fn while_it_crashes(more: Value, crash_s: f64, start_s: Option<f64>) -> Option<Observation> {
    let mut server = Server::start(&[])?;
    server.session().execute("CREATE TABLE t (n int)").unwrap();
    let crashing = document(
        server.deployment(),
        &["SELECT 1; INSERT INTO t VALUES (1);"],
        more,
    );
    let driving = std::thread::spawn(move || observe(&crashing));
    let wait = |seconds| std::thread::sleep(Duration::from_secs_f64(seconds));
    wait(crash_s);
    server.crash();
    if let Some(start_s) = start_s {
        wait(start_s - crash_s);
        server.restart();
    }
    Some(driving.join().unwrap())
}

#[test]
fn a_run_survives_a_restart_which_shows_as_an_outage() {
    on_a_quiet_machine(|| {
        let more = json!({
            "clients": 4, "reconnect": { "after_loss": true }, "stop": { "duration_s": 6 },
        });
        // Long enough to include a whole second, wherever the crash falls in one.
        let Some(run) = while_it_crashes(more, 1.0, Some(3.2)) else {
            return;
        };
        assert_eq!((run.ended_by.word(), ended(&run, "done")), ("stop", 4));
        assert_eq!(run.reconnects, 4);
        assert!((1..=4).contains(&(run.outcomes.unknown + run.outcomes.failed)));
        let [outage] = run.outages[..] else {
            panic!("{:?}", run.outages)
        };
        assert!(outage.to_ns - outage.from_ns > 1_500_000_000, "{outage:?}");
        // A second without a running server from start to end.
        let hole = run.intervals.iter().find(|line| line.ok == 0).unwrap();
        assert_eq!(hole.clients_connected, 0);
        assert!(run.intervals.iter().any(|line| line.clients_connected == 4));
        assert!(run.intervals.last().unwrap().ok > 0);
    });
}

#[test]
fn in_an_open_loop_an_outage_is_in_the_latency_of_the_arrivals_meanwhile() {
    on_a_quiet_machine(|| {
        let more = json!({
            "clients": 4, "reconnect": { "after_loss": true },
            "arrival": { "kind": "constant", "offered_rate_per_s": 100 },
            "stop": { "duration_s": 6 },
        });
        let Some(run) = while_it_crashes(more, 1.0, Some(2.6)) else {
            return;
        };
        assert_eq!(run.outcomes.scheduled, 600);
        assert!(
            run.outcomes.unknown + run.outcomes.failed <= 4,
            "{:?}",
            run.outcomes
        );
        assert!(run.outcomes.skipped < 20, "{:?}", run.outcomes);
        // A quarter of all came during the outage, and waited for up to its whole length.
        assert!(run.all_ok.latency.p90_ns.unwrap() > 500_000_000);
        assert!(run.all_ok.service_time.p90_ns.unwrap() < 300_000_000);
    });
}

#[test]
fn clients_that_cannot_reconnect_end_and_their_arrivals_are_skipped() {
    on_a_quiet_machine(|| {
        let more = json!({
            "clients": 3, "reconnect": { "after_loss": true, "timeout_s": 0.5 },
            "arrival": { "kind": "constant", "offered_rate_per_s": 100 },
            "stop": { "duration_s": 30 },
        });
        let Some(run) = while_it_crashes(more, 1.0, None) else {
            return;
        };
        assert_eq!((run.ended_by.word(), ended(&run, "lost")), ("lost", 3));
        assert!(run.elapsed_ns < 10_000_000_000, "{}", run.elapsed_ns);
        // All arrivals that were due before the last of them ended.
        let due = run.elapsed_ns / 10_000_000;
        assert!(
            run.outcomes.scheduled.abs_diff(due) <= 1,
            "{:?}",
            run.outcomes
        );
        assert!(run.outcomes.skipped > 10, "{:?}", run.outcomes);
        assert_eq!(run.outages.len(), 1);
        assert_eq!(run.intervals.last().unwrap().clients_connected, 0);
    });
}

#[test]
fn with_a_session_for_each_transaction_a_run_survives_without_reconnecting() {
    on_a_quiet_machine(|| {
        let more = json!({
            "clients": 2, "connect_each_transaction": true, "stop": { "duration_s": 5 },
        });
        let Some(run) = while_it_crashes(more, 1.0, Some(2.0)) else {
            return;
        };
        assert_eq!((run.ended_by.word(), ended(&run, "done")), ("stop", 2));
        assert!(run.outcomes.failed > 10, "{:?}", run.outcomes);
        assert_eq!(run.outages.len(), 1, "{:?}", run.outages);
        assert!(run.intervals.last().unwrap().ok > 0);
    });
}

// Lost sessions, a session for each transaction, and clients that reconnect.

#[test]
fn a_client_whose_session_was_lost_reconnects_and_continues() {
    let deployment = null_deployment("return", json!({ "lose": "#5" }));
    let more = json!({
        "clients": 2, "reconnect": { "after_loss": true }, "stop": { "transactions": 12 },
    });
    let run = driven(deployment, &["SELECT 1;"], more);
    // Each session runs four transactions and loses the fifth; the last one runs two.
    assert_eq!(outcomes(&run), (20, 0, 0, 4));
    assert_eq!((run.reconnects, ended(&run, "done")), (4, 2));
    assert_eq!(the_error(&run).class, "lost connection");
    assert_eq!(run.ended_by.word(), "stop");
}

#[test]
fn a_transaction_that_is_lost_before_its_commit_is_known_to_be_undone() {
    for (lost_at, expected) in [(1, (0, 0, 1, 0)), (2, (0, 0, 1, 0)), (3, (0, 0, 0, 1))] {
        let deployment = null_deployment("undone", json!({ "lose": format!("#{lost_at}") }));
        let text = "BEGIN; UPDATE t SET a = 1; COMMIT;";
        let run = driven(deployment, &[text], json!({}));
        assert_eq!(outcomes(&run), expected, "lost at statement {lost_at}");
        assert_eq!(run.client_ends[0].state.word(), "lost");
    }
}

#[test]
fn each_transaction_may_have_its_own_session() {
    // In a shared session the second statement would fail.
    let deployment = null_deployment("own", json!({ "fail": "data@#2" }));
    let more = json!({ "clients": 3, "connect_each_transaction": true, "stop": { "passes": 20 } });
    let run = driven(deployment.clone(), &["SELECT 1;"], more);
    assert_eq!(outcomes(&run), (60, 0, 0, 0));
    assert_eq!(run.reconnects, 0);

    // Transactions whose session is refused fail and are counted; the others run.
    let mut refusing = document(
        null_deployment("own refused", json!({ "delay": "constant:5ms" })),
        &["SELECT 1;"],
        json!({ "clients": 4, "connect_each_transaction": true, "stop": { "passes": 10 } }),
    );
    refusing["deployment"]["options"]["refuse_after"] = json!("2");
    let run = observe(&refusing);
    let (ok, _, failed, _) = outcomes(&run);
    assert_eq!((ok + failed, ended(&run, "done")), (40, 4));
    assert!(ok > 0 && failed > 0, "{:?}", run.outcomes);
    let error = the_error(&run);
    assert_eq!((error.class, error.count), ("too many connections", failed));
    assert!(error.transaction.is_some());
}

#[test]
fn in_an_open_loop_arrivals_wait_for_clients_to_reconnect() {
    let deployment = null_deployment("open loss", json!({ "lose": "#10" }));
    let more = json!({
        "clients": 2, "reconnect": { "after_loss": true },
        "arrival": { "kind": "constant", "offered_rate_per_s": 200 },
        "stop": { "transactions": 50 },
    });
    let run = driven(deployment, &["SELECT 1;"], more);
    assert_eq!((run.outcomes.scheduled, run.outcomes.skipped), (100, 0));
    assert_eq!(run.outcomes.ok, 100 - run.outcomes.unknown);
    assert!(run.outcomes.unknown >= 9, "{:?}", run.outcomes);
    // An outage is a time in which both have no session.
    for outage in &run.outages {
        assert!(outage.from_ns < outage.to_ns && outage.to_ns <= run.elapsed_ns);
    }
}

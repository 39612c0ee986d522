//! A server crashes in the middle of a run, and is restarted or not.

use std::time::Duration;

use assay_engine::Observation;
use serde_json::{Value, json};

use crate::support::quiet::on_a_quiet_machine;
use crate::support::server::Server;
use crate::support::{document, ended, observe};

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
}

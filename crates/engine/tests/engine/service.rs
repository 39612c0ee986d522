//! How clients are served over the measurement: clients without transactions, transactions running at the
//! end, and times in which the system answered no client.

use assay_engine::Observation;
use serde_json::{Value, json};

use crate::support::quiet::on_a_quiet_machine;
use crate::support::{driven, null_deployment};

const S: u64 = 1_000_000_000;

fn run(name: &str, options: Value, text: &str, more: Value) -> Observation {
    driven(null_deployment(name, options), &[text], more)
}

#[test]
fn clients_that_end_no_transaction_are_reported_although_no_histogram_has_them() {
    on_a_quiet_machine(|| {
        let run = run(
            "starved",
            json!({ "delay": "constant:2ms" }),
            "\\if :client_id > 0\n\\sleep 2200 ms\n\\endif\nSELECT 1;\n",
            json!({ "clients": 4, "warm_up_s": 0.3, "stop": { "duration_s": 1.2 } }),
        );
        let each = run.transactions_per_client;
        assert_eq!((each.least, each.median), (0, 0));
        assert_eq!(each.most, run.outcomes.ok);
        let under_way = run.in_flight;
        assert!((3..=4).contains(&under_way.count), "{under_way:?}");
        assert_eq!(under_way.begun_in_warm_up, 3);
        assert!(under_way.oldest_ns > 14 * S / 10, "{under_way:?}");
        assert!(run.carried_over.longest_ns >= 22 * S / 10);
        let law = run.littles_law.expect("the loop is closed");
        // Each of the three ran all the time, and is in no other figure.
        assert!(law.clients > 3.0 && law.clients_by_law < 1.05, "{law:?}");
    });
}

#[test]
fn littles_law_holds_where_every_client_is_served() {
    on_a_quiet_machine(|| {
        let run = run(
            "law",
            json!({ "delay": "constant:4ms" }),
            "SELECT 1;\n\\think 2ms\n",
            json!({
                "clients": 5, "think_time": "uniform:1ms..5ms", "stop": { "transactions": 60 },
            }),
        );
        let law = run.littles_law.expect("the loop is closed");
        assert!(
            (law.clients_by_law / law.clients - 1.0).abs() < 0.01,
            "{law:?}"
        );
        assert!(law.latency_ns >= 4e6 && law.pause_ns >= 4e6, "{law:?}");
        let each = run.transactions_per_client;
        assert_eq!((each.least, each.median, each.most), (60, 60, 60));
        assert_eq!((run.in_flight.count, run.carried_over.count), (0, 0));
    });
}

#[test]
fn littles_law_is_not_applied_to_an_open_loop() {
    let more = json!({
        "arrival": { "kind": "constant", "offered_rate_per_s": 100 },
        "stop": { "duration_s": 0.2 },
    });
    let run = run("open law", json!({}), "SELECT 1;", more);
    assert!(run.littles_law.is_none());
}

#[test]
fn a_system_that_answers_no_client_has_stalled() {
    on_a_quiet_machine(|| {
        let run = run(
            "stalled",
            json!({ "delay": "constant:1ms", "stall": "1600ms@400ms" }),
            "SELECT 1;",
            json!({ "clients": 4, "stop": { "duration_s": 2.5 } }),
        );
        let [stall] = run.stalls[..] else {
            panic!("{:?}", run.stalls)
        };
        assert!(
            (3 * S / 10..9 * S / 10).contains(&stall.from_ns),
            "{stall:?}"
        );
        assert!(stall.to_ns - stall.from_ns > 14 * S / 10, "{stall:?}");
        let in_seconds_ns: u64 = run
            .intervals
            .iter()
            .map(|interval| interval.stalled_ns)
            .sum();
        assert_eq!(in_seconds_ns, stall.to_ns - stall.from_ns);
        assert!(run.intervals[0].stalled_ns < S, "{:?}", run.intervals[0]);
    });
}

#[test]
fn a_stall_to_the_end_has_an_interval_for_each_of_its_seconds() {
    let run = run(
        "stalled to the end",
        json!({ "delay": "constant:1ms", "stall": "3s@200ms" }),
        "SELECT 1;",
        json!({ "statement_timeout_s": 2.2, "stop": { "duration_s": 1 } }),
    );
    assert_eq!(run.outcomes.ok + 1, run.outcomes.scheduled);
    let [stall] = run.stalls[..] else {
        panic!("{:?}", run.stalls)
    };
    assert!(stall.to_ns > 2 * S, "{stall:?}");
    assert!(run.intervals.len() as u64 > stall.to_ns / S);
}

#[test]
fn slow_transactions_and_pauses_are_no_stalls() {
    on_a_quiet_machine(|| {
        for (options, text) in [
            (json!({ "delay": "constant:1100ms" }), "SELECT 1;"),
            (json!({}), "SELECT 1;\n\\sleep 1100 ms\n"),
            (json!({}), "SELECT 1;\n\\think 1100 ms\n"),
        ] {
            let more = json!({ "stop": { "transactions": 2 } });
            let run = run(text, options, text, more);
            assert_eq!(run.stalls, [], "{text}");
            assert!(run.elapsed_ns >= S, "{text}");
        }
    });
}

#[test]
fn the_drain_is_no_stall_and_is_reported() {
    let run = run(
        "drained",
        json!({ "delay": "constant:1ms" }),
        "\\if :client_id = 0\n\\sleep 2200 ms\n\\endif\nSELECT 1;\n",
        json!({ "clients": 3, "stop": { "duration_s": 0.7 } }),
    );
    assert_eq!(run.stalls, []);
    // It started with the measurement, and its age is that at the stop.
    let oldest_ns = run.in_flight.oldest_ns;
    assert!((S / 2..=7 * S / 10).contains(&oldest_ns), "{oldest_ns}");
    let begun_ns = run.elapsed_ns - run.drained_ns;
    assert_eq!(begun_ns, 7 * S / 10);
    assert!(run.drained_ns >= S, "{}", run.drained_ns);
}

#[test]
fn a_run_that_its_transactions_end_has_no_drain() {
    let run = run(
        "undrained",
        json!({ "delay": "constant:2ms" }),
        "SELECT 1;",
        json!({ "stop": { "transactions": 20 } }),
    );
    assert_eq!(run.drained_ns, 0);
}

//! Pauses, the ramp-up, and what is part of a latency.

use std::ops::ControlFlow;

use serde_json::{Value, json};

use crate::serve::served;
use crate::support::quiet::on_a_quiet_machine;
use crate::support::{document, driven, null_deployment, outcomes, refused_document, watched};

#[test]
fn pauses_between_transactions_are_not_part_of_any_latency() {
    on_a_quiet_machine(|| {
        let timed = |text: &str, more: Value| {
            let deployment = null_deployment(text, json!({ "delay": "constant:2ms" }));
            let run = driven(deployment, &[text], more);
            let times = &run.transactions[0].latency;
            (
                run.elapsed_ns,
                times.min_ns,
                times.p50_ns.unwrap(),
                run.outcomes.ok,
            )
        };
        for (text, more) in [
            ("\\keying 20ms\nSELECT 1;\n\\think 20ms\n", json!({})),
            (
                "SELECT 1;\n",
                json!({ "think_time": "constant:20ms", "keying_time": "constant:20ms" }),
            ),
        ] {
            let mut more = more;
            more["stop"] = json!({ "transactions": 10 });
            let (elapsed_ns, min_ns, p50_ns, ok) = timed(text, more);
            assert_eq!(ok, 10);
            // The last think time is cut off by the end of the run.
            assert!(
                elapsed_ns >= 10 * 22_000_000 + 9 * 20_000_000,
                "{elapsed_ns}"
            );
            assert!((2_000_000..10_000_000).contains(&min_ns), "{min_ns}");
            assert!(p50_ns < 18_000_000, "{p50_ns}");
        }
        // A pause inside the transaction is part of it.
        let (_, min_ns, _, _) = timed(
            "SELECT 1;\n\\sleep 20 ms\n",
            json!({ "stop": { "transactions": 5 } }),
        );
        assert!(min_ns >= 22_000_000, "{min_ns}");
    });
}

#[test]
fn think_times_differ_between_clients_and_are_equal_for_equal_seeds() {
    let elapsed = |seed: u64| {
        let more = json!({
            "think_time": "uniform:0ms..40ms", "seed": seed, "clients": 2,
            "stop": { "transactions": 20 },
        });
        let run = driven(null_deployment("think", json!({})), &["SELECT 1;"], more);
        run.client_ends
            .iter()
            .map(|end| end.elapsed_ns / 10_000_000)
            .collect::<Vec<_>>()
    };
    on_a_quiet_machine(|| {
        let (first, again) = (elapsed(5), elapsed(5));
        assert_ne!(first[0], first[1]);
        let is_alike = first.iter().zip(&again).all(|(a, b)| a.abs_diff(*b) <= 3);
        assert!(is_alike, "{first:?}, {again:?}");
    });
}

#[test]
fn clients_start_evenly_over_the_ramp_up_which_is_not_measured() {
    // The first statement of every session fails before the measurement.
    let options = json!({ "delay": "constant:5ms", "fail": "data@#1" });
    let deployment = null_deployment("ramp", options);
    let run = driven(
        deployment,
        &["SELECT 1;"],
        json!({ "clients": 4, "ramp_up_s": 0.6, "warm_up_s": 0.1, "stop": { "duration_s": 0.3 } }),
    );
    assert!(run.errors.is_empty(), "{:?}", run.errors);
    assert!(run.outcomes.ok > 0);

    // Each client loses its session with its first statement: the first of two at once, the second in the
    // middle of the ramp-up.
    let deployment = null_deployment("spread", json!({ "lose": "#1" }));
    let more = json!({ "clients": 2, "ramp_up_s": 1.0, "stop": { "passes": 1 } });
    let two_clients = document(deployment, &["SELECT 1;"], more);
    let mut reports = Vec::new();
    let run = watched(&two_clients, |progress| {
        reports.push((progress.elapsed_s, progress.clients_running));
        ControlFlow::Continue(())
    });
    assert_eq!(outcomes(&run), (0, 0, 0, 0));
    let alone = reports.iter().filter(|(_, running)| *running == 1).count();
    assert!(alone >= 2, "{reports:?}");
    assert!(
        reports
            .iter()
            .all(|(at_s, running)| *running > 0 || *at_s > 0.5)
    );
}

#[test]
fn an_error_in_the_pace_names_its_key() {
    #[rustfmt::skip]
    let cases = [
        ("think_time", json!("sometimes"), "constant:1ms"),
        ("arrival", json!({ "kind": "constant", "offered_rate_per_s": 0 }), "above 0"),
        ("arrival", json!({ "kind": "bursty" }), "poisson"),
        ("retries", json!({ "most": 1, "classes": ["lost connection"] }), "deadlock"),
        ("reconnect", json!({ "after_loss": true, "timeout_s": 0 }), "above 0"),
        ("latency_limit_s", json!(0), "above 0"),
    ];
    for (key, value, expected) in cases {
        let more = json!({ key: value });
        let message = refused_document(&document(
            null_deployment("no", json!({})),
            &["SELECT 1;"],
            more,
        ));
        assert!(message.contains(key), "{key}: {message}");
        assert!(message.contains(expected), "{key}: {message}");
    }
}

// Without a number asked for, there is a thread for each processor, and at most one for each client.

#[test]
fn there_is_a_thread_for_each_processor_or_the_number_asked_for_and_never_more_than_clients() {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let processors = u32::try_from(processors).expect("there are few");
    for (asked, clients, used) in
        [(0, 8, processors.min(8)), (0, 1_u32, 1), (1, 8, 1), (3, 8, 3), (3, 2, 2)]
    {
        // Answers that come late leave each thread idle for nearly all of the time.
        served(
            "postgresql",
            json!({ "delay": "constant:2ms" }),
            |deployment: Value| {
                let more = json!({
                    "clients": clients, "threads": asked, "protocol": "prepared",
                    "stop": { "transactions": 20 },
                });
                let run = driven(deployment, &["SELECT 1;"], more);
                assert_eq!(run.threads, used);
                assert_eq!(run.outcomes.ok, u64::from(clients) * 20);
            },
        );
    }
}

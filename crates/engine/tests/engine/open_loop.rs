//! In an open loop the system cannot change the schedule, and the time that transactions wait is measured.

use assay_engine::{Observation, TransactionReport};
use serde_json::{Value, json};

use crate::serve::served;
use crate::support::quiet::on_a_quiet_machine;
use crate::support::{document, driven, null_deployment, observe, refused_document};

fn at_rate(kind: &str, per_s: u32) -> Value {
    json!({ "kind": kind, "offered_rate_per_s": per_s })
}

fn the_ok(run: &Observation) -> &TransactionReport {
    run.transactions
        .iter()
        .find(|report| report.outcome.word() == "ok")
        .expect("some transactions are ok")
}

#[test]
fn all_arrivals_of_a_rate_are_run_and_latency_is_service_time_plus_lag() {
    on_a_quiet_machine(|| {
        for kind in ["constant", "poisson"] {
            let deployment = null_deployment(kind, json!({ "delay": "constant:2ms" }));
            let more = json!({
                "clients": 8, "arrival": at_rate(kind, 200), "warm_up_s": 0.2,
                "stop": { "duration_s": 1.0 },
            });
            let run = driven(deployment, &["SELECT 1;"], more);
            // Nothing more is due until the stop, so that no more than the rate is ever reached.
            assert!(run.elapsed_ns >= 1_000_000_000, "{}", run.elapsed_ns);
            if kind == "constant" {
                assert_eq!(run.outcomes.scheduled, 200);
            } else {
                // Standard deviation 14: accept six deviations.
                assert!(
                    run.outcomes.scheduled.abs_diff(200) < 85,
                    "{:?}",
                    run.outcomes
                );
            }
            assert!(run.outcomes.skipped <= 8, "{:?}", run.outcomes);
            assert_eq!(run.arrival.kind.word(), kind);
            assert!(run.passes.is_none());
            let ok = the_ok(&run);
            let lag = ok.schedule_lag.as_ref().expect("an open loop has a lag");
            assert!(ok.service_time.min_ns >= 2_000_000);
            let sum = ok.service_time.mean_ns + lag.mean_ns;
            assert!((sum / ok.latency.mean_ns - 1.0).abs() < 1e-9, "{ok:?}");
            assert!(run.intervals[0].schedule_lag_p99_ns.is_some());
        }
    });
}

#[test]
fn a_stall_delays_the_arrivals_meanwhile_and_slows_only_one() {
    on_a_quiet_machine(|| {
        // 70 of 300 arrivals come while the only client is stalled: they wait, but are then served at once.
        let options = json!({ "delay": "constant:1ms", "stall": "700ms@#60" });
        let deployment = null_deployment("open stall", options);
        let more = json!({ "arrival": at_rate("constant", 100), "stop": { "transactions": 300 } });
        let run = driven(deployment, &["SELECT 1;"], more);
        let ok = the_ok(&run);
        assert_eq!(ok.count, 300);
        assert!(ok.latency.p99_ns.unwrap() > 600_000_000, "{ok:?}");
        assert!(ok.latency.p90_ns.unwrap() > 300_000_000, "{ok:?}");
        assert!(ok.service_time.p99_ns.unwrap() < 300_000_000, "{ok:?}");
        assert!(ok.service_time.max_ns > 700_000_000, "{ok:?}");
        let lag = ok.schedule_lag.as_ref().unwrap();
        assert!(lag.p99_ns.unwrap() > 600_000_000, "{lag:?}");
    });
}

#[test]
fn arrivals_that_start_beyond_the_limit_are_skipped_and_those_that_end_beyond_it_are_late() {
    on_a_quiet_machine(|| {
        let options = json!({ "delay": "constant:1ms", "stall": "800ms@#20" });
        let deployment = null_deployment("limit", options);
        let more = json!({
            "arrival": at_rate("constant", 100), "latency_limit_s": 0.2,
            "stop": { "transactions": 200 },
        });
        let run = driven(deployment, &["SELECT 1;", "SELECT 2;"], more);
        let outcomes = &run.outcomes;
        assert_eq!(outcomes.scheduled, 200);
        // Of the 80 that came meanwhile, those of the last 200 ms can still start.
        assert!((50..=80).contains(&outcomes.skipped), "{outcomes:?}");
        // The stalled one, and those that started shortly before they would have been skipped.
        assert!((1..=40).contains(&outcomes.late), "{outcomes:?}");
        assert_eq!(outcomes.ok + outcomes.skipped, 200);
        let lag = the_ok(&run).schedule_lag.as_ref().unwrap();
        assert!(lag.max_ns <= 201_000_000, "{lag:?}");
        // Both types are delayed alike.
        assert!(
            (run.outcomes_by_transaction.iter())
                .all(|report| report.outcomes.skipped * 3 > outcomes.skipped),
            "{:?}",
            run.outcomes_by_transaction
        );
    });
}

#[test]
fn arrivals_not_started_at_the_end_are_counted_as_skipped() {
    on_a_quiet_machine(|| {
        let deployment = null_deployment("overload", json!({ "delay": "constant:50ms" }));
        for clients in [1, 2] {
            let run = driven(
                deployment.clone(),
                &["SELECT 1;"],
                json!({
                    "clients": clients, "arrival": at_rate("constant", 200), "stop": { "duration_s": 0.5 },
                }),
            );
            let outcomes = &run.outcomes;
            assert_eq!(outcomes.scheduled, 100);
            assert!(outcomes.ok <= 11 * clients, "{outcomes:?}");
            assert!(outcomes.skipped >= 78, "{outcomes:?}");
            let seen: u64 = run.intervals.iter().map(|line| line.skipped).sum();
            assert_eq!(seen, outcomes.skipped);
            // The wait counts: the last ones to start had been due for most of the run.
            assert!(the_ok(&run).latency.max_ns > 200_000_000);
            assert!(the_ok(&run).service_time.p50_ns.unwrap() < 100_000_000);
            // Percentiles are of all that was due: most of it was never begun.
            for latency in
                [&the_ok(&run).latency, &run.all_ok.latency, &run.groups[0].all_ok.latency]
            {
                assert_eq!(latency.unanswered, outcomes.skipped);
                assert_eq!((latency.p50_ns, latency.p99_ns), (None, None));
            }
        }
    });
}

#[test]
fn the_backlog_of_the_warm_up_is_not_run_in_the_measurement() {
    on_a_quiet_machine(|| {
        // The warm-up leaves 400 transactions: five times what the measurement can run.
        let deployment = null_deployment("warm backlog", json!({ "delay": "constant:10ms" }));
        let more = json!({
            "clients": 1, "arrival": at_rate("constant", 500), "warm_up_s": 1.0,
            "stop": { "duration_s": 0.8 },
        });
        let run = driven(deployment, &["SELECT 1;"], more);
        assert_eq!(run.outcomes.scheduled, 400);
        assert!(run.outcomes.ok >= 30, "{:?}", run.outcomes);
        assert!(the_ok(&run).schedule_lag.as_ref().unwrap().min_ns < 200_000_000);
    });
}

#[test]
fn equal_seeds_make_equal_choices_with_any_number_of_clients() {
    let mix = |clients: u32, seed: u64| {
        let mut open = document(
            null_deployment("open mix", json!({})),
            &["SELECT 1;", "SELECT 2;"],
            json!({
                "order": "mix", "clients": clients, "seed": seed,
                "arrival": at_rate("poisson", 5000), "stop": { "duration_s": 0.2 },
            }),
        );
        open["scripts"][0]["weight"] = json!(2);
        let run = observe(&open);
        let scheduled = run.outcomes_by_transaction.iter();
        scheduled
            .map(|report| report.outcomes.scheduled)
            .collect::<Vec<_>>()
    };
    assert_eq!(mix(3, 1), mix(7, 1));
    assert_ne!(mix(3, 1), mix(3, 2));
}

#[test]
fn an_open_loop_has_no_passes_and_no_think_times() {
    let open = |more: Value| {
        let mut open = document(null_deployment("no", json!({})), &["SELECT 1;"], more);
        open["arrival"] = at_rate("constant", 10);
        refused_document(&open)
    };
    assert!(open(json!({})).contains("stop.passes"));
    let timed = json!({ "stop": { "duration_s": 1 }, "think_time": "constant:1s" });
    assert!(open(timed).contains("think_time"));
}

/// Every second arrival takes 300 ms, and all of these belong to the first of two threads: with two clients
/// it can run 6.7 of them a second, and 10 arrive. The other thread has a spare client.
#[test]
fn no_arrival_waits_while_a_client_is_free_on_another_thread() {
    on_a_quiet_machine(|| {
        let slow = "\\sleep 300 ms\nSELECT 1;";
        for threads in [1, 2] {
            let more = json!({
                "clients": 4, "threads": threads, "arrival": at_rate("constant", 20),
                "stop": { "transactions": 10 },
            });
            served("postgresql", json!({}), |deployment| {
                let run = driven(deployment, &[slow, "SELECT 2;"], more.clone());
                assert_eq!((run.threads, run.outcomes.ok), (threads, 40));
                let lag = run.all_ok.schedule_lag.as_ref().unwrap();
                // With its own clients only, each of the 20 slow ones would wait 40 ms longer than the one before: the last
                // 800 ms, and a tenth of all 40 more than 600 ms. A busy machine makes it a quarter of a second.
                assert!(
                    lag.p90_ns.unwrap() < 500_000_000,
                    "{threads} threads: {lag:?}"
                );
            });
        }
    });
}

/// All clients are busy for a while: the first free client, on any thread, takes what has arrived.
#[test]
fn the_first_free_client_on_any_thread_takes_the_backlog() {
    on_a_quiet_machine(|| {
        let slow = "\\if :transaction_number % 10 = 0\n\\sleep 500 ms\n\\endif\nSELECT 1;";
        let more = json!({
            "clients": 4, "threads": 4, "arrival": at_rate("constant", 40),
            "stop": { "transactions": 20 }, "latency_limit_s": 5.0,
        });
        served("postgresql", json!({}), |deployment| {
            let run = driven(deployment, &[slow], more);
            assert_eq!((run.outcomes.ok, run.outcomes.skipped), (80, 0));
            // Eight of 80 take half a second: four clients would need one second, and each has a thread.
            let lag = run.all_ok.schedule_lag.as_ref().unwrap();
            assert!(lag.p90_ns.unwrap() < 150_000_000, "{lag:?}");
        });
    });
}

//! The engine measures a system with known delays. A machine may always be slower, so times are compared with
//! lower bounds and with each other.

use std::ops::ControlFlow;

use serde_json::json;

use crate::support::{
    document, driven, null_deployment, observe, ok_count, outcomes, the_error, watched,
};

/// Three digits: a percentile may be this much below the true value.
const DIGITS: f64 = 0.999;

fn at_least(found_ns: u64, true_ns: u64) -> bool {
    found_ns as f64 >= true_ns as f64 * DIGITS
}

#[test]
fn a_known_delay_is_in_every_percentile() {
    let deployment = null_deployment("delay", json!({ "delay": "constant:3ms" }));
    let more = json!({ "clients": 2, "stop": { "passes": 20 } });
    let run = driven(deployment, &["SELECT 1;", "SELECT 1; SELECT 2;"], more);
    let [one, two] = &run.transactions[..] else {
        panic!("{:#?}", run.transactions)
    };
    assert_eq!((one.name.as_str(), one.count), ("A", 40));
    assert_eq!((two.name.as_str(), two.count), ("B", 40));
    for (report, delay_ns) in [(one, 3_000_000), (two, 6_000_000)] {
        let times = &report.latency;
        assert!(times.min_ns >= delay_ns, "{times:?}");
        assert!(times.mean_ns >= delay_ns as f64, "{times:?}");
        for percentile in [
            times.p50_ns.unwrap(),
            times.p90_ns.unwrap(),
            times.p95_ns.unwrap(),
            times.p99_ns.unwrap(),
            times.p99_9_ns.unwrap(),
        ] {
            assert!(at_least(percentile, delay_ns), "{times:?}");
        }
        assert!(times.max_ns >= times.min_ns);
    }
    // A pass is the sum of its transactions, and a client the sum of its passes.
    let passes = run.passes.as_ref().expect("a sequence has passes");
    assert_eq!(passes.count, 40);
    assert!(passes.latency.min_ns >= 9_000_000);
    // Each of them is kept, in the order of their ends.
    assert_eq!((run.pass_times.len(), run.pass_times_left_out), (40, 0));
    assert!(run.pass_times.is_sorted_by_key(|time| time.end_ns));
    for end in &run.client_ends {
        let of_client = (run.pass_times.iter()).filter(|time| time.client == end.client);
        let times: Vec<_> = of_client.collect();
        assert_eq!(times.len(), 20);
        assert!(times.iter().all(|time| time.latency_ns >= 9_000_000));
        let sum_ns: u64 = times.iter().map(|time| time.latency_ns).sum();
        assert!(sum_ns <= end.elapsed_ns);
        assert!(times.last().unwrap().end_ns <= end.elapsed_ns);
    }
    assert!(
        run.client_ends
            .iter()
            .all(|end| end.elapsed_ns >= 20 * 9_000_000)
    );
    assert!(run.elapsed_ns >= 20 * 9_000_000);
}

#[test]
fn a_stall_is_in_the_maximum_and_not_in_the_median() {
    let options = json!({ "delay": "constant:1ms", "stall": "1.2s@#30" });
    let deployment = null_deployment("stall", options);
    let more = json!({ "stop": { "passes": 60 } });
    let run = driven(deployment, &["SELECT 1;"], more);
    let times = &run.transactions[0].latency;
    assert!(times.max_ns >= 1_201_000_000, "{times:?}");
    assert!(times.p50_ns.unwrap() < times.max_ns / 2, "{times:?}");
    // One of 60 is above the 98th percentile and below none.
    assert!(at_least(times.p99_ns.unwrap(), 1_201_000_000), "{times:?}");
    // It shows in the second in which the stalled transaction ended, and the second before is not missing.
    assert!(run.intervals.len() >= 2);
    let longest = run.intervals.iter().map(|interval| interval.max_ns).max();
    assert_eq!(longest, Some(times.max_ns));
}

#[test]
fn all_clients_begin_together_and_see_the_same_stall() {
    let options = json!({ "delay": "constant:1ms", "stall": "700ms@300ms" });
    let deployment = null_deployment("shared stall", options);
    let more = json!({ "clients": 8, "stop": { "duration_s": 1.5 } });
    let run = driven(deployment, &["SELECT 1;"], more);
    let times = &run.transactions[0].latency;
    assert!(times.max_ns >= 400_000_000, "{times:?}");
    assert!(
        run.client_ends
            .iter()
            .all(|end| end.elapsed_ns >= 1_500_000_000)
    );
    assert_eq!(run.ended_by.word(), "stop");
}

#[test]
fn every_script_runs_once_a_pass_and_in_order() {
    // The second statement of each session fails: it must be that of B.
    let deployment = null_deployment("order", json!({ "fail": "data@#2" }));
    let more = json!({ "clients": 3, "stop": { "passes": 2 } });
    let run = driven(deployment, &["SELECT 1;", "SELECT 2;", "SELECT 3;"], more);
    assert_eq!(outcomes(&run), (15, 0, 3, 0));
    assert_eq!(["A", "B", "C"].map(|name| ok_count(&run, name)), [6, 3, 6]);
    let error = the_error(&run);
    assert_eq!(error.class, "data");
    assert_eq!(error.transaction.as_deref(), Some("B"));
    assert_eq!(error.count, 3);
    // A pass with a failure in it has no latency, but it is counted.
    assert_eq!(run.passes.as_ref().unwrap().count, 3);
    assert!(
        run.client_ends
            .iter()
            .all(|end| (end.passes, end.transactions) == (2, 6))
    );
}

#[test]
fn a_mix_keeps_its_weights_and_is_repeatable() {
    let mix = |seed: u64| {
        let mut asked = document(
            null_deployment("mix", json!({})),
            &["SELECT 1;", "SELECT 2;", "SELECT 3;"],
            json!({ "order": "mix", "clients": 4, "seed": seed, "stop": { "transactions": 2000 } }),
        );
        for (script, weight) in [(0, 3), (1, 1), (2, 0)] {
            asked["scripts"][script]["weight"] = json!(weight);
        }
        let run = observe(&asked);
        assert!(run.passes.is_none());
        ["A", "B", "C"].map(|name| ok_count(&run, name))
    };
    let [a, b, c] = mix(1);
    assert_eq!((a + b, c), (8000, 0));
    // 6000 expected with a standard deviation of 39: accept six deviations.
    assert!((5766..=6234).contains(&a), "{a}");
    assert_eq!([a, b, c], mix(1));
    assert_ne!([a, b, c], mix(2));
}

#[test]
fn warm_up_is_not_measured() {
    // The first statement of each session fails and takes very long, within the warm-up.
    let options = json!({ "delay": "constant:1ms", "fail": "data@#1", "stall": "200ms@#1" });
    let deployment = null_deployment("warm-up", options);
    let more = json!({ "clients": 2, "warm_up_s": 0.5, "stop": { "passes": 10 } });
    let run = driven(deployment, &["SELECT 1;"], more);
    assert_eq!(outcomes(&run), (20, 0, 0, 0));
    assert!(run.errors.is_empty(), "{:?}", run.errors);
    assert_eq!(run.passes.as_ref().unwrap().count, 20);
}

#[test]
fn a_duration_stops_the_run_and_elapsed_is_by_the_clock() {
    let deployment = null_deployment("duration", json!({ "delay": "constant:40ms" }));
    let more = json!({ "clients": 2, "stop": { "duration_s": 0.5 } });
    let run = driven(deployment, &["SELECT 1;"], more);
    // A transaction running at the end is finished, and counts.
    assert!(run.elapsed_ns >= 500_000_000);
    assert_eq!(outcomes(&run).3, 0);
    assert_eq!(run.outcomes.scheduled, run.outcomes.ok);
}

#[test]
fn different_answers_are_reported() {
    // Without the table the count is answered by three rows, with it by one.
    let deployment = null_deployment("differing", json!({ "rows": "3" }));
    let scripts = ["SELECT count(*) FROM t;", "CREATE TABLE t (n int);", "SELECT 1;"];
    let more = json!({ "digest": true, "stop": { "passes": 3 } });
    let run = driven(deployment, &scripts, more);
    let of = |name: &str| {
        run.results
            .iter()
            .find(|result| result.transaction == name)
            .unwrap()
    };
    let differing = of("A");
    assert_eq!(differing.rows, 3);
    assert_eq!(differing.answers, 3);
    assert_eq!(differing.differing, 2);
    let difference = differing
        .first_difference
        .as_deref()
        .expect("it is described");
    assert!(difference.contains("3 rows"), "{difference}");
    assert!(difference.contains("1 rows"), "{difference}");
    let same = of("C");
    assert_eq!((same.rows, same.answers, same.differing), (3, 3, 0));
    assert_eq!(same.first_difference, None);
    assert_eq!(same.digest.as_ref().map(String::len), Some(16));
}

#[test]
fn what_clients_have_done_so_far_grows_to_what_they_did() {
    let deployment = null_deployment("so-far", json!({ "delay": "constant:5ms" }));
    let more = json!({ "clients": 2, "warm_up_s": 0.3, "stop": { "duration_s": 2.4 } });
    let asked = document(deployment, &["SELECT 1;\nSELECT 2;"], more);
    let mut found = Vec::new();
    let run = watched(&asked, |progress| {
        found.extend(progress.so_far.clone());
        ControlFlow::Continue(())
    });
    assert!((1..=2).contains(&found.len()), "once a second: {found:?}");
    let ended: u64 = run.client_ends.iter().map(|end| end.transactions).sum();
    for one in &found {
        assert!((1_000_000_000..run.elapsed_ns).contains(&one.elapsed_ns));
        assert_eq!(one.threads, run.threads as usize);
        assert!((1..run.statements).contains(&one.statements));
        assert!(one.outages.is_empty() && one.load_1min.is_some());
        let cpu_ns = one.client_cost.user_ns + one.client_cost.system_ns;
        assert!(cpu_ns <= run.client_cost.user_ns + run.client_cost.system_ns);
        let [counts] = &one.transactions.values().collect::<Vec<_>>()[..] else {
            panic!("one group: {:?}", one.transactions)
        };
        let sum: u64 = counts.iter().sum();
        assert_eq!(counts.len(), 2);
        assert!(0 < sum && sum < ended && 2 * sum <= one.statements + 200);
    }
}

#[test]
fn progress_counts_up_to_the_total_of_the_observation() {
    let deployment = null_deployment("progress", json!({ "delay": "constant:5ms" }));
    let more = json!({ "clients": 2, "stop": { "passes": 100 } });
    let asked = document(deployment, &["SELECT 1;"], more);
    let mut reports = Vec::new();
    let run = watched(&asked, |progress| {
        reports.push(progress.clone());
        ControlFlow::Continue(())
    });
    assert!(!reports.is_empty());
    assert!(
        reports
            .iter()
            .all(|progress| progress.scheduled == Some(200))
    );
    assert!(reports.windows(2).all(|pair| pair[0].done <= pair[1].done));
    assert!(
        reports
            .iter()
            .any(|progress| progress.done > 0 && progress.clients_running == 2)
    );
    // At most ten times a second, plus one that a slow machine may add.
    let limit = run.elapsed_ns.saturating_add(run.connect_ns) / 100_000_000 + 1;
    assert!(reports.len() as u64 <= limit, "{} > {limit}", reports.len());
}

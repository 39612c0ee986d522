//! Scripts that clients queue (`\defer`) are run by a group of their own: each once, with the values that it was given,
//! also after the measurement; what is not begun in time is counted as skipped.

use assay_engine::{GroupReport, Observation};
use serde_json::{Value, json};

use crate::serve::served;
use crate::support::quiet::on_a_quiet_machine;
use crate::support::{document, driven, null_deployment, observe, refused};

/// `callers` run A, which queues B twice, for the `workers`.
fn deferring(deployment: Value, a: &str, b: &str, callers: Value, workers: Value) -> Value {
    let mut document = document(deployment, &[a, b], json!({}));
    let keys = document.as_object_mut().unwrap();
    for key in ["order", "clients", "stop"] {
        keys.remove(key);
    }
    let (mut first, mut second) = (
        json!({ "name": "callers", "scripts": ["A"] }),
        json!({ "name": "workers", "scripts": ["B"], "arrival": { "kind": "deferred" } }),
    );
    for (group, more) in [(&mut first, callers), (&mut second, workers)] {
        for (key, value) in more.as_object().unwrap() {
            group[key] = value.clone();
        }
    }
    keys.insert("groups".to_owned(), json!([first, second]));
    document
}

fn workers(run: &Observation) -> &GroupReport {
    &run.groups[1]
}

const TWICE: &str = "\\set a :client_id\nSELECT :a;\n\\defer B a\n\\set a 100\n\\defer B a";

#[test]
fn each_is_run_once_with_its_values_on_any_thread() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("data.db");
    let create = "CREATE TABLE found (a int);";
    let insert = "INSERT INTO found VALUES (:a);";
    let deployment = || json!({ "driver": "sqlite", "file": file });
    driven(deployment(), &[create], json!({}));
    let run = observe(&deferring(
        deployment(),
        TWICE,
        insert,
        json!({ "clients": 2, "stop": { "passes": 20 } }),
        json!({ "clients": 2, "retries": { "most": 50, "classes": ["resources", "serialization", "deadlock"] } }),
    ));
    let of = workers(&run);
    assert_eq!((of.outcomes.scheduled, of.outcomes.ok), (80, 80));
    assert_eq!(of.arrival.kind.word(), "deferred");
    assert_eq!(run.arrival.kind.word(), "closed");
    assert!(of.longest_queue.unwrap() >= 1 && run.groups[0].longest_queue.is_none());
    assert!(of.all_ok.schedule_lag.is_some());
    let values = "\\set a -1\nSELECT count(*) FROM found WHERE a = 0;\n\\expect value 20\n\
                  SELECT count(*) FROM found WHERE a = 1;\n\\expect value 20\n\
                  SELECT count(*) FROM found WHERE a = 100;\n\\expect value 40";
    let counted = driven(deployment(), &[values], json!({}));
    assert_eq!(counted.outcomes.ok, 1, "{:?}", counted.errors);
    // In event loops, with more threads than workers.
    for clients in [1, 3] {
        served("postgresql", json!({}), |deployment: Value| {
            let mut document = deferring(
                deployment,
                TWICE,
                "SELECT :a;",
                json!({ "clients": 4, "stop": { "passes": 50 } }),
                json!({ "clients": clients }),
            );
            document["threads"] = json!(3);
            document["protocol"] = json!("prepared");
            let run = observe(&document);
            let outcomes = workers(&run).outcomes;
            assert_eq!((outcomes.scheduled, outcomes.ok), (400, 400));
        });
    }
}

#[test]
fn what_is_queued_at_the_end_is_run_within_the_drain_and_the_rest_is_skipped() {
    on_a_quiet_machine(|| {
        // Twenty take 400 ms, more than the measurement and the shorter drain.
        let deployment = null_deployment("deferred", json!({ "delay": "constant:20ms" }));
        let mut document = deferring(
            deployment,
            "\\for i in 1..20\n\\defer B\n\\endfor\n\\sleep 50 ms",
            "SELECT 1;",
            json!({ "clients": 1 }),
            json!({ "clients": 1, "latency_limit_s": 0.03 }),
        );
        document["stop"] = json!({ "duration_s": 0.2 });
        document["drain_s"] = json!(60);
        let run = observe(&document);
        let queued = 20 * run.groups[0].outcomes.ok;
        let outcomes = workers(&run).outcomes;
        assert_eq!((outcomes.scheduled, outcomes.ok), (queued, queued));
        // The limit makes them late, and keeps none from running.
        assert!(outcomes.late >= queued - 1, "{outcomes:?}");
        assert!(workers(&run).longest_queue.unwrap() >= 19);
        assert!(workers(&run).elapsed_ns > run.elapsed_ns);

        document["drain_s"] = json!(0.1);
        let run = observe(&document);
        let outcomes = workers(&run).outcomes;
        assert_eq!(outcomes.scheduled, 20 * run.groups[0].outcomes.scheduled);
        assert!(outcomes.skipped > 0, "{outcomes:?}");
        assert!(outcomes.unknown <= 1, "{outcomes:?}");
    });
}

#[test]
fn a_script_can_only_be_deferred_to_clients_that_run_it() {
    let deployment = || null_deployment("not deferred", json!({}));
    let one = json!({ "clients": 1, "stop": { "passes": 1 } });
    let none = || json!({ "clients": 1 });
    let no_group = document(deployment(), &["\\defer B", "SELECT 1;"], json!({}));
    for (document, expected) in [
        (no_group, "A.sql:1:1: found \\defer B: no client runs it"),
        (
            deferring(deployment(), "\\defer A", "SELECT 1;", one.clone(), none()),
            "A.sql:1:1: found \\defer A: no client runs it",
        ),
    ] {
        let message = refused(&document).to_string();
        assert!(message.contains(expected), "{message}");
    }
}

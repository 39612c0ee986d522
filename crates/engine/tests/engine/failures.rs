//! Whatever fails, every transaction is counted.

use std::ops::ControlFlow;

use assay_engine::{EngineError, probe};
use serde_json::json;

use crate::serve::served;
use crate::support::{
    deployed, document, driven, ended, null_deployment, observe, outcomes, refused, the_error,
    watched,
};

#[test]
fn a_statements_error_fails_its_transaction_and_keeps_the_systems_message() {
    let deployment = null_deployment("fail", json!({ "fail": "deadlock@#3" }));
    let more = json!({ "clients": 2, "stop": { "passes": 5 } });
    let run = driven(deployment, &["SELECT 1; UPDATE t SET a = 1;"], more);
    assert_eq!(outcomes(&run), (8, 0, 2, 0));
    let error = the_error(&run);
    assert_eq!((error.class, error.count), ("deadlock", 2));
    assert!(error.message.contains("caused by the option"), "{error:?}");
    let failed = run
        .transactions
        .iter()
        .find(|report| report.outcome.word() == "failed")
        .unwrap();
    assert_eq!(failed.count, 2);
    assert_eq!(run.ended_by.word(), "stop");
}

#[test]
fn a_script_that_never_reaches_its_statement_ends_with_the_run() {
    // Each repetition copies some megabytes, so that all of them would take hours.
    let text = "\\set x text(4000000, 4000000)\n\\for i in 1..9000000\n\\set y concat(:x, 1)\n\\endfor\nSELECT 1;";
    let ends = |deployment| {
        let more = json!({ "clients": 2, "stop": { "duration_s": 0.2 }, "drain_s": 0.1 });
        let run = driven(deployment, &[text], more);
        // Nothing was sent, so it is known that they had no effect.
        assert_eq!(outcomes(&run), (0, 0, 2, 0));
    };
    ends(null_deployment("endless", json!({})));
    served("postgresql", json!({}), ends);
}

#[test]
fn a_failure_in_an_open_transaction_is_rolled_back() {
    // Statement 2 fails within BEGIN … COMMIT, so the third must be the rollback. The session is lost at the
    // third: if that were the BEGIN of the next transaction, its outcome would be unknown.
    let deployment = null_deployment("rollback", json!({ "fail": "constraint@#2", "lose": "#3" }));
    let text = "BEGIN; UPDATE t SET a = 1; COMMIT;";
    let run = driven(deployment, &[text], json!({ "stop": { "passes": 5 } }));
    assert_eq!(outcomes(&run), (0, 0, 1, 0));
    let classes: Vec<_> = run.errors.iter().map(|error| error.class).collect();
    assert_eq!(classes, ["constraint", "lost connection"]);
}

/// The null system takes one session: the next one opens only when that of a transaction that failed is closed.
#[test]
fn with_a_session_for_each_transaction_one_that_is_rolled_back_is_closed_too() {
    let options = json!({ "fail": "constraint@#2", "refuse_after": "1" });
    let text = "BEGIN; UPDATE t SET a = 1; COMMIT;";
    let more = json!({ "connect_each_transaction": true, "stop": { "passes": 3 } });
    let run = driven(null_deployment("closed", options), &[text], more);
    assert_eq!(outcomes(&run), (0, 0, 3, 0));
    assert_eq!(the_error(&run).class, "constraint");
    assert_eq!(the_error(&run).count, 3);
}

#[test]
fn an_abort_is_rolled_back_and_is_no_failure() {
    // Without the rollback, BEGIN would be the third statement, and the fourth the update.
    let deployment = null_deployment("abort", json!({ "fail": "data@#4" }));
    let text = "BEGIN; UPDATE t SET a = 1;\n\\abort\n";
    let run = driven(deployment, &[text], json!({ "stop": { "passes": 3 } }));
    assert_eq!(outcomes(&run), (0, 2, 1, 0));
    assert_eq!(the_error(&run).class, "data");
}

#[test]
fn after_an_abort_the_pauses_that_end_the_script_are_made() {
    // The rollback comes before the pause: at the pause the session has nothing open.
    for (text, outcome) in [
        (
            "BEGIN; UPDATE t SET a = 1;\n\\abort\n\\think 20 ms\n",
            (0, 3, 0, 0),
        ),
        (
            "BEGIN; UPDATE t SET a = 1;\n\\abort\nSELECT 1;\n\\think 20 ms\n",
            (0, 3, 0, 0),
        ),
        ("SELECT 1;\n\\think 20 ms\n", (3, 0, 0, 0)),
    ] {
        let deployment = null_deployment(text, json!({}));
        let run = driven(deployment, &[text], json!({ "stop": { "passes": 3 } }));
        assert_eq!(outcomes(&run), outcome);
        // The last pause is cut off by the end of the run.
        assert!(run.elapsed_ns >= 2 * 20_000_000, "{}", run.elapsed_ns);
    }
}

#[test]
fn an_expectation_that_is_not_met_is_a_failure() {
    let deployment = null_deployment("expect", json!({ "rows": "3" }));
    let scripts = ["SELECT 1;\n\\expect rows 3\n", "SELECT 1;\n\\expect rows 4\n"];
    let run = driven(deployment, &scripts, json!({}));
    assert_eq!(outcomes(&run), (1, 0, 1, 0));
    let error = the_error(&run);
    assert_eq!(error.class, "expectation");
    assert_eq!(error.transaction.as_deref(), Some("B"));
}

#[test]
fn a_lost_session_leaves_one_unknown_transaction_and_the_other_clients_continue() {
    let deployment = null_deployment("lost", json!({ "lose": "#5" }));
    let more = json!({ "clients": 4, "stop": { "passes": 10 } });
    let asked = document(deployment, &["SELECT 1;"], more);
    let run = observe(&asked);
    assert_eq!(outcomes(&run), (16, 0, 0, 4));
    assert_eq!((run.ended_by.word(), ended(&run, "lost")), ("lost", 4));
    let error = the_error(&run);
    assert_eq!((error.class, error.count), ("lost connection", 4));

    let deployment = null_deployment("one lost", json!({ "lose": "0.02", "seed": "7" }));
    let more = json!({ "clients": 8, "stop": { "passes": 40 } });
    let asked = document(deployment, &["SELECT 1;"], more);
    let run = observe(&asked);
    let lost = ended(&run, "lost");
    assert!(
        (1..8).contains(&lost),
        "the seed no longer loses some and not all: {lost}"
    );
    assert_eq!(run.outcomes.unknown, lost as u64);
    assert_eq!(run.ended_by.word(), "stop");
    assert_eq!(ended(&run, "done"), 8 - lost);
    let done = run
        .client_ends
        .iter()
        .filter(|end| end.state.word() == "done");
    assert!(done.clone().all(|end| end.transactions == 40));
}

#[test]
fn with_one_client_refused_nothing_is_driven() {
    let deployment = null_deployment("refuse", json!({ "refuse_after": "3" }));
    let run = driven(deployment, &["SELECT 1;"], json!({ "clients": 5 }));
    assert_eq!(run.ended_by.word(), "refused");
    assert_eq!(run.outcomes.scheduled, 0);
    assert_eq!((ended(&run, "refused"), ended(&run, "interrupted")), (2, 3));
    let error = the_error(&run);
    assert_eq!((error.class, error.count), ("too many connections", 2));
    assert_eq!(error.transaction, None);
}

#[test]
fn a_probe_finds_the_first_session_that_is_refused() {
    let deployment = |name: &str, options| deployed(&null_deployment(name, options));
    let found = probe(
        &deployment("probe", json!({ "refuse_after": "7" })),
        20,
        &mut || ControlFlow::Continue(()),
    )
    .unwrap();
    assert_eq!((found.opened, found.refused_at), (7, Some(8)));
    assert_eq!(found.error.unwrap().class, "too many connections");
    let found = probe(&deployment("open", json!({})), 20, &mut || {
        ControlFlow::Continue(())
    })
    .unwrap();
    assert_eq!(found.opened, 20);
    assert_eq!(found.refused_at, None);
    assert_eq!(found.error, None);
}

#[test]
fn a_statement_that_takes_too_long_ends_its_client() {
    let deployment = null_deployment("timeout", json!({ "stall": "600s@#3" }));
    let more = json!({ "clients": 2, "statement_timeout_s": 0.2, "stop": { "passes": 10 } });
    let run = driven(deployment, &["SELECT 1;"], more);
    assert_eq!(outcomes(&run), (4, 0, 0, 2));
    let error = the_error(&run);
    assert_eq!((error.class, error.count), ("timeout", 2));
    assert_eq!(run.ended_by.word(), "all clients failed");
    assert_eq!(ended(&run, "lost"), 2);
    let unknown = run
        .transactions
        .iter()
        .find(|report| report.outcome.word() == "unknown")
        .unwrap();
    assert!(unknown.latency.min_ns >= 200_000_000);
}

#[test]
fn a_statement_over_its_limit_is_cancelled_and_its_client_goes_on() {
    let deployment = null_deployment("limit", json!({ "stall": "600s@#3" }));
    let more = json!({ "clients": 2, "statement_limit_s": 0.2, "stop": { "passes": 5 } });
    let run = driven(deployment, &["SELECT 1;"], more);
    assert_eq!(outcomes(&run), (8, 0, 2, 0));
    let error = the_error(&run);
    assert_eq!(error.class, "timeout");
    assert_eq!(error.code.as_str(), "statement_limit");
    assert_eq!(error.count, 2);
    assert_eq!((run.ended_by.word(), run.reconnects), ("stop", 0));
}

#[test]
fn a_statement_that_can_never_work_ends_the_run_before_its_time() {
    let options = json!({ "fail": "syntax@1", "delay": "constant:5ms" });
    let deployment = null_deployment("wrong", options);
    let more = json!({ "clients": 2, "stop": { "duration_s": 3600 } });
    let run = driven(deployment, &["SELEKT 1;"], more);
    assert_eq!(run.ended_by.word(), "all clients failed");
    assert_eq!(ended(&run, "failed"), 2);
    let error = the_error(&run);
    assert_eq!(error.class, "syntax");
    assert!((20..=300).contains(&error.count), "it pauses: {error:?}");
}

#[test]
fn an_interrupt_ends_the_run_and_returns_the_results_so_far() {
    let deployment = null_deployment("interrupt", json!({ "delay": "constant:2ms" }));
    let more = json!({ "clients": 3, "stop": { "duration_s": 3600 } });
    let asked = document(deployment, &["SELECT 1;"], more);
    let run = watched(&asked, |progress| match progress.done {
        0 => ControlFlow::Continue(()),
        _ => ControlFlow::Break(()),
    });
    assert_eq!(run.ended_by.word(), "interrupted");
    assert_eq!(ended(&run, "interrupted"), 3);
    // Each could finish its current transaction.
    assert_eq!(outcomes(&run), (run.outcomes.scheduled, 0, 0, 0));
}

#[test]
fn an_interrupt_does_not_wait_for_an_endless_statement() {
    let deployment = null_deployment("hung", json!({ "stall": "3600s@#2" }));
    let more = json!({ "clients": 3, "stop": { "passes": 9 } });
    let asked = document(deployment, &["SELECT 1;"], more);
    let run = watched(&asked, |progress| match progress.done {
        3 => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    });
    assert_eq!(outcomes(&run), (3, 0, 0, 3));
    assert_eq!(run.ended_by.word(), "interrupted");
    assert_eq!(ended(&run, "interrupted"), 3);
}

#[test]
fn scripts_without_a_statement_do_not_block_the_run() {
    let deployment = null_deployment("idle", json!({}));
    let more = json!({ "clients": 2, "stop": { "duration_s": 0.2 } });
    let asked = document(deployment, &["\\set x 1\n"], more);
    let run = observe(&asked);
    assert!(run.outcomes.ok > 0);
    assert_eq!(run.ended_by.word(), "stop");
}

#[test]
fn an_error_in_a_script_has_its_place_and_comes_before_connecting() {
    // A deployment that would refuse every client.
    let deployment = null_deployment("never opened", json!({ "refuse_after": "0" }));
    let error = refused(&document(
        deployment,
        &["SELECT 1;\n\\nonsense\n"],
        json!({}),
    ));
    let EngineError::Script(error) = error else {
        panic!("{error:?}")
    };
    assert_eq!((error.path.as_str(), error.line), ("A.sql", 2));
}

//! Lost sessions, a session for each transaction, and clients that reconnect.

use serde_json::json;

use crate::support::{document, ended, null_deployment, observe, outcomes, the_error};

#[test]
fn a_client_whose_session_was_lost_reconnects_and_continues() {
    let deployment = null_deployment("return", json!({ "lose": "#5" }));
    let run = observe(&document(
        deployment,
        &["SELECT 1;"],
        json!({
            "clients": 2, "reconnect": { "after_loss": true }, "stop": { "transactions": 12 },
        }),
    ));
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
        let run = observe(&document(deployment, &[text], json!({})));
        assert_eq!(outcomes(&run), expected, "lost at statement {lost_at}");
        assert_eq!(run.client_ends[0].state.word(), "lost");
    }
}

#[test]
fn each_transaction_may_have_its_own_session() {
    // In a shared session the second statement would fail.
    let deployment = null_deployment("own", json!({ "fail": "data@#2" }));
    let run = observe(&document(
        deployment.clone(),
        &["SELECT 1;"],
        json!({ "clients": 3, "connect_each_transaction": true, "stop": { "passes": 20 } }),
    ));
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
    let run = observe(&document(
        deployment,
        &["SELECT 1;"],
        json!({
            "clients": 2, "reconnect": { "after_loss": true },
            "arrival": { "kind": "constant", "offered_rate_per_s": 200 },
            "stop": { "transactions": 50 },
        }),
    ));
    assert_eq!((run.outcomes.scheduled, run.outcomes.skipped), (100, 0));
    assert_eq!(run.outcomes.ok, 100 - run.outcomes.unknown);
    assert!(run.outcomes.unknown >= 9, "{:?}", run.outcomes);
    // An outage is a time in which both have no session.
    for outage in &run.outages {
        assert!(outage.from_ns < outage.to_ns && outage.to_ns <= run.elapsed_ns);
    }
}

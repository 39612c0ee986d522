//! A transaction that the system aborted may be retried, and still counts once.

use assay_engine::Observation;
use serde_json::{Value, json};

use crate::support::quiet::on_a_quiet_machine;
use crate::support::server::Server;
use crate::support::{driven, null_deployment, outcomes, the_error};

const TRANSFER: &str = "BEGIN; UPDATE t SET a = 1; COMMIT;";

#[test]
fn an_attempt_after_a_deadlock_is_part_of_the_same_transaction() {
    on_a_quiet_machine(|| {
        // BEGIN, the update that fails, ROLLBACK, BEGIN, UPDATE, COMMIT: six statements of 20 ms; one
        // without an error has three.
        let options = json!({ "delay": "constant:20ms", "fail": "deadlock@#2" });
        let deployment = null_deployment("retry", options);
        let more = json!({ "clients": 2, "retries": { "most": 1 }, "stop": { "passes": 4 } });
        let run = driven(deployment, &[TRANSFER], more);
        assert_eq!(outcomes(&run), (8, 0, 0, 0));
        assert_eq!((run.outcomes.attempts, run.outcomes.retries), (10, 2));
        assert_eq!(run.statements, 8 * 3 + 2 * 3);
        let times = &run.transactions[0].latency;
        assert!(times.max_ns >= 120_000_000, "{times:?}");
        assert!(times.min_ns < 120_000_000, "{times:?}");
        let error = the_error(&run);
        assert_eq!(error.class, "deadlock");
        assert_eq!(error.count, 2);
        assert_eq!(error.retried, 2);
        let seen: u64 = run.intervals.iter().map(|line| line.retries).sum();
        assert_eq!(seen, 2);
    });
}

#[test]
fn retries_are_limited_to_a_number_and_to_the_given_classes() {
    let deployment =
        |class: &str| null_deployment(class, json!({ "fail": format!("{class}@1.0") }));
    let run = |class: &str, retries| {
        driven(
            deployment(class),
            &["UPDATE t SET a = 1;"],
            json!({ "retries": retries, "stop": { "passes": 3 } }),
        )
    };
    let deadlocks = run("deadlock", json!({ "most": 2 }));
    assert_eq!(outcomes(&deadlocks), (0, 0, 3, 0));
    assert_eq!(deadlocks.outcomes.attempts, 9);
    assert_eq!(deadlocks.outcomes.retries, 6);
    assert_eq!(the_error(&deadlocks).count, 9);
    assert_eq!(the_error(&deadlocks).retried, 6);
    let constraints = run("constraint", json!({ "most": 2 }));
    assert_eq!(constraints.outcomes.attempts, 3);
    assert_eq!(constraints.outcomes.retries, 0);
    let named = run(
        "constraint",
        json!({ "most": 1, "classes": ["constraint"] }),
    );
    assert_eq!((named.outcomes.attempts, named.outcomes.retries), (6, 3));
}

#[test]
fn real_deadlocks_are_retried_and_nothing_is_done_twice() {
    let Some(server) = Server::start(&["deadlock_timeout=20ms"]) else {
        return;
    };
    let mut session = server.session();
    for statement in [
        "CREATE TABLE t (id int PRIMARY KEY, n int NOT NULL)",
        "INSERT INTO t VALUES (1, 0), (2, 0)",
    ] {
        session.execute(statement).unwrap();
    }
    let update = |id: u32| format!("UPDATE t SET n = n + 1 WHERE id = {id};\n");
    let both = |first, second| {
        format!(
            "BEGIN;\n{}\\sleep 2 ms\n{}COMMIT;\n",
            update(first),
            update(second)
        )
    };
    let texts = [both(1, 2), both(2, 1), "INSERT INTO t VALUES (1, 0);".to_owned()];
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let run = driven(
        server.deployment(),
        &texts,
        json!({ "clients": 4, "threads": 2, "retries": { "most": 100 }, "stop": { "passes": 8 } }),
    );
    assert_eq!(outcomes(&run), (64, 0, 32, 0));
    assert!(run.outcomes.retries > 0, "{:?}", run.outcomes);
    let of = |class: &'static str| run.errors.iter().filter(move |error| error.class == class);
    assert_eq!(of("constraint").map(|error| error.count).sum::<u64>(), 32);
    let deadlocks = of("deadlock").map(|error| (error.count, error.retried));
    assert!(deadlocks.clone().all(|(count, retried)| count == retried));
    assert_eq!(
        deadlocks.map(|(count, _)| count).sum::<u64>(),
        run.outcomes.retries
    );
    assert_eq!(server.value("SELECT sum(n) FROM t"), "128");
}

// What an attempt has made durable before it fails is never done twice, and never called undone.

fn retried(name: &str, text: &str, fail: &str) -> Observation {
    let deployment = null_deployment(name, json!({ "fail": fail }));
    let more = json!({ "retries": { "most": 3 }, "stop": { "passes": 3 } });
    driven(deployment, &[text], more)
}

/// Statements outside a transaction: the first is durable when the second meets a deadlock.
#[test]
fn a_transaction_whose_first_part_is_durable_is_unknown_and_not_retried() {
    for text in [
        "UPDATE t SET a = 1; UPDATE u SET a = 1;",
        // A function may write.
        "SELECT pay(1); UPDATE u SET a = 1;",
    ] {
        let run = retried(text, text, "deadlock@#2");
        assert_eq!(outcomes(&run), (2, 0, 0, 1), "{text}");
        assert_eq!(run.outcomes.attempts, 3, "{text}");
        assert_eq!(run.outcomes.retries, 0, "{text}");
        assert_eq!((run.partly_durable, run.not_retried), (1, 1), "{text}");
        assert_eq!((run.errors[0].count, run.errors[0].retried), (1, 0));
    }
    // A commit before the failure, in a script that goes on.
    let text = "BEGIN; UPDATE t SET a = 1; COMMIT; UPDATE u SET a = 1;";
    let run = retried("committed", text, "deadlock@#4");
    assert_eq!(outcomes(&run), (2, 0, 0, 1));
    assert_eq!((run.partly_durable, run.not_retried), (1, 1));
    // A failure that would not have been retried, and one of the script itself.
    let run = retried(
        "constraint",
        "UPDATE t SET a = 1; UPDATE u SET a = 1;",
        "constraint@#2",
    );
    assert_eq!(outcomes(&run), (2, 0, 0, 1));
    assert_eq!((run.partly_durable, run.not_retried), (1, 0));
    let run = retried(
        "expected",
        "UPDATE t SET a = 1;\n\\expect rows 7\n",
        "data@#99",
    );
    assert_eq!(outcomes(&run), (0, 0, 0, 3));
}

#[test]
fn what_has_left_nothing_is_retried() {
    for (text, failing) in [
        ("UPDATE t SET a = 1;", 1),
        ("SELECT a, count(*) FROM t; UPDATE u SET a = 1;", 2),
        ("SET a = 1; BEGIN; UPDATE u SET a = 1; COMMIT;", 2),
        ("BEGIN; UPDATE t SET a = 1; UPDATE u SET a = 1; COMMIT;", 3),
        ("BEGIN; SELECT a FROM t; COMMIT; UPDATE u SET a = 1;", 4),
        (
            "BEGIN; UPDATE t SET a = 1; ROLLBACK; UPDATE u SET a = 1;",
            4,
        ),
    ] {
        let run = retried(text, text, &format!("deadlock@#{failing}"));
        assert_eq!(outcomes(&run), (3, 0, 0, 0), "{text}");
        assert_eq!(run.outcomes.retries, 1, "{text}");
        assert_eq!((run.partly_durable, run.not_retried), (0, 0), "{text}");
    }
}

/// The number of an attempt that has left rows belongs to them.
#[test]
fn the_number_of_a_partly_durable_transaction_is_not_given_again() {
    let numbers = |text: &str, fail: &str| {
        let run = retried(text, text, fail);
        let reached = &run.shared_numbers[0];
        let reached: Value = serde_json::to_value(reached).unwrap();
        (
            reached["taken"].as_u64().unwrap(),
            reached["acknowledged"].as_u64().unwrap(),
        )
    };
    let text = "\\next n\nINSERT INTO t VALUES (:n);\nINSERT INTO u VALUES (:n);\n";
    assert_eq!(numbers(text, "constraint@#2"), (3, 0));
    // Nothing stays of a statement that fails itself: the next transaction takes its number.
    assert_eq!(
        numbers("\\next n\nINSERT INTO t VALUES (:n);\n", "constraint@#1"),
        (2, 2)
    );
    // An abort does not undo what was durable before it.
    let text = "\\next n\nINSERT INTO t VALUES (:n);\n\\abort\n";
    assert_eq!(numbers(text, "data@#99"), (3, 0));
}

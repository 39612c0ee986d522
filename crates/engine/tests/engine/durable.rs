//! What an attempt has made durable before it fails is never done twice, and never called undone.

use assay_engine::Observation;
use serde_json::{Value, json};

use crate::support::{document, null_deployment, observe, outcomes};

fn retried(name: &str, text: &str, fail: &str) -> Observation {
    let deployment = null_deployment(name, json!({ "fail": fail }));
    let more = json!({ "retries": { "most": 3 }, "stop": { "passes": 3 } });
    observe(&document(deployment, &[text], more))
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
        assert_eq!(
            (run.outcomes.attempts, run.outcomes.retries),
            (3, 0),
            "{text}"
        );
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

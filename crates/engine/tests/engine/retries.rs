//! A transaction that the system aborted may be retried, and still counts once.

use serde_json::json;

use crate::support::quiet::on_a_quiet_machine;
use crate::support::server::Server;
use crate::support::{document, null_deployment, observe, outcomes, the_error};

const TRANSFER: &str = "BEGIN; UPDATE t SET a = 1; COMMIT;";

#[test]
fn an_attempt_after_a_deadlock_is_part_of_the_same_transaction() {
    on_a_quiet_machine(|| {
        // BEGIN, the update that fails, ROLLBACK, BEGIN, UPDATE, COMMIT: six statements of 20 ms; one
        // without an error has three.
        let deployment = null_deployment(
            "retry",
            json!({ "delay": "constant:20ms", "fail": "deadlock@#2" }),
        );
        let run = observe(&document(
            deployment,
            &[TRANSFER],
            json!({ "clients": 2, "retries": { "most": 1 }, "stop": { "passes": 4 } }),
        ));
        assert_eq!(outcomes(&run), (8, 0, 0, 0));
        assert_eq!((run.outcomes.attempts, run.outcomes.retries), (10, 2));
        assert_eq!(run.statements, 8 * 3 + 2 * 3);
        let times = &run.transactions[0].latency;
        assert!(times.max_ns >= 120_000_000, "{times:?}");
        assert!(times.min_ns < 120_000_000, "{times:?}");
        let error = the_error(&run);
        assert_eq!(
            (error.class, error.count, error.retried),
            ("deadlock", 2, 2)
        );
        let seen: u64 = run.intervals.iter().map(|line| line.retries).sum();
        assert_eq!(seen, 2);
    });
}

#[test]
fn retries_are_limited_to_a_number_and_to_the_given_classes() {
    let deployment =
        |class: &str| null_deployment(class, json!({ "fail": format!("{class}@1.0") }));
    let run = |class: &str, retries| {
        observe(&document(
            deployment(class),
            &["UPDATE t SET a = 1;"],
            json!({ "retries": retries, "stop": { "passes": 3 } }),
        ))
    };
    let deadlocks = run("deadlock", json!({ "most": 2 }));
    assert_eq!(outcomes(&deadlocks), (0, 0, 3, 0));
    assert_eq!(
        (deadlocks.outcomes.attempts, deadlocks.outcomes.retries),
        (9, 6)
    );
    assert_eq!(
        (the_error(&deadlocks).count, the_error(&deadlocks).retried),
        (9, 6)
    );
    let constraints = run("constraint", json!({ "most": 2 }));
    assert_eq!(
        (constraints.outcomes.attempts, constraints.outcomes.retries),
        (3, 0)
    );
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
    let texts = [
        both(1, 2),
        both(2, 1),
        "INSERT INTO t VALUES (1, 0);".to_owned(),
    ];
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let run = observe(&document(
        server.deployment(),
        &texts,
        json!({ "clients": 4, "threads": 2, "retries": { "most": 100 }, "stop": { "passes": 8 } }),
    ));
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

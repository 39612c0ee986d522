//! Statements that the server no longer accepts as they were prepared are prepared again.

use serde_json::json;

use crate::support::scripted::{Asked, Scripted, complete, error, message, ready};
use crate::support::server::Server;
use crate::support::{driven, outcomes, the_error};

#[test]
fn a_change_of_the_schema_under_load_fails_no_statement_outside_a_transaction() {
    let Some(server) = Server::start(&[]) else {
        return;
    };
    let mut session = server.session();
    session.execute("CREATE TABLE t (a int)").unwrap();
    session.execute("INSERT INTO t VALUES (7)").unwrap();
    let texts = [
        "\\set a 7\nSELECT * FROM t WHERE a = :a;\n\\expect rows 1\n",
        "ALTER TABLE t ADD COLUMN IF NOT EXISTS b int;",
        "DEALLOCATE ALL;",
    ];
    let more = json!({ "protocol": "prepared", "stop": { "passes": 4 } });
    let run = driven(server.deployment(), &texts, more);
    assert_eq!(outcomes(&run), (12, 0, 0, 0), "{:?}", run.errors);
    // Not in the first pass; in the others both are to be prepared again, which is done once.
    assert_eq!(run.prepared_again, 3);
}

#[test]
fn within_a_transaction_that_one_fails_and_the_next_is_served() {
    let Some(server) = Server::start(&[]) else {
        return;
    };
    let mut session = server.session();
    session.execute("CREATE TABLE t (a int, n int)").unwrap();
    session.execute("INSERT INTO t VALUES (7, 0)").unwrap();
    let texts = [
        "\\set a 7\nBEGIN;\nSELECT * FROM t WHERE a = :a;\nUPDATE t SET n = n + 1 WHERE a = :a;\nCOMMIT;\n",
        "ALTER TABLE t ADD COLUMN IF NOT EXISTS b int;",
    ];
    let more = json!({ "protocol": "prepared", "stop": { "passes": 4 } });
    let run = driven(server.deployment(), &texts, more);
    assert_eq!(outcomes(&run), (7, 0, 1, 0), "{:?}", run.errors);
    assert_eq!(the_error(&run).code, "0A000");
    assert_eq!(run.prepared_again, 1);
    assert_eq!(server.value("SELECT n FROM t"), "3");
    // The same in a pipeline, whose statements are undone together.
    let text = "\\set a 7\n\\startpipeline\nUPDATE t SET n = n + 1 WHERE a = :a;\nSELECT * FROM t WHERE a = :a;\n\
                \\endpipeline\n";
    let texts = [text, "ALTER TABLE t ADD COLUMN IF NOT EXISTS c int;"];
    let more = json!({ "protocol": "prepared", "stop": { "passes": 4 } });
    let run = driven(server.deployment(), &texts, more);
    assert_eq!(outcomes(&run), (7, 0, 1, 0), "{:?}", run.errors);
    assert_eq!(run.prepared_again, 1);
    assert_eq!(server.value("SELECT n FROM t"), "6");
}

/// A server that refuses each execution: a client does not prepare without an end.
#[test]
fn a_statement_is_executed_once_more_and_not_more_often() {
    let server = Scripted::start(|_, asked| {
        let prepared =
            [message(b'1', &[]), message(b't', &[0, 0]), message(b'n', &[]), ready(b'I')];
        match asked {
            Asked::Sync(tags) if tags.contains('P') => prepared.concat(),
            Asked::Sync(_) => [error("26000"), ready(b'I')].concat(),
            Asked::Query(text) => panic!("expected no text, found {text}"),
        }
    });
    let more = json!({ "protocol": "prepared", "stop": { "passes": 2 } });
    let run = driven(server.deployment(), &["UPDATE t SET a = 1;"], more);
    assert_eq!(outcomes(&run), (0, 0, 2, 0));
    assert_eq!(the_error(&run).class, "unknown object");
    assert_eq!(the_error(&run).count, 2);
    // Before the second execution, and after it for the next transaction.
    assert_eq!(run.prepared_again, 4);
}

/// The commit comes with the end of the pipeline.
#[test]
fn an_error_of_the_end_of_a_pipeline_is_that_of_the_transaction() {
    let server = Scripted::start(|number, asked| {
        let Asked::Sync(tags) = asked else {
            panic!("expected a pipeline, found {asked:?}")
        };
        let executed = || [message(b'1', &[]), message(b'2', &[]), message(b'n', &[])].concat();
        let mut answer = Vec::new();
        for _ in tags.chars().filter(|tag| *tag == 'E') {
            answer.extend([executed(), complete("SELECT 1")].concat());
        }
        if number == 1 {
            answer.extend(error("40001"));
        }
        [answer, ready(b'I')].concat()
    });
    let text = "\\startpipeline\nSELECT 1;\nSELECT 2;\n\\endpipeline\n";
    let more = json!({
        "protocol": "extended", "retries": { "most": 1 }, "digest": true, "sum_answers": true,
    });
    let run = driven(server.deployment(), &[text], more);
    assert_eq!(outcomes(&run), (1, 0, 0, 0), "{:?}", run.errors);
    assert_eq!((run.outcomes.attempts, run.outcomes.retries), (2, 1));
    let error = the_error(&run);
    assert_eq!(error.class, "serialization");
    assert_eq!(error.code.as_str(), "40001");
    assert_eq!(error.retried, 1);
    // The answers of the attempt that was undone do not count.
    let answers: Vec<_> = run.results.iter().map(|result| result.answers).collect();
    assert_eq!(answers, [1, 1]);
}

/// The limit of a statement is not that of the next session's.
#[test]
fn the_limit_of_a_statement_ends_with_its_session() {
    let server = Scripted::start(|number, _| match number {
        // No answer; the request to cancel it closes the session.
        1 => Vec::new(),
        2 => [error("40P01"), ready(b'I')].concat(),
        _ => [complete("SELECT 1"), ready(b'I')].concat(),
    });
    let more = json!({
        "statement_limit_s": 0.2, "reconnect": { "after_loss": true }, "stop": { "passes": 3 },
    });
    let run = driven(server.deployment(), &["UPDATE t SET a = 1;"], more);
    assert_eq!(outcomes(&run), (1, 0, 1, 1), "{:?}", run.errors);
    let mut classes: Vec<_> = run.errors.iter().map(|error| error.class).collect();
    classes.sort_unstable();
    assert_eq!(classes, ["deadlock", "lost connection"]);
}

//! The system reports whether a transaction is open: statements that no SQL parser can judge are rolled back
//! when needed, and only then.

use assay_drivers::registry::DRIVERS;
use assay_engine::{Certainty, null_protocols_in};
use serde_json::{Value, json};

use crate::serve::served;
use crate::support::server::Server;
use crate::support::{document, driven, null_deployment, observe, outcomes, session, the_error};

/// Statements that look like the end of a transaction and are not.
const NO_ENDS: [&str; 2] = ["SELECT 'x; commit it'", "SELECT 'a;\nROLLBACK'"];

/// Both rows of `t` are undone, since the third insertion fails; that of `u` is a transaction of its own,
/// which only remains if the previous one was rolled back.
fn failing(statement: &str) -> [String; 2] {
    [
        format!(
            "\\begin\nINSERT INTO t VALUES (1);\n{statement};\nINSERT INTO t VALUES (1);\nCOMMIT;\n"
        ),
        "INSERT INTO u VALUES (1);".to_owned(),
    ]
}

/// The null servers whose drivers can begin a transaction.
fn protocols_with_transactions() -> Vec<&'static str> {
    let has_transactions = |protocol: &&str| {
        let driver = DRIVERS.iter().find(|driver| driver.name == *protocol);
        driver.expect("it has a driver").has_transactions
    };
    let found: Vec<_> = null_protocols_in("sql")
        .into_iter()
        .filter(has_transactions)
        .collect();
    assert!(!found.is_empty());
    found
}

/// Runs both in turn, three times, on tables `t (a)` with a key and `u (a)` without.
fn is_rolled_back(deployment: &Value, statement: &str) {
    for sql in ["DELETE FROM t", "DELETE FROM u"] {
        execute(deployment, sql);
    }
    let texts = failing(statement);
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let more = json!({ "stop": { "passes": 3 } });
    let run = driven(deployment.clone(), &texts, more);
    assert_eq!(
        outcomes(&run),
        (3, 0, 3, 0),
        "{statement}: {:?}",
        run.errors
    );
    assert_eq!(the_error(&run).class, "constraint", "{statement}");
    assert_eq!(count(deployment, "t"), "0", "{statement}");
    assert_eq!(count(deployment, "u"), "3", "{statement}");
}

fn execute(deployment: &Value, statement: &str) {
    session(deployment).execute(statement).unwrap();
}

fn count(deployment: &Value, table: &str) -> String {
    let text = format!("SELECT count(*) FROM {table}");
    let answer = session(deployment).execute(&text).unwrap();
    String::from_utf8_lossy(answer.kept[0][0].as_deref().unwrap()).into_owned()
}

fn tables(deployment: &Value) {
    execute(deployment, "CREATE TABLE t (a int NOT NULL PRIMARY KEY)");
    execute(deployment, "CREATE TABLE u (a int NOT NULL)");
}

/// The statement puts a row into `u` that stays, and fails: it is not done again, unless the script says that it is one
/// transaction.
fn leaves_a_part(deployment: &Value, statement: &str) {
    for (end, expected, attempts) in [
        (";\n", (0, 0, 0, 1), 1),
        (";\n\\atomic\n", (0, 0, 1, 0), 3),
        ("\n\\gset\n\\atomic\n", (0, 0, 1, 0), 3),
    ] {
        execute(deployment, "DELETE FROM u");
        let text = format!("{statement}{end}");
        let again = json!({ "retries": { "most": 2, "classes": ["constraint", "data"] } });
        let run = driven(deployment.clone(), &[&text], again);
        assert_eq!(outcomes(&run), expected, "{text}: {:?}", run.errors);
        let is_part = u64::from(attempts == 1);
        assert_eq!((run.partly_durable, run.not_retried), (is_part, is_part));
        assert_eq!(run.outcomes.attempts, attempts, "{text}");
        assert_eq!(count(deployment, "u"), attempts.to_string(), "{text}");
    }
}

/// A text of several statements, as a plain file may contain.
fn in_one_text(deployment: &Value, text: &str) -> Value {
    let mut plain = document(
        deployment.clone(),
        &[text, "INSERT INTO u VALUES (1)"],
        json!({}),
    );
    for script in plain["scripts"].as_array_mut().unwrap() {
        script["is_plain"] = json!(true);
    }
    plain
}

fn texts_of_several_statements(deployment: &Value) {
    execute(deployment, "DELETE FROM t");
    execute(deployment, "DELETE FROM u");
    let text = "BEGIN; INSERT INTO t VALUES (7); COMMIT";
    let run = observe(&in_one_text(deployment, text));
    assert_eq!(outcomes(&run), (2, 0, 0, 0), "{:?}", run.errors);
    assert_eq!(count(deployment, "t"), "1");
    assert_eq!(count(deployment, "u"), "1");
    // It fails in the transaction that it has started.
    let text = "BEGIN; INSERT INTO t VALUES (8); INSERT INTO t VALUES (8); COMMIT";
    let run = observe(&in_one_text(deployment, text));
    assert_eq!(outcomes(&run), (1, 0, 1, 0), "{:?}", run.errors);
    assert_eq!(count(deployment, "t"), "1");
    assert_eq!(count(deployment, "u"), "2");
    // It fails in its second transaction: the first is durable.
    let text = "BEGIN; INSERT INTO t VALUES (8); COMMIT; BEGIN; INSERT INTO t VALUES (8); COMMIT";
    let run = observe(&in_one_text(deployment, text));
    assert_eq!(outcomes(&run), (1, 0, 0, 1), "{:?}", run.errors);
    assert_eq!(count(deployment, "t"), "2");
    assert_eq!(run.partly_durable, 1);
}

#[test]
fn postgresql_reports_whether_a_transaction_is_open() {
    let Some(server) = Server::start(&[]) else {
        return;
    };
    let deployment = server.deployment();
    tables(&deployment);
    for statement in NO_ENDS {
        is_rolled_back(&deployment, statement);
    }
    is_rolled_back(&deployment, "DO $$ BEGIN PERFORM 1; END $$");
    texts_of_several_statements(&deployment);

    // After an error that the script expects, PostgreSQL answers COMMIT with ROLLBACK.
    execute(&deployment, "DELETE FROM t");
    execute(&deployment, "INSERT INTO t VALUES (7)");
    let text = "BEGIN;\nINSERT INTO u VALUES (7);\nINSERT INTO t VALUES (7);\n\\expect error constraint\nCOMMIT;\n";
    let before = count(&deployment, "u");
    for protocol in ["simple", "extended", "prepared"] {
        let more = json!({ "protocol": protocol });
        let run = driven(deployment.clone(), &[text], more);
        assert_eq!(outcomes(&run), (0, 0, 1, 0), "{protocol}");
        assert!(the_error(&run).message.contains("answered ROLLBACK"));
    }
    assert_eq!(count(&deployment, "u"), before);

    execute(
        &deployment,
        "CREATE TABLE kinds (d date, t time, ts timestamp, n numeric(12, 2), b bytea, doc jsonb)",
    );
    are_sent_and_read_back(&deployment, "::jsonb");

    execute(
        &deployment,
        "CREATE PROCEDURE half() LANGUAGE plpgsql AS $$ BEGIN INSERT INTO u VALUES (1); COMMIT; PERFORM 1 / 0; END $$",
    );
    for statement in
        ["CALL half()", "DO $$ BEGIN INSERT INTO u VALUES (1); COMMIT; PERFORM 1 / 0; END $$"]
    {
        leaves_a_part(&deployment, statement);
    }
    // Within a transaction the server refuses COMMIT.
    let text = "BEGIN; INSERT INTO u VALUES (1); CALL half(); COMMIT;";
    let run = driven(deployment.clone(), &[text], json!({}));
    assert_eq!(outcomes(&run), (0, 0, 1, 0));

    // Commits by the driver work, and errors of the commit are errors of a statement.
    let sql = "CREATE TABLE late (a int UNIQUE DEFERRABLE INITIALLY DEFERRED)";
    execute(&deployment, sql);
    let scripts = [
        "\\begin\nINSERT INTO late VALUES (1);\n\\commit\n",
        "\\begin\nINSERT INTO late VALUES (1);\n\\commit\n\\expect error constraint\n",
        "\\startpipeline\n\\begin\nINSERT INTO late VALUES (2);\n\\commit\n\\endpipeline\n",
    ];
    for protocol in ["extended", "prepared"] {
        execute(&deployment, "DELETE FROM late");
        let more = json!({ "protocol": protocol });
        let run = driven(deployment.clone(), &scripts, more);
        assert_eq!(outcomes(&run), (3, 0, 0, 0), "{:?}", run.errors);
        assert_eq!(count(&deployment, "late"), "2");
    }
}

#[test]
fn mariadb_reports_whether_a_transaction_is_open() {
    let Some(server) = Server::mariadb() else {
        return;
    };
    let deployment = |database: &str| json!({ "driver": "mysql", "unix": server.socket, "user": "root", "database": database });
    execute(&deployment(""), "CREATE DATABASE test");
    let deployment = deployment("test");
    tables(&deployment);
    for statement in NO_ENDS {
        is_rolled_back(&deployment, statement);
    }
    texts_of_several_statements(&deployment);

    execute(
        &deployment,
        "CREATE TABLE kinds (d date, t time(6), ts datetime(6), n decimal(12, 2), b blob, doc json)",
    );
    are_sent_and_read_back(&deployment, "");

    // A procedure that commits leaves nothing to roll back, and no open transaction.
    execute(&deployment, "DELETE FROM t");
    execute(&deployment, "CREATE PROCEDURE finish() COMMIT");
    // What fails afterwards leaves what it has committed.
    let scripts = [
        "\\begin\nINSERT INTO t VALUES (1);\nCALL finish();\n",
        "\\begin\nINSERT INTO t VALUES (2);\nCALL finish();\nINSERT INTO t VALUES (2);\n",
    ];
    let run = driven(deployment.clone(), &scripts, json!({}));
    assert_eq!(outcomes(&run), (1, 0, 0, 1), "{:?}", run.errors);
    assert_eq!(count(&deployment, "t"), "2");

    execute(
        &deployment,
        "CREATE PROCEDURE half() BEGIN INSERT INTO u VALUES (1); INSERT INTO t VALUES (1); END",
    );
    leaves_a_part(&deployment, "CALL half()");
    leaves_a_part(&deployment, "EXECUTE IMMEDIATE 'CALL half()'");
    // A table without transactions keeps its row, which a warning of ROLLBACK says.
    execute(&deployment, "CREATE TABLE plain (a int) ENGINE = MyISAM");
    let again = json!({ "retries": { "most": 3, "classes": ["constraint"] } });
    for (table, expected) in [("plain", (0, 0, 0, 1)), ("u", (0, 0, 1, 0))] {
        let text =
            format!("BEGIN; INSERT INTO {table} VALUES (1); INSERT INTO t VALUES (1); COMMIT;");
        let run = driven(deployment.clone(), &[&text], again.clone());
        assert_eq!(outcomes(&run), expected, "{table}");
        let is_left = u64::from(table == "plain");
        assert_eq!((run.partly_durable, run.not_retried), (is_left, is_left));
    }
    assert_eq!(count(&deployment, "plain"), "1");
    let run = driven(
        deployment.clone(),
        &["BEGIN; INSERT INTO plain VALUES (2);\n\\abort\n"],
        json!({}),
    );
    assert_eq!((outcomes(&run), run.partly_durable), ((0, 0, 0, 1), 1));
    // Outside a transaction the answer does not say it: the database is known to have such tables.
    let sql = "CREATE TABLE plain_key (a int PRIMARY KEY) ENGINE = MyISAM";
    execute(&deployment, sql);
    let text = "INSERT INTO plain_key VALUES (1), (1);\n\\atomic\n";
    let known = json!({ "leaves_parts": true, "retries": again["retries"] });
    let run = driven(deployment.clone(), &[text], known);
    assert_eq!((outcomes(&run), run.outcomes.attempts), ((0, 0, 0, 1), 1));
    assert_eq!(count(&deployment, "plain_key"), "1");

    // Commits that leave a transaction open, or come before a statement that fails.
    for (number, end) in [
        "COMMIT AND CHAIN;\nINSERT INTO t VALUES (1)",
        "BEGIN;\nINSERT INTO t VALUES (1)",
        "CREATE TABLE u (a int)",
    ]
    .iter()
    .enumerate()
    {
        let text = format!("BEGIN;\nINSERT INTO t VALUES (1{number});\n{end};\nCOMMIT;\n");
        let retries = json!({ "retries": { "most": 2, "classes": ["constraint", "other"] } });
        let run = driven(deployment.clone(), &[&text], retries);
        assert_eq!(outcomes(&run), (0, 0, 0, 1), "{text}: {:?}", run.errors);
        assert_eq!(run.outcomes.attempts, 1, "{text}");
        assert_eq!(run.partly_durable, 1, "{text}");
    }
    assert_eq!(count(&deployment, "t"), "5");
}

#[test]
fn sqlite_reports_whether_a_transaction_is_open() {
    let folder = tempfile::tempdir().unwrap();
    let deployment = json!({ "driver": "sqlite", "file": folder.path().join("test.db") });
    tables(&deployment);
    for statement in NO_ENDS {
        is_rolled_back(&deployment, statement);
    }
    execute(
        &deployment,
        "CREATE TABLE kinds (d date, t time, ts timestamp, n decimal(12, 2), b blob, doc json)",
    );
    are_sent_and_read_back(&deployment, "");
}

/// The third statement fails within a transaction, so the fourth must be the rollback. The session is lost at
/// the fourth: if that were the BEGIN of the next transaction, that one would have failed too.
#[test]
fn the_null_systems_report_it_as_well() {
    let options = json!({ "fail": "data@#3", "lose": "#4" });
    let check = |deployment: Value| {
        let texts = failing(NO_ENDS[0]);
        let text = texts[0].replacen("INSERT INTO t VALUES (1);\n", "", 1);
        let run = driven(deployment, &[&text], json!({ "stop": { "passes": 5 } }));
        assert_eq!(outcomes(&run), (0, 0, 1, 0), "{:?}", run.errors);
        let classes: Vec<_> = run.errors.iter().map(|error| error.class).collect();
        assert_eq!(classes, ["data", "lost connection"]);
    };
    check(null_deployment("reported", options.clone()));
    for protocol in protocols_with_transactions() {
        served(protocol, options.clone(), check);
    }
}

/// One error class may leave a statement undone or unknown: only undone statements are retried.
#[test]
fn an_unknown_statement_is_never_retried() {
    let options = json!({ "fail": "timeout@#1", "unknown": "timeout@#2" });
    let again =
        json!({ "retries": { "most": 5, "classes": ["timeout"] }, "stop": { "passes": 2 } });
    let deployment = null_deployment("unknown", options);
    let run = driven(deployment, &["UPDATE t SET a = 1;"], again);
    assert_eq!(outcomes(&run), (1, 0, 0, 1));
    assert_eq!((run.outcomes.attempts, run.outcomes.retries), (3, 1));
    let errors: Vec<_> = (run.errors.iter())
        .map(|error| (error.class, error.certainty, error.count, error.retried))
        .collect();
    assert_eq!(
        errors,
        [("timeout", Certainty::Undone, 1, 1), ("timeout", Certainty::Unknown, 1, 0)]
    );

    // In a transaction that can still be rolled back all of it is undone; at its commit the outcome is
    // unknown.
    for (statement, expected) in [(2, (0, 0, 1, 0)), (3, (0, 0, 0, 1))] {
        let options = json!({ "unknown": format!("timeout@#{statement}") });
        let text = "BEGIN; UPDATE t SET a = 1; COMMIT;";
        for protocol in protocols_with_transactions() {
            served(protocol, options.clone(), |deployment| {
                let run = driven(deployment, &[text], json!({}));
                assert_eq!(outcomes(&run), expected, "{protocol}, at {statement}");
            });
        }
    }

    // A statement by itself, also where there are no transactions.
    for protocol in null_protocols_in("sql") {
        served(protocol, json!({ "unknown": "timeout@#1" }), |deployment| {
            let again = json!({ "retries": { "most": 5, "classes": ["timeout"] } });
            let run = driven(deployment, &["UPDATE t SET a = 1;"], again);
            assert_eq!(outcomes(&run), (0, 0, 0, 1), "{protocol}");
            assert_eq!(run.outcomes.attempts, 1, "{protocol}");
        });
    }
}

// Values that are neither numbers nor texts: sent in the system's own types, and read back with the same
// type.

/// Inserts a row into `kinds (d, t, ts, n, b, doc)`, reads it into variables, and finds it by these; with and
/// without fractions of a second. `cast` is what the system needs after a document to compare it.
pub fn are_sent_and_read_back(deployment: &Value, cast: &str) {
    let text = format!(
        r#"
\set d date(date('2024-02-28') + :transaction_number)
\set t time('23:59:57.25')
\set ts timestamp(concat(:d, ' 17:53:38.', :transaction_number))
\set n decimal('12345678.90')
\set b bytes('00ff5c27')
\set doc document('id', 7, 'at', list(1, 'it''s'))
INSERT INTO kinds (d, t, ts, n, b, doc) VALUES (:d, :t, :ts, :n, :b, :doc{cast});
\expect rows 1
SELECT d AS read_d, t AS read_t, ts AS read_ts, n AS read_n, b AS read_b FROM kinds WHERE d = :d;
\gset
SELECT count(*) FROM kinds
 WHERE d = :read_d AND t = :read_t AND ts = :read_ts AND n = :read_n AND b = :read_b;
\expect value 1
SELECT doc FROM kinds WHERE d = :d;
\gset path $.at[1] name
SELECT count(*) FROM kinds WHERE b = :b AND 'it''s' = :name;
\expect value 1 + :transaction_number
\set is_kept CASE WHEN :read_d + 1 = date(:d + 1) AND :read_n = :n AND :read_b = :b AND :read_t = :t THEN 1 ELSE 0 END
SELECT count(*) FROM kinds WHERE d = :d AND 1 = :is_kept;
\expect value 1
"#
    );
    for protocol in ["prepared", "extended"] {
        let clear = document(deployment.clone(), &["DELETE FROM kinds;"], json!({}));
        assert_eq!(outcomes(&observe(&clear)), (1, 0, 0, 0));
        let more = json!({ "protocol": protocol, "stop": { "passes": 3 } });
        let run = driven(deployment.clone(), &[&text], more);
        assert_eq!(
            outcomes(&run),
            (3, 0, 0, 0),
            "{protocol}: {:#?}",
            run.errors
        );
    }
}

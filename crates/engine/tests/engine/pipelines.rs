//! Several requests before the first answer if the protocol has pipelines; one by one otherwise.

use assay_engine::{EngineError, Observation};
use serde_json::json;

use crate::serve::served;
use crate::support::rows::loaded;
use crate::support::server::Server;
use crate::support::{driven, null_deployment, of_system, outcomes, the_error};

const TEXT: &str = "\\startpipeline\nBEGIN;\nINSERT INTO t VALUES (:client_id);\nSELECT count(*) FROM t;\nCOMMIT;\n\\endpipeline\n";

#[test]
fn a_library_executes_a_pipeline_one_by_one_and_stops_at_the_first_error() {
    let deployment = null_deployment("pipeline", json!({}));
    let more = json!({ "protocol": "prepared", "stop": { "passes": 3 } });
    let run = driven(deployment, &[TEXT], more);
    assert_eq!(outcomes(&run), (3, 0, 0, 0));
    assert_eq!(run.statements, 12);

    // Statements after the error are not executed; the transaction is rolled back.
    let deployment = null_deployment("pipeline error", json!({ "fail": "constraint@#2" }));
    let more = json!({ "protocol": "extended", "stop": { "passes": 2 } });
    let run = driven(deployment, &[TEXT], more);
    assert_eq!(outcomes(&run), (1, 0, 1, 0));
    assert_eq!(run.statements, 3 + 4);
    assert_eq!(the_error(&run).class, "constraint");
}

fn on_a_server(texts: &[&str], protocol: &str) -> Option<(Server, Observation)> {
    let server = Server::start(&[])?;
    server.session().execute("CREATE TABLE t (n int)").unwrap();
    let more = json!({
        "clients": 3, "protocol": protocol, "per_statement": true, "stop": { "passes": 5 },
    });
    let run = driven(server.deployment(), texts, more);
    Some((server, run))
}

#[test]
fn a_server_answers_a_pipeline_in_order() {
    for protocol in ["extended", "prepared"] {
        let Some((server, run)) = on_a_server(&[TEXT], protocol) else {
            return;
        };
        assert_eq!(outcomes(&run), (15, 0, 0, 0));
        assert_eq!(server.value("SELECT count(*) FROM t"), "15");
        assert_eq!(run.statements, 60);
        let counts: Vec<_> = run
            .per_statement
            .iter()
            .map(|statement| statement.count)
            .collect();
        assert_eq!(counts, [15; 4]);
    }
}

/// Statements combined by `\\;` are one message with `simple`, and a pipeline otherwise.
#[test]
fn combined_statements_are_answered_one_by_one() {
    let combined = "BEGIN \\; INSERT INTO t VALUES (:client_id) \\; SELECT max(n) + 1 AS next FROM t \\; COMMIT;\n\
                    SELECT 7 AS seven \\; SELECT 8 AS eight \\aset\n\
                    SELECT :seven::int + :eight::int;\n\\expect value 15\n";
    for protocol in ["simple", "extended", "prepared"] {
        let Some((server, run)) = on_a_server(&[combined], protocol) else {
            return;
        };
        assert_eq!(
            outcomes(&run),
            (15, 0, 0, 0),
            "{protocol}: {:?}",
            run.errors
        );
        assert_eq!(server.value("SELECT count(*) FROM t"), "15");
        assert_eq!(run.statements, 15 * 7, "{protocol}");
    }
}

#[test]
fn an_error_among_combined_statements_fails_the_rest() {
    let wrong = "INSERT INTO t VALUES (1) \\; SELECT 1/0 \\; INSERT INTO t VALUES (2);";
    for protocol in ["simple", "extended"] {
        let Some((server, run)) = on_a_server(&[wrong, "SELECT 1;"], protocol) else {
            return;
        };
        assert_eq!(outcomes(&run), (15, 0, 15, 0), "{protocol}");
        assert_eq!(the_error(&run).class, "data");
        assert_eq!(server.value("SELECT count(*) FROM t"), "0", "{protocol}");
    }
}

#[test]
fn an_error_in_a_pipeline_fails_its_transaction_and_the_session_continues() {
    let wrong =
        "\\startpipeline\nBEGIN;\nSELECT 1/0;\nINSERT INTO t VALUES (1);\nCOMMIT;\n\\endpipeline\n";
    let Some((server, run)) = on_a_server(&[wrong, TEXT], "prepared") else {
        return;
    };
    assert_eq!(outcomes(&run), (15, 0, 15, 0));
    assert_eq!(the_error(&run).class, "data");
    assert_eq!(server.value("SELECT count(*) FROM t"), "15");
}

/// A deferred constraint is checked at the end of the pipeline, which commits what is outside a transaction.
#[test]
fn a_pipeline_whose_commit_fails_is_no_ok_transaction() {
    let Some(server) = Server::start(&[]) else {
        return;
    };
    let table = "CREATE TABLE late (a int UNIQUE DEFERRABLE INITIALLY DEFERRED)";
    server.session().execute(table).unwrap();
    let twice = "INSERT INTO late VALUES (1)";
    let texts = [
        format!("\\startpipeline\n{twice};\n{twice};\n\\endpipeline\n"),
        format!("{twice} \\; {twice};"),
    ];
    for (protocol, text) in [
        ("extended", &texts[0]),
        ("prepared", &texts[0]),
        ("extended", &texts[1]),
        ("simple", &texts[1]),
    ] {
        let more = json!({ "protocol": protocol, "stop": { "passes": 400 } });
        let run = driven(server.deployment(), &[text], more);
        assert_eq!(outcomes(&run), (0, 0, 400, 0), "{protocol}, {text}");
        let error = the_error(&run);
        assert_eq!(error.class, "constraint", "{protocol}");
        assert_eq!(error.count, 400, "{protocol}");
        assert_eq!(server.value("SELECT count(*) FROM late"), "0");
    }
}

// A protocol that has many requests under way on one connection: rows of a load, pipelines, and the next page
// of an answer.

const PROTOCOL: &str = "cassandra";

const BULK: &str = "INSERT INTO t (n, t) VALUES (?, ?)";

/// Far more rows than can be under way: the load waits for answers.
#[test]
fn every_row_of_a_load_is_acknowledged() {
    let served = served(PROTOCOL, json!({}), |deployment| {
        let report = loaded(&deployment, "t", BULK, 100_000).unwrap();
        let table = &report.tables[0];
        assert_eq!((table.rows, table.affected), (100_000, 100_000));
    });
    assert_eq!(served.statements, 100_000);
}

#[test]
fn a_row_that_fails_ends_the_load_early() {
    let served = served(
        PROTOCOL,
        json!({ "fail": "resources@#5000" }),
        |deployment| {
            let error = loaded(&deployment, "t", BULK, 1_000_000).unwrap_err();
            let (error, _) = of_system(error);
            assert_eq!(error.class.word(), "resources");
        },
    );
    assert!(served.statements < 100_000, "{}", served.statements);
}

#[test]
fn a_pipeline_is_answered_in_order_and_page_by_page() {
    let script = "\\startpipeline\nINSERT INTO t VALUES (:client_id);\nSELECT a FROM t WHERE b = :client_id;\n\\endpipeline\n";
    let served = served(PROTOCOL, json!({ "rows": "25" }), |mut deployment| {
        deployment["options"] = json!({ "page_size": "10" });
        for protocol in ["extended", "prepared"] {
            let more = json!({ "clients": 3, "protocol": protocol, "stop": { "passes": 5 } });
            let run = driven(deployment.clone(), &[script], more);
            assert_eq!(outcomes(&run), (15, 0, 0, 0), "{protocol}");
            assert_eq!(run.statements, 30, "{protocol}");
        }
    });
    assert_eq!(served.statements, 60);
}

#[test]
fn an_option_that_the_driver_does_not_have_is_refused_before_any_session() {
    let deployment = json!({ "driver": PROTOCOL, "host": "127.0.0.1", "port": 1,
                       "options": { "consistency": "most" } });
    let error = loaded(&deployment, "t", BULK, 1).unwrap_err();
    let EngineError::Document(message) = error else {
        panic!("{error:?}")
    };
    assert!(message.contains("key `options`"), "{message}");
    assert!(message.contains("expected one of any, one,"), "{message}");
}

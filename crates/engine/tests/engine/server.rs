//! The event loop against a real server: many clients on few threads.

use serde_json::json;

use crate::support::server::Server;
use crate::support::{document, driven, ok_count, outcomes, the_error};

#[test]
fn a_server_is_driven_by_an_event_loop() {
    let Some(server) = Server::start(&[]) else {
        return;
    };
    let mut session = server.session();
    session
        .execute("CREATE TABLE t (id int PRIMARY KEY, n int NOT NULL)")
        .unwrap();
    session
        .execute("INSERT INTO t SELECT i, 0 FROM generate_series(1, 1000) i")
        .unwrap();
    assert!(session.server_version().contains("15") || !session.server_version().is_empty());

    prepared_selects_of_32_clients_on_2_threads(&server);
    every_ok_update_is_in_the_database(&server);
    sleeps_on_either_side_are_in_the_latency(&server);
    a_failed_transaction_is_rolled_back(&server);
    large_answers_agree_among_clients(&server);
    a_statement_that_cannot_be_prepared_is_reported_with_its_place(&server);
    a_bulk_load_in_a_script_is_an_error(&server);
    a_statement_that_takes_too_long_ends_its_client(&server);
    a_statement_over_its_limit_is_cancelled(&server);
}

fn prepared_selects_of_32_clients_on_2_threads(server: &Server) {
    let text = "\\set id random(1, 1000)\nSELECT n FROM t WHERE id = :id;\n\\expect rows 1\n";
    let run = driven(
        server.deployment(),
        &[text],
        json!({ "clients": 32, "threads": 2, "protocol": "prepared", "stop": { "passes": 200 } }),
    );
    assert_eq!(outcomes(&run), (6400, 0, 0, 0));
    assert_eq!((run.threads, run.ended_by.word()), (2, "stop"));
    // Answers to a statement with parameters are not compared.
    assert!(run.results.is_empty());
    let times = &run.transactions[0].latency;
    assert!(times.min_ns > 0);
    assert!(times.min_ns <= times.p50_ns.unwrap());
    assert!(times.p50_ns.unwrap() <= times.max_ns);
}

fn every_ok_update_is_in_the_database(server: &Server) {
    let text =
        "\\set id random(1, 1000)\nBEGIN;\nUPDATE t SET n = n + 1 WHERE id = :id;\nCOMMIT;\n";
    for protocol in ["simple", "extended", "prepared"] {
        server.session().execute("UPDATE t SET n = 0").unwrap();
        let more = json!({ "clients": 8, "protocol": protocol, "stop": { "transactions": 100 } });
        let run = driven(server.deployment(), &[text], more);
        assert_eq!(outcomes(&run), (800, 0, 0, 0));
        assert_eq!(server.value("SELECT sum(n) FROM t"), "800");
    }
}

fn sleeps_on_either_side_are_in_the_latency(server: &Server) {
    let scripts = ["SELECT pg_sleep(0.02);", "SELECT 1;\n\\sleep 15 ms\nSELECT 2;"];
    let more = json!({ "clients": 20, "threads": 2, "stop": { "passes": 10 } });
    let run = driven(server.deployment(), &scripts, more);
    assert_eq!(["A", "B"].map(|name| ok_count(&run, name)), [200, 200]);
    assert!(run.transactions[0].latency.min_ns >= 20_000_000);
    assert!(run.transactions[1].latency.min_ns >= 15_000_000);
    assert!(run.passes.unwrap().latency.min_ns >= 35_000_000);
}

fn a_failed_transaction_is_rolled_back(server: &Server) {
    server.session().execute("UPDATE t SET n = 0").unwrap();
    let scripts = [
        "BEGIN;\nUPDATE t SET n = 1 WHERE id = 1;\nINSERT INTO t VALUES (1, 1);\nCOMMIT;\n",
        "UPDATE t SET n = 1 WHERE id = 2;",
        "BEGIN;\nUPDATE t SET n = 1 WHERE id = 3;\n\\abort\n",
    ];
    let more = json!({ "stop": { "passes": 5 } });
    let run = driven(server.deployment(), &scripts, more);
    assert_eq!(outcomes(&run), (5, 5, 5, 0));
    let error = the_error(&run);
    assert_eq!(error.class, "constraint");
    assert_eq!(error.code.as_str(), "23505");
    assert_eq!(error.count, 5);
    let left = server.value("SELECT string_agg(id::text, ' ' ORDER BY id) FROM t WHERE n = 1");
    assert_eq!(left, "2");
}

fn large_answers_agree_among_clients(server: &Server) {
    // Rows of all sizes, so that messages are split anywhere; 20 MB for each answer.
    let text = "SELECT i, repeat('x', i % 1500) FROM generate_series(1, 25000) i;";
    let more = json!({ "clients": 4, "threads": 2, "digest": true, "stop": { "passes": 3 } });
    let run = driven(server.deployment(), &[text], more);
    assert_eq!(outcomes(&run), (12, 0, 0, 0));
    let result = &run.results[0];
    assert_eq!(result.rows, 25_000);
    assert_eq!(result.answers, 12);
    assert_eq!(result.differing, 0);
}

fn a_statement_that_cannot_be_prepared_is_reported_with_its_place(server: &Server) {
    let unpreparable = document(
        server.deployment(),
        &["SELECT 1;\nSELECT nothing FROM nowhere;"],
        json!({ "clients": 4, "protocol": "prepared" }),
    );
    let message = crate::support::refused(&unpreparable).to_string();
    assert!(message.contains("A.sql:2:1"), "{message}");
    assert!(message.contains("nowhere"), "{message}");
}

fn a_bulk_load_in_a_script_is_an_error(server: &Server) {
    let run = driven(server.deployment(), &["COPY t FROM STDIN;"], json!({}));
    assert_eq!(outcomes(&run).0, 0);
    assert_eq!(run.errors.len(), 1, "{:?}", run.errors);
}

fn a_statement_that_takes_too_long_ends_its_client(server: &Server) {
    let scripts = ["SELECT 1;", "SELECT pg_sleep(600);"];
    let more = json!({ "clients": 3, "statement_timeout_s": 0.3 });
    let run = driven(server.deployment(), &scripts, more);
    assert_eq!(outcomes(&run), (3, 0, 0, 3));
    assert_eq!(the_error(&run).class, "timeout");
    assert_eq!(run.ended_by.word(), "all clients failed");
}

fn a_statement_over_its_limit_is_cancelled(server: &Server) {
    let scripts = ["SELECT pg_sleep(600);", "SELECT 1;"];
    let more = json!({ "clients": 3, "statement_limit_s": 0.3 });
    let run = driven(server.deployment(), &scripts, more);
    assert_eq!(outcomes(&run), (3, 0, 3, 0));
    assert_eq!(the_error(&run).class, "timeout");
    assert_eq!(run.ended_by.word(), "stop");
}

//! Loading over a socket: rows are sent while errors may arrive.

use assay_engine::{EngineError, LoadReport};
use serde_json::json;

use crate::support::of_system;
use crate::support::rows::{Counting, loaded_by};
use crate::support::server::Server;

#[test]
fn a_server_is_loaded_by_copy() {
    let Some(server) = Server::start(&[]) else {
        return;
    };
    let mut session = server.session();
    session
        .execute("CREATE TABLE a (n int PRIMARY KEY, t text)")
        .unwrap();
    session
        .execute("CREATE TABLE b (n int PRIMARY KEY, t text)")
        .unwrap();

    all_rows_arrive(&server);
    a_wrong_row_leaves_nothing(&server);
    a_failing_source_leaves_nothing(&server);
    an_interrupt_leaves_nothing(&server);
    a_failing_end_leaves_nothing(&server);
    a_closed_session_is_reported(&server);
}

fn try_load(
    server: &Server,
    source: Counting,
    after: &str,
    breaks_at: u64,
) -> Result<LoadReport, EngineError> {
    let table = |name: &str| json!({ "name": name, "bulk": format!("COPY {name} FROM STDIN"), "form": "native" });
    let document = json!({
        "deployment": server.deployment(),
        "before": ["BEGIN", "TRUNCATE a, b"],
        "tables": [table("a"), table("b")],
        "after": [after],
        "on_error": ["ROLLBACK"],
    });
    loaded_by(&document, source, breaks_at)
}

fn counts(server: &Server) -> String {
    server.value("SELECT (SELECT count(*) FROM a) || ' ' || (SELECT count(*) FROM b)")
}

fn all_rows_arrive(server: &Server) {
    // Several megabytes: far more than all buffers in between.
    let report = try_load(server, Counting::new(2, 200_000), "COMMIT", u64::MAX).unwrap();
    assert!(
        report
            .tables
            .iter()
            .all(|table| (table.rows, table.affected) == (200_000, 200_000))
    );
    assert!(report.bytes_sent > 8_000_000);
    assert_eq!(counts(server), "200000 200000");
    assert_eq!(
        server.value("SELECT t FROM b WHERE n = 199999"),
        "row 199999 of table 1"
    );
}

/// The rows from before the failed load must still be there.
fn assert_untouched(server: &Server) {
    assert_eq!(counts(server), "200000 200000");
    assert_eq!(
        server.value("SELECT count(*) FROM pg_locks WHERE relation = 'b'::regclass"),
        "0"
    );
}

fn a_wrong_row_leaves_nothing(server: &Server) {
    // The server reports an error in the middle, and then accepts no more rows.
    let mut source = Counting::new(2, 1_000_000);
    source.wrong_at = Some(1000);
    let error = try_load(server, source, "COMMIT", u64::MAX).unwrap_err();
    let (error, context) = of_system(error);
    assert_eq!(error.class.word(), "data");
    assert!(context.contains("table b"), "{context}");
    assert!(
        !context.contains("after 1000000 rows"),
        "the error was noticed late: {context}"
    );
    assert_untouched(server);
}

fn a_failing_source_leaves_nothing(server: &Server) {
    let mut source = Counting::new(2, 50_000);
    source.fails_at = Some(30_000);
    let error = try_load(server, source, "COMMIT", u64::MAX).unwrap_err();
    assert!(matches!(error, EngineError::Source(_)), "{error:?}");
    assert_untouched(server);
}

fn an_interrupt_leaves_nothing(server: &Server) {
    let error = try_load(server, Counting::new(2, 100_000_000), "COMMIT", 1).unwrap_err();
    assert!(matches!(error, EngineError::Interrupted), "{error:?}");
    assert_untouched(server);
}

fn a_failing_end_leaves_nothing(server: &Server) {
    let after = "SELECT 1 / 0";
    let error = try_load(server, Counting::new(2, 10), after, u64::MAX)
        .unwrap_err()
        .to_string();
    assert!(error.contains(after), "{error}");
    assert!(error.contains("division"), "{error}");
    assert_untouched(server);
}

fn a_closed_session_is_reported(server: &Server) {
    let after = "SELECT pg_terminate_backend(pg_backend_pid())";
    let error = try_load(server, Counting::new(2, 10), after, u64::MAX).unwrap_err();
    let (error, _) = of_system(error);
    assert_eq!(error.class.word(), "lost connection");
    assert_eq!(error.code.as_str(), "57P01");
    assert_untouched(server);
}

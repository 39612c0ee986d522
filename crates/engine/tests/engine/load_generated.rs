//! Loading generated rows: a system returns what was generated.

use std::time::{Duration, Instant};

use assay_engine::EngineError;
use serde_json::json;

use crate::support::generated::{COLUMNS, Loading, checksum, dataset, digest, types};
use crate::support::server::Server;
use crate::support::{of_system, session};

fn names() -> String {
    let names: Vec<&str> = COLUMNS.iter().map(|&(name, _, _)| name).collect();
    names.join(", ")
}

#[test]
fn a_library_returns_the_generated_rows() {
    let folder = tempfile::tempdir().unwrap();
    let deployment = json!({ "driver": "sqlite", "file": folder.path().join("data.db") });
    let columns: Vec<String> = COLUMNS
        .iter()
        .map(|(name, of, _)| format!("{name} {of}"))
        .collect();
    let mut session = session(&deployment);
    session
        .execute(&format!("CREATE TABLE t ({})", columns.join(", ")))
        .unwrap();
    let marks = vec!["?"; COLUMNS.len()].join(", ");
    let loading = Loading {
        deployment: deployment.clone(),
        bulk: &format!("INSERT INTO t ({}) VALUES ({marks})", names()),
        types: COLUMNS.iter().map(|&(_, of, _)| of).collect(),
        sessions: 1,
    };
    let rows = dataset("3000", COLUMNS);
    let report = loading.load(&rows, u64::MAX).unwrap();
    let table = &report.tables[0];
    assert_eq!((table.rows, table.affected, table.bytes), (3000, 3000, 0));
    let expected = checksum(&rows);
    assert_eq!(table.checksum.as_ref(), Some(&expected));
    let select = format!("SELECT {} FROM t", names());
    assert_eq!(
        digest(&deployment, &select, types(COLUMNS)),
        (3000, expected)
    );
}

#[test]
fn a_server_is_loaded_in_parts_of_either_format() {
    let Some(server) = Server::start(&[]) else {
        return;
    };
    the_server_returns_the_generated_rows(&server);
    a_failing_source_leaves_nothing(&server);
    a_row_that_the_server_rejects_leaves_nothing(&server);
    a_value_that_cannot_be_sent_leaves_nothing(&server);
    an_interrupt_leaves_nothing(&server);
    an_address_without_a_server_is_reported(&server);
}

fn server_type(of: &str) -> &str {
    match of {
        "double" => "double precision",
        "float" => "real",
        other => other,
    }
}

/// By COPY, in three sessions; without types as text.
fn loading<'a>(server: &Server, bulk: &'a str, types: Vec<&'a str>) -> Loading<'a> {
    Loading {
        deployment: server.deployment(),
        bulk,
        types,
        sessions: 3,
    }
}

fn the_server_returns_the_generated_rows(server: &Server) {
    // All columns except decimals, which are only sent as text.
    let binary: Vec<_> = COLUMNS
        .iter()
        .copied()
        .filter(|&(_, of, _)| !of.starts_with("decimal"))
        .collect();
    for (columns, is_typed) in [(COLUMNS, true), (COLUMNS, false), (binary.as_slice(), true)] {
        let declared: Vec<String> = columns
            .iter()
            .map(|(name, of, _)| format!("{name} {}", server_type(of)))
            .collect();
        let mut session = server.session();
        session.execute("DROP TABLE IF EXISTS t").unwrap();
        session
            .execute(&format!(
                "CREATE TABLE t ({}, PRIMARY KEY (id))",
                declared.join(", ")
            ))
            .unwrap();
        let known = columns.iter().filter(|_| is_typed).map(|&(_, of, _)| of);
        let rows = dataset("20000", columns);
        let loading = loading(server, "COPY t FROM STDIN", known.collect());
        let report = loading.load(&rows, u64::MAX).unwrap();
        let table = &report.tables[0];
        assert_eq!((table.rows, table.affected), (20_000, 20_000));
        assert_eq!((report.sessions, table.bytes), (3, report.bytes_sent));
        let expected = checksum(&rows);
        if is_typed {
            assert_eq!(table.checksum.as_ref(), Some(&expected));
        }
        let digest = digest(&server.deployment(), "SELECT * FROM t", types(columns));
        assert_eq!(digest, (20_000, expected));
    }
}

/// An empty table with two integer columns.
fn empty_table(server: &Server) {
    let mut session = server.session();
    session.execute("DROP TABLE IF EXISTS t").unwrap();
    session
        .execute("CREATE TABLE t (id int PRIMARY KEY, n int)")
        .unwrap();
}

fn assert_empty(server: &Server) {
    assert_eq!(server.value("SELECT count(*) FROM t"), "0");
    // The server ends a session that was left, and drops its locks, when it comes to it.
    let locks = "SELECT count(*) FROM pg_locks WHERE relation = 't'::regclass";
    let end = Instant::now() + Duration::from_secs(120);
    while server.value(locks) != "0" {
        assert!(Instant::now() < end, "locks are left");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn a_failing_source_leaves_nothing(server: &Server) {
    empty_table(server);
    // A row of the last part cannot be computed.
    let columns = [("id", "int", ":row"), ("n", "int", "1000 / (29000 - :row)")];
    let rows = dataset("30000", &columns);
    let loading = loading(server, "COPY t FROM STDIN", vec!["int", "int"]);
    let error = loading.load(&rows, u64::MAX).unwrap_err();
    let EngineError::Source(error) = error else {
        panic!("{error:?}")
    };
    assert_eq!(
        error.to_string(),
        "workload.toml:7: the column n in row 29000 of t: division by zero: 1000 / 0"
    );
    assert_empty(server);
}

fn a_row_that_the_server_rejects_leaves_nothing(server: &Server) {
    empty_table(server);
    // A part has a duplicate key.
    let columns = [("id", "int", ":row - :row / 29000"), ("n", "int", "1")];
    let rows = dataset("30000", &columns);
    let loading = loading(server, "COPY t FROM STDIN", vec!["int", "int"]);
    let error = loading.load(&rows, u64::MAX).unwrap_err();
    let (error, context) = of_system(error);
    assert_eq!(error.class.word(), "constraint");
    assert!(context.contains("in session 3"), "{context}");
    assert_empty(server);
}

fn a_value_that_cannot_be_sent_leaves_nothing(server: &Server) {
    empty_table(server);
    let mut session = server.session();
    session
        .execute("ALTER TABLE t ALTER n TYPE smallint")
        .unwrap();
    // The document declares other types than the source's.
    let columns = [("id", "int", ":row"), ("n", "int", ":row * 4")];
    let rows = dataset("30000", &columns);
    let loading = loading(server, "COPY t FROM STDIN", vec!["int", "smallint"]);
    let error = loading.load(&rows, u64::MAX).unwrap_err();
    let (error, context) = of_system(error);
    assert_eq!(error.class.word(), "data");
    assert!(
        error.message.contains("column 2: expected smallint, found"),
        "{error:?} {context}"
    );
    assert_empty(server);
}

fn an_interrupt_leaves_nothing(server: &Server) {
    empty_table(server);
    let columns = [("id", "int", ":row"), ("n", "int", "1")];
    let rows = dataset("1000000000", &columns);
    let loading = loading(server, "COPY t FROM STDIN", vec!["int", "int"]);
    let error = loading.load(&rows, 1).unwrap_err();
    assert!(matches!(error, EngineError::Interrupted), "{error:?}");
    assert_empty(server);
}

fn an_address_without_a_server_is_reported(server: &Server) {
    let mut loading = loading(server, "COPY t FROM STDIN", vec!["int", "int"]);
    loading.deployment = json!({ "driver": "postgresql", "unix": "/nowhere/at/all" });
    let rows = dataset("3", &[("id", "int", ":row"), ("n", "int", "1")]);
    let error = loading.load(&rows, u64::MAX).unwrap_err();
    let (error, context) = of_system(error);
    assert_eq!(error.class.word(), "connection refused");
    assert_eq!(context, "opening a session");
}

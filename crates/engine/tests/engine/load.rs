//! Loading into a library in this process: all rows or none.

use std::ops::ControlFlow;

use assay_engine::{
    DeploymentDocument, EngineError, LoadDocument, LoadReport, Session, load, load_parts,
};
use assay_values::{Row, RowSource, SourceError};
use serde_json::{Value, json};

use crate::support::null_deployment;
use crate::support::rows::Counting;

/// A database file with two empty tables `a` and `b`.
struct Database {
    _folder: tempfile::TempDir,
    deployment: Value,
}

impl Database {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let deployment = json!({ "driver": "sqlite", "file": folder.path().join("data.db") });
        let database = Self {
            _folder: folder,
            deployment,
        };
        database.execute("CREATE TABLE a (n INTEGER CHECK (typeof(n) = 'integer'), t TEXT)");
        database.execute("CREATE TABLE b (n INTEGER CHECK (typeof(n) = 'integer'), t TEXT)");
        database
    }

    fn execute(&self, statement: &str) -> Vec<Vec<Option<Box<[u8]>>>> {
        let deployment = DeploymentDocument::parse(&self.deployment.to_string()).unwrap();
        Session::open(&deployment)
            .unwrap()
            .execute(statement)
            .unwrap()
            .kept
    }

    fn counts(&self) -> (String, String) {
        let row = &self.execute("SELECT (SELECT count(*) FROM a), (SELECT count(*) FROM b)")[0];
        let text =
            |cell: &Option<Box<[u8]>>| String::from_utf8(cell.as_ref().unwrap().to_vec()).unwrap();
        (text(&row[0]), text(&row[1]))
    }

    fn load(&self, mut source: Counting, breaks_at: u64) -> Result<LoadReport, EngineError> {
        let table = |name: &str| {
            let bulk = format!("INSERT INTO {name} VALUES (?, ?)");
            json!({ "name": name, "bulk": bulk, "form": "native" })
        };
        let document = json!({
            "deployment": self.deployment,
            "before": ["BEGIN"],
            "tables": [table("a"), table("b")],
            "after": ["COMMIT"],
            "on_error": ["ROLLBACK"],
        });
        let document = LoadDocument::parse(&document.to_string()).unwrap();
        load(
            &document,
            &mut source,
            &mut |progress| match progress.rows < breaks_at {
                true => ControlFlow::Continue(()),
                false => ControlFlow::Break(()),
            },
        )
    }
}

#[test]
fn all_rows_arrive_and_are_counted_for_each_table() {
    let database = Database::new();
    let report = database.load(Counting::new(2, 1000), u64::MAX).unwrap();
    let loaded: Vec<_> = report
        .tables
        .iter()
        .map(|table| (&*table.name, table.rows, table.affected))
        .collect();
    assert_eq!(loaded, [("a", 1000, 1000), ("b", 1000, 1000)]);
    assert_eq!(database.counts(), ("1000".into(), "1000".into()));
    let row = &database.execute("SELECT t FROM b WHERE n = 999")[0];
    assert_eq!(row[0].as_deref(), Some("row 999 of table 1".as_bytes()));
}

#[test]
fn a_row_that_the_system_rejects_leaves_nothing() {
    let database = Database::new();
    let mut source = Counting::new(2, 1000);
    source.wrong_at = Some(500);
    let error = database.load(source, u64::MAX).unwrap_err();
    let EngineError::System(error, context) = error else {
        panic!("{error:?}")
    };
    assert_eq!(error.class.word(), "constraint");
    assert!(context.contains("table b"), "{context}");
    assert_eq!(database.counts(), ("0".into(), "0".into()));
}

#[test]
fn a_source_that_fails_leaves_nothing_and_reports_its_place() {
    let database = Database::new();
    let mut source = Counting::new(2, 1000);
    source.fails_at = Some(700);
    let error = database.load(source, u64::MAX).unwrap_err();
    let EngineError::Source(error) = error else {
        panic!("{error:?}")
    };
    assert_eq!((error.file.as_str(), error.line), ("rows.txt", 700));
    assert_eq!(database.counts(), ("0".into(), "0".into()));
}

#[test]
fn an_interrupted_load_leaves_nothing() {
    let database = Database::new();
    // More rows than any machine loads in a tenth of a second, when `progress` is first called.
    let error = database.load(Counting::new(2, 100_000_000), 1).unwrap_err();
    assert!(matches!(error, EngineError::Interrupted), "{error:?}");
    assert_eq!(database.counts(), ("0".into(), "0".into()));
}

#[test]
fn a_table_that_the_document_does_not_have_is_an_error() {
    let database = Database::new();
    let error = database.load(Counting::new(3, 10), u64::MAX).unwrap_err();
    assert!(matches!(&error, EngineError::Document(message) if message.contains("`tables`")));
    assert_eq!(database.counts(), ("0".into(), "0".into()));
}

#[test]
fn an_empty_source_loads_nothing_and_is_no_error() {
    let database = Database::new();
    let report = database.load(Counting::new(0, 0), u64::MAX).unwrap();
    assert!(
        report
            .tables
            .iter()
            .all(|table| (table.rows, table.affected) == (0, 0))
    );
}

struct Panicking;

impl RowSource for Panicking {
    fn next_row(&mut self, _row: &mut Row) -> Result<Option<usize>, SourceError> {
        panic!("a source of this test")
    }

    fn bytes_read(&self) -> u64 {
        0
    }
}

/// The other session waits at the barrier for the one that never arrives there.
#[test]
fn a_session_that_panics_ends_the_others() {
    let document = json!({
        "deployment": null_deployment("panic", json!({})),
        "tables": [{ "name": "a", "bulk": "INSERT INTO a VALUES (?, ?)", "form": "native" }],
    });
    let document = LoadDocument::parse(&document.to_string()).unwrap();
    let (ended, end) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let (mut good, mut bad) = (Counting::new(1, 3), Panicking);
        let loaded = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            load_parts(&document, vec![&mut good, &mut bad], &mut |_| {
                ControlFlow::Continue(())
            })
        }));
        ended.send(loaded.is_err()).unwrap();
    });
    let has_panicked = end.recv_timeout(std::time::Duration::from_secs(60));
    assert!(has_panicked.expect("the load hangs"));
}

//! Loading into a library in this process: all rows or none.

use std::io::{Read, Write};
use std::ops::ControlFlow;
use std::os::unix::net::{UnixListener, UnixStream};
use std::time::Duration;

use assay_engine::{EngineError, LoadDocument, LoadReport, load_parts};
use assay_values::{Row, RowSource, SourceError};
use serde_json::{Value, json};

use crate::support::rows::{Counting, loaded, loaded_by};
use crate::support::{null_deployment, of_system, session};

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
        session(&self.deployment).execute(statement).unwrap().kept
    }

    fn counts(&self) -> (String, String) {
        let row = &self.execute("SELECT (SELECT count(*) FROM a), (SELECT count(*) FROM b)")[0];
        let text =
            |cell: &Option<Box<[u8]>>| String::from_utf8(cell.as_ref().unwrap().to_vec()).unwrap();
        (text(&row[0]), text(&row[1]))
    }

    fn load(&self, source: Counting, breaks_at: u64) -> Result<LoadReport, EngineError> {
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
        loaded_by(&document, source, breaks_at)
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
    let (error, context) = of_system(error);
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

// A server whose error and “ready” arrive separately in the middle of a bulk load, as with a real server
// only now and then: its side of the protocol is replayed from fixed bytes.

const AUTHENTICATED: &[u8] = b"R\0\0\0\x08\0\0\0\0";
const READY: &[u8] = b"Z\0\0\0\x05I";
const COPY_IN: &[u8] = b"G\0\0\0\x07\0\0\0";
const ERROR: &[u8] = b"E\0\0\0\x23SERROR\0C22P02\0Minvalid syntax\0\0";

#[test]
fn an_error_in_two_pieces_is_one_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let listener = UnixListener::bind(&path).unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| play(listener.accept().unwrap().0));
        let deployment = json!({ "driver": "postgresql", "unix": path, "user": "test" });
        let loaded = loaded(&deployment, "t", "COPY t FROM STDIN", 100_000_000);
        let (error, _) = of_system(loaded.unwrap_err());
        assert_eq!(error.class.word(), "data");
        assert_eq!(error.message.as_str(), "invalid syntax");
    });
}

fn play(mut stream: UnixStream) {
    let mut buffer = vec![0; 1 << 20];
    let mut receive = |stream: &mut UnixStream| match stream.read(&mut buffer).unwrap() {
        0 => panic!("the client hung up early"),
        count => count,
    };
    receive(&mut stream);
    stream.write_all(&[AUTHENTICATED, READY].concat()).unwrap();
    receive(&mut stream);
    stream.write_all(COPY_IN).unwrap();
    let mut taken = 0;
    while taken < 200_000 {
        taken += receive(&mut stream);
    }
    stream.write_all(ERROR).unwrap();
    while taken < 2_000_000 {
        taken += receive(&mut stream);
    }
    // Rows were sent after the error: now the rest of it follows.
    std::thread::sleep(Duration::from_millis(10));
    stream.write_all(READY).unwrap();
    std::io::copy(&mut stream, &mut std::io::sink()).unwrap();
}

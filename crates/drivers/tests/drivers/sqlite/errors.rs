//! Errors and their classes.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use assay_drivers::sqlite::SqliteConnection;
use assay_drivers::{Blocking, ErrorClass, LocalOptions};
use assay_values::Value;

use crate::sqlite::{class, open, shown, shown_by, try_open};
use crate::support::{Folder, done, execute, local, named, prepare, text};

#[test]
fn errors_have_classes_and_the_session_stays_open() {
    use ErrorClass as Class;
    let folder = Folder::new("sqlite-classes");
    let mut session = open(&folder.file());
    done(
        &mut session,
        "CREATE TABLE t (a INTEGER PRIMARY KEY, b NOT NULL)",
    );
    done(&mut session, "INSERT INTO t VALUES (1, 1)");
    for (sql, expected) in [
        ("SELEC 1", Class::Syntax),
        ("SELECT (1", Class::Syntax),
        ("SELECT 'open", Class::Syntax),
        ("SELECT 1; SELECT 2", Class::Syntax),
        ("SELECT abs(1, 2)", Class::Syntax),
        ("SELECT * FROM nowhere", Class::UnknownObject),
        ("SELECT c FROM t", Class::UnknownObject),
        ("SELECT none(1)", Class::UnknownObject),
        ("INSERT INTO t (x) VALUES (1)", Class::UnknownObject),
        ("INSERT INTO t VALUES (1, 1)", Class::Constraint),
        ("INSERT INTO t VALUES (2, NULL)", Class::Constraint),
        ("INSERT INTO t VALUES ('x', 1)", Class::Data),
        ("CREATE TABLE t (a)", Class::Other),
        ("COMMIT", Class::Other),
    ] {
        assert_eq!(class(&mut session, sql), expected, "{sql}");
    }
    let answer = text(&mut session, "INSERT INTO t VALUES (1, 1)");
    let error = answer.error.expect("a duplicate");
    assert_eq!(error.code, "1555", "SQLITE_CONSTRAINT_PRIMARYKEY");
    assert_eq!(error.message, "UNIQUE constraint failed: t.a");
    prepare(&mut session, 0, "SELECT ? + ?");
    let error = execute(&mut session, 0, &[Value::Int(1)]).error;
    assert_eq!(error.expect("a parameter is missing").class, Class::Data);
    let answer = execute(&mut session, 0, &[Value::Int(1), Value::Double(0.5)]);
    assert_eq!(shown(&answer), ["1.5"]);
    let unknown = execute(&mut session, 9, &[]).error;
    assert_eq!(unknown.map(|error| error.class), Some(Class::Other));
}

#[test]
fn a_busy_database_is_a_timeout_a_deadlock_or_a_stale_snapshot() {
    use ErrorClass::{Deadlock, Serialization, Timeout};
    let folder = Folder::new("sqlite-busy");
    let (mut first, mut second) = (open(&folder.file()), open(&folder.file()));
    done(&mut first, "CREATE TABLE t (a)");
    done(&mut first, "INSERT INTO t VALUES (1)");
    done(&mut first, "BEGIN IMMEDIATE");
    // The lock was not released in time.
    assert_eq!(class(&mut second, "INSERT INTO t VALUES (2)"), Timeout);
    done(&mut first, "COMMIT");

    // Both have read; if the second also waited for a lock, each would wait for the other.
    for session in [&mut first, &mut second] {
        done(session, "BEGIN");
        assert_eq!(shown_by(session, "SELECT count(*) FROM t"), ["1"]);
    }
    done(&mut first, "INSERT INTO t VALUES (3)");
    // A reader holds a lock.
    assert_eq!(class(&mut first, "COMMIT"), Timeout);
    assert_eq!(class(&mut second, "INSERT INTO t VALUES (4)"), Deadlock);
    done(&mut second, "ROLLBACK");
    done(&mut first, "COMMIT");

    assert_eq!(shown_by(&mut first, "PRAGMA journal_mode = WAL"), ["wal"]);
    done(&mut second, "BEGIN");
    assert_eq!(shown_by(&mut second, "SELECT count(*) FROM t"), ["2"]);
    done(&mut first, "INSERT INTO t VALUES (5)");
    assert_eq!(
        class(&mut second, "INSERT INTO t VALUES (6)"),
        Serialization
    );
    done(&mut second, "ROLLBACK");
}

#[test]
fn sessions_write_in_the_order_in_which_they_asked() {
    const OF_EACH: usize = 200;
    let folder = Folder::new("sqlite-turns");
    let file = folder.file();
    let mut session = open(&file);
    done(&mut session, "CREATE TABLE t (client)");
    let all_are_ready = std::sync::Barrier::new(4);
    std::thread::scope(|scope| {
        for client in 0..4 {
            let (file, all_are_ready) = (&file, &all_are_ready);
            scope.spawn(move || {
                let mut session = try_open(file, &[]).expect("the file opens");
                all_are_ready.wait();
                for _ in 0..OF_EACH {
                    done(&mut session, "BEGIN");
                    done(&mut session, &format!("INSERT INTO t VALUES ({client})"));
                    done(&mut session, "COMMIT");
                }
            });
        }
    });
    // In the first half of the rows each client has about as many; without a queue one has nearly all.
    let counted =
        "SELECT min(n) >= 50 FROM (SELECT count(*) AS n FROM t WHERE rowid <= 400 GROUP BY client)";
    assert_eq!(shown_by(&mut session, counted), ["1"]);

    // A session that ends in its transaction lets the others write; a reader does not wait.
    done(&mut session, "BEGIN IMMEDIATE");
    let mut second = open(&file);
    assert_eq!(shown_by(&mut second, "SELECT count(*) FROM t"), ["800"]);
    assert_eq!(class(&mut second, "DELETE FROM t"), ErrorClass::Timeout);
    drop(session);
    done(&mut second, "DELETE FROM t");
}

#[test]
fn a_long_call_can_be_cancelled_from_another_thread() {
    let folder = Folder::new("sqlite-cancel");
    let mut first = open(&folder.file());
    let mut second = try_open(&folder.file(), &[]).expect("opens");
    done(&mut first, "CREATE TABLE t (a)");
    let endless =
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT sum(i) FROM n";
    done(&mut first, "BEGIN IMMEDIATE");
    for sql in [endless, "INSERT INTO t VALUES (1)"] {
        let cancel = second.canceller().expect("the library has one");
        let is_done = std::sync::atomic::AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                // Repeatedly: the first calls may come before the statement has begun.
                while !is_done.load(std::sync::atomic::Ordering::Relaxed) {
                    std::thread::sleep(std::time::Duration::from_millis(5));
                    cancel();
                }
            });
            assert_eq!(class(&mut second, sql), ErrorClass::Timeout, "{sql}");
            is_done.store(true, std::sync::atomic::Ordering::Relaxed);
        });
    }
    assert_eq!(shown_by(&mut second, "SELECT count(*) FROM t"), ["0"]);

    done(&mut first, "ROLLBACK");
    done(&mut first, "BEGIN EXCLUSIVE");
    let (file, stop, options) = (folder.file(), Arc::new(AtomicBool::new(true)), named(&[]));
    let of_file = LocalOptions {
        stop: &stop,
        ..local(file.to_str(), &options, &[])
    };
    let error = SqliteConnection::open(&of_file)
        .err()
        .expect("it waits no longer");
    assert!(error.message.contains("is locked by another"), "{error}");
}

#[test]
fn a_session_that_cannot_open_reports_the_reason() {
    let folder = Folder::new("sqlite-open");
    let refused = |file: &Path, options: &[(&str, &str)]| {
        try_open(file, options).err().expect("it is refused")
    };
    let missing = folder.0.join("no folder/test.db");
    let error = refused(&missing, &[]);
    assert_eq!(error.class, ErrorClass::ConnectionRefused);
    assert!(error.message.contains("no folder/test.db"), "{error}");
    let error = refused(&folder.file(), &[("mode", "read-only")]);
    assert_eq!(error.class, ErrorClass::ConnectionRefused);
    let error = refused(Path::new(""), &[]);
    assert_eq!(error.class, ErrorClass::ConnectionRefused);

    let text_file = folder.0.join("notes.txt");
    let words = "not a database, but long enough to be looked at".repeat(30);
    std::fs::write(&text_file, words).expect("the folder is writable");
    let error = refused(&text_file, &[]);
    assert_eq!(error.class, ErrorClass::Data);
    assert!(error.message.contains("not a database"), "{error}");

    for option in
        [("mode", "sometimes"), ("busy_timeout_s", "-1"), ("write_queue", "perhaps"), ("busy", "1")]
    {
        let error = refused(&folder.file(), &[option]);
        assert!(error.message.contains(option.0), "{error}");
    }
    let statements = ["PRAGMA cache_size = 10".to_owned(), "PRAGMA".to_owned()];
    let options = BTreeMap::new();
    let error = SqliteConnection::open(&local(folder.file().to_str(), &options, &statements));
    let error = error.err().expect("the second statement is wrong");
    assert_eq!(error.class, ErrorClass::Syntax);
    let begin = "session statement \"PRAGMA\"";
    assert!(error.message.starts_with(begin), "{error}");
}

#[test]
fn a_read_only_session_cannot_write_and_foreign_keys_are_off_as_in_the_shell() {
    let folder = Folder::new("sqlite-read-only");
    let mut writer = open(&folder.file());
    done(&mut writer, "CREATE TABLE t (a PRIMARY KEY)");
    assert_eq!(shown_by(&mut writer, "PRAGMA foreign_keys"), ["0"]);
    let mut reader = try_open(&folder.file(), &[("mode", "read-only")]).expect("the file is there");
    let insert = "INSERT INTO t VALUES (1)";
    assert_eq!(class(&mut reader, insert), ErrorClass::Permission);
    done(&mut writer, insert);
    assert_eq!(shown_by(&mut reader, "SELECT a FROM t"), ["1"]);
    assert!(reader.server_version().starts_with("SQLite 3."));
}

//! Errors have a class, and leave the transaction in the state that the library has it in.

use std::time::{Duration, Instant};

use assay_drivers::TransactionStatus as Status;
use assay_drivers::{Blocking as _, Certainty, ErrorClass, Request};
use assay_values::Value;

use crate::duckdb::{execute, folder, open, prepare, refused, shown, try_open};
use crate::support::{ask, class, done, text};

#[test]
fn an_error_has_the_class_of_its_cause() {
    let Some(folder) = folder("classes") else {
        return;
    };
    let mut session = open(&folder.file());
    let sql = "CREATE TABLE p (id INTEGER PRIMARY KEY, n INTEGER NOT NULL)";
    done(&mut session, sql);
    done(&mut session, "CREATE TABLE c (p INTEGER REFERENCES p (id))");
    done(&mut session, "INSERT INTO p VALUES (1, 1)");
    for (statement, expected) in [
        ("SELEC 1", ErrorClass::Syntax),
        ("SELECT 'open", ErrorClass::Syntax),
        ("SELECT 1; SELECT 2", ErrorClass::Syntax),
        ("SELECT * FROM nothing", ErrorClass::UnknownObject),
        ("SELECT nothing FROM p", ErrorClass::UnknownObject),
        ("SELECT nothing(1)", ErrorClass::UnknownObject),
        ("CREATE TABLE p (a INTEGER)", ErrorClass::Other),
        ("INSERT INTO p VALUES (1, 2)", ErrorClass::Constraint),
        ("INSERT INTO p VALUES (2, NULL)", ErrorClass::Constraint),
        ("INSERT INTO c VALUES (9)", ErrorClass::Constraint),
        ("SELECT 'x'::INTEGER", ErrorClass::Data),
        ("SELECT (1 << 30)::INTEGER * 4::INTEGER", ErrorClass::Data),
        ("SELECT 1 WHERE error('my own')", ErrorClass::Data),
    ] {
        let (error, status) = refused(&mut session, statement);
        assert_eq!(error.class, expected, "{statement}: {error}");
        assert_eq!(error.certainty, Certainty::Undone);
        assert_eq!(status, Status::None);
        assert!(!error.message.contains("LINE 1"), "{}", error.message);
    }
    let pieces = crate::support::pieces("SELECT ? + 1");
    let (pieces, parameters) = (&pieces, &[]);
    let answer = ask(&mut session, &Request::Direct { pieces, parameters });
    assert_eq!(class(answer), Some(ErrorClass::Data));
    let answer = execute(&mut session, 77, &[]);
    assert_eq!(class(answer), Some(ErrorClass::Other));
    assert_eq!(shown(&mut session, "SELECT n FROM p"), ["1"]);
}

#[test]
fn the_state_of_the_transaction_is_known_after_every_statement() {
    let Some(folder) = folder("states") else {
        return;
    };
    let mut session = open(&folder.file());
    done(&mut session, "CREATE TABLE t (id INTEGER PRIMARY KEY)");
    let is = |answer: assay_drivers::Answer, status: Status| {
        assert_eq!((answer.error, answer.transaction), (None, status));
    };
    is(ask(&mut session, &Request::Rollback), Status::None);
    is(ask(&mut session, &Request::Begin), Status::Open);
    is(text(&mut session, "INSERT INTO t VALUES (1)"), Status::Open);
    is(ask(&mut session, &Request::Commit), Status::None);
    is(
        text(&mut session, "-- words\nSTART TRANSACTION"),
        Status::Open,
    );
    let (_, status) = refused(&mut session, "INSERT INTO t VALUES (1)");
    assert_eq!(status, Status::Failed);
    let (error, status) = refused(&mut session, "SELECT 1");
    assert_eq!((error.class, status), (ErrorClass::Other, Status::Failed));
    is(ask(&mut session, &Request::Rollback), Status::None);
    is(text(&mut session, "BEGIN"), Status::Open);
    is(text(&mut session, "DELETE FROM t"), Status::Open);
    is(text(&mut session, "ABORT"), Status::None);
    is(text(&mut session, "-- nothing to do"), Status::None);
    assert_eq!(shown(&mut session, "SELECT id FROM t"), ["1"]);
}

#[test]
fn of_two_writers_of_a_row_the_second_fails_and_may_try_again() {
    let Some(folder) = folder("conflict") else {
        return;
    };
    let (mut one, mut other) = (open(&folder.file()), open(&folder.file()));
    let sql = "CREATE TABLE t (id INTEGER PRIMARY KEY, n INTEGER)";
    done(&mut one, sql);
    done(&mut one, "INSERT INTO t VALUES (1, 0)");
    for session in [&mut one, &mut other] {
        ask(session, &Request::Begin);
        assert_eq!(shown(session, "SELECT n FROM t"), ["0"]);
    }
    done(&mut one, "UPDATE t SET n = n + 1");
    let (error, status) = refused(&mut other, "UPDATE t SET n = n + 1");
    assert_eq!(error.class, ErrorClass::Serialization);
    assert_eq!(status, Status::Failed);
    assert_eq!(ask(&mut one, &Request::Commit).error, None);
    ask(&mut other, &Request::Rollback);
    assert_eq!(done(&mut other, "UPDATE t SET n = n + 1"), 1);
    // A key that two sessions insert: what the second finds at its commit.
    for session in [&mut one, &mut other] {
        ask(session, &Request::Begin);
        done(session, "INSERT INTO t VALUES (2, 0)");
    }
    assert_eq!(ask(&mut one, &Request::Commit).error, None);
    let answer = ask(&mut other, &Request::Commit);
    assert_eq!(answer.transaction, Status::None);
    let error = answer.error.expect("the key is taken");
    assert_eq!(error.class, ErrorClass::Constraint);
    assert_eq!(error.certainty, Certainty::Undone);
    assert_eq!(shown(&mut other, "SELECT n FROM t ORDER BY id"), ["2", "0"]);
}

#[test]
fn a_statement_is_cancelled_and_the_session_goes_on() {
    let Some(folder) = folder("cancel") else {
        return;
    };
    let mut session = open(&folder.file());
    let sql = "SELECT count(*) FROM range(?) a, range(?) b WHERE a.range + b.range = 3";
    prepare(&mut session, 0, sql);
    let cancel = session.canceller().expect("statements can be cancelled");
    let begin = Instant::now();
    let done = std::thread::scope(|scope| {
        let cancelling = scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(200));
            cancel();
        });
        let answer = execute(&mut session, 0, &[const { Value::Int(10_000_000) }; 2]);
        cancelling.join().expect("the thread ends");
        answer
    });
    assert!(begin.elapsed() < Duration::from_secs(60));
    assert_eq!(class(done), Some(ErrorClass::Timeout));
    assert_eq!(shown(&mut session, "SELECT 1"), ["1"]);
    drop(session);
    cancel();
}

#[test]
fn what_cannot_be_opened_is_refused_with_the_reason() {
    let Some(folder) = folder("opening") else {
        return;
    };
    let words = folder.0.join("words.txt");
    std::fs::write(&words, "no database ".repeat(2000)).expect("the folder takes a file");
    let file = folder.file();
    let missing = folder.0.join("missing/file.duckdb");
    let no_function = "no function duckdb_library_version";
    let in_statement = "session statement \"SELEC\": ";
    for (file, option, statements, expected) in [
        (&words, ("threads", "1"), [].as_slice(), "words.txt: "),
        (&missing, ("threads", "1"), &[], "missing/file.duckdb: "),
        (&file, ("threads", "much"), &[], "much"),
        (&file, ("no_such_setting", "1"), &[], "no_such_setting"),
        (&file, ("library", "/no/such.so"), &[], "/no/such.so"),
        (&file, ("library", "libc.so.6"), &[], no_function),
        (&file, ("threads", "1"), &["SELEC"], in_statement),
    ] {
        let Err(error) = try_open(file, &[option], statements) else {
            panic!("{expected}: it opened");
        };
        assert!(error.message.contains(expected), "{error}");
        assert!(!error.message.contains("/work"), "{error}");
    }
}

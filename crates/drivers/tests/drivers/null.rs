//! The null system answers, delays and fails exactly as its options say.

use std::time::{Duration, Instant};

use crate::support::{OPEN, ask, class, end, execute, local, named, native, prepare, text};
use assay_drivers::null::NullConnection;
use assay_drivers::{Answer, Blocking, ErrorClass, Request, SystemError};
use assay_values::Row;

fn try_open(options: &[(&str, &str)]) -> Result<NullConnection, SystemError> {
    NullConnection::open(&local(None, &named(options), &[]))
}

fn open(options: &[(&str, &str)]) -> NullConnection {
    try_open(options).expect("the session opens")
}

fn timed(session: &mut NullConnection) -> Duration {
    let began = Instant::now();
    assert_eq!(text(session, "SELECT 1").error, None);
    began.elapsed()
}

fn load(session: &mut NullConnection, table: &str, rows: u64) -> Answer {
    let insert = format!("INSERT INTO \"{table}\" (a) VALUES (?)");
    ask(session, &native(&insert));
    for _ in 0..rows {
        session.bulk_row(&Row::new()).expect(OPEN);
    }
    end(session, None)
}

#[test]
fn it_accepts_any_statement_and_returns_the_configured_rows() {
    let mut session = open(&[("rows", "3"), ("deployment", "any")]);
    for nonsense in ["", "?", "BEGIN", "frobnicate é", "INSERT INTO t VALUES (1)"] {
        let answer = text(&mut session, nonsense);
        assert_eq!((answer.error, answer.rows), (None, 0), "{nonsense}");
    }
    let answer = text(&mut session, "SELECT * FROM anywhere");
    assert_eq!(answer.rows, 3);
    assert_eq!(answer.kept.len(), 3);
    assert_eq!(answer.columns.len(), 1);
    prepare(&mut session, 7, "WITH x AS (SELECT 1) SELECT * FROM x");
    for _ in 0..2 {
        assert_eq!(execute(&mut session, 7, &[]).rows, 3);
    }
}

#[test]
fn a_load_can_be_verified_by_another_session_of_the_same_deployment() {
    let mut session = open(&[("deployment", "load")]);
    text(&mut session, "CREATE TABLE Bibtab (a INTEGER)");
    assert_eq!(load(&mut session, "bibtab", 12).affected, 12);
    let mut second = open(&[("deployment", "load")]);
    let count = |session: &mut NullConnection| {
        let kept = text(session, "select COUNT(*)\n from bibtab;").kept;
        (kept.first()).map(|row| row[0].clone().expect("a count is not NULL"))
    };
    assert_eq!(count(&mut second).as_deref(), Some(&b"12"[..]));
    assert_eq!(count(&mut open(&[("deployment", "elsewhere")])), None);
    text(&mut session, "DELETE FROM bibtab WHERE a = 1");
    // Single rows are not tracked.
    assert_eq!(count(&mut second).as_deref(), Some(&b"12"[..]));
    assert_eq!(text(&mut session, "DELETE FROM bibtab").affected, 12);
    assert_eq!(count(&mut second).as_deref(), Some(&b"0"[..]));
    text(&mut session, "DROP TABLE IF EXISTS bibtab");
    assert_eq!(count(&mut second), None);
}

#[test]
fn delays_and_stalls_are_at_least_as_long_as_configured() {
    // Only lower bounds: a busy machine may be late, but nothing may be early.
    assert!(timed(&mut open(&[("delay", "constant:3ms")])) >= Duration::from_millis(3));
    assert!(timed(&mut open(&[("delay", "uniform:2ms..3ms")])) >= Duration::from_millis(2));
    let mut session = open(&[("stall", "30ms@#2,20ms@#4")]);
    let times = [(); 4].map(|()| timed(&mut session));
    assert!(times[1] >= Duration::from_millis(30) && times[3] >= Duration::from_millis(20));

    // The whole deployment stalls from 20 ms to 60 ms after it began, which is between these two instants: no statement
    // of any session begins in the stall and ends in it.
    let options = [("stall", "40ms@20ms"), ("delay", "constant:1ms"), ("deployment", "stall")];
    let before = Instant::now();
    let (mut first, mut second) = (open(&options), open(&options));
    let after = Instant::now();
    let stall = after + Duration::from_millis(20)..before + Duration::from_millis(60);
    std::thread::scope(|scope| {
        for session in [&mut first, &mut second] {
            let stall = stall.clone();
            scope.spawn(move || {
                while Instant::now() < stall.end {
                    let began = Instant::now();
                    let took = timed(session);
                    assert!(
                        !(stall.contains(&began) && stall.contains(&(began + took))),
                        "a statement ended in the stall, after {took:?}"
                    );
                }
            });
        }
    });
}

#[test]
fn the_configured_share_of_statements_fails() {
    // The random stream is seeded, so the count is always the same.
    let failures = |seed: &str| {
        let fail = ("fail", "deadlock@0.25");
        let mut session = open(&[fail, ("seed", seed), ("deployment", "shares")]);
        let failed = |_: &u32| text(&mut session, "COMMIT").error.is_some();
        (0..4000).filter(failed).count()
    };
    assert!((900..1100).contains(&failures("5")), "{}", failures("5"));
}

#[test]
fn failures_and_lost_connections_come_when_configured() {
    use ErrorClass::{Deadlock, LostConnection, TooManyConnections};
    let fail = "deadlock@#2,too-many-connections@#3";
    let mut session = open(&[("fail", fail), ("lose", "#5")]);
    let classes = [(); 4].map(|()| class(text(&mut session, "COMMIT")));
    let expected = [None, Some(Deadlock), Some(TooManyConnections), None];
    assert_eq!(classes, expected);
    let lost = session.request(&Request::Text("COMMIT"), &mut Answer::default());
    assert_eq!(lost.expect_err("it is lost").class, LostConnection);

    let mut session = open(&[("fail", "data@0s"), ("deployment", "once")]);
    assert!(text(&mut session, "COMMIT").error.is_some());
    // A failure at a time happens once.
    assert!(text(&mut session, "COMMIT").error.is_none());
}

#[test]
fn schema_statements_are_neither_delayed_nor_failed() {
    let (delay, fail) = (("delay", "constant:3600s"), ("fail", "data@#1"));
    let mut session = open(&[delay, fail, ("lose", "#1")]);
    for schema in ["CREATE TABLE t (a)", "CREATE UNIQUE INDEX i ON t (a)", "DROP TABLE t"] {
        assert_eq!(text(&mut session, schema).error, None);
    }
    let lost = session.request(&Request::Text("SELECT 1"), &mut Answer::default());
    assert!(lost.is_err(), "schema statements are not counted");
}

#[test]
fn a_full_deployment_refuses_a_further_session_until_a_session_ends() {
    let options = [("refuse_after", "2"), ("deployment", "full")];
    let _first = open(&options);
    let second = open(&options);
    let error = try_open(&options).err().expect("the third is refused");
    assert_eq!(error.class, ErrorClass::TooManyConnections);
    drop(second);
    open(&options);
}

#[test]
fn a_long_statement_can_be_cancelled() {
    let mut session = open(&[("delay", "constant:3600s")]);
    let cancel = session.canceller().expect("there is one");
    let is_done = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_done.load(std::sync::atomic::Ordering::Relaxed) {
                std::thread::sleep(Duration::from_millis(2));
                cancel();
            }
        });
        let cancelled = class(text(&mut session, "SELECT 1"));
        assert_eq!(cancelled, Some(ErrorClass::Timeout));
        is_done.store(true, std::sync::atomic::Ordering::Relaxed);
    });
}

#[test]
fn an_invalid_option_is_refused_by_name() {
    for (key, value) in [
        ("delay", "1ms"),
        ("delay", "uniform:3ms..1ms"),
        ("delay", "constant:-1ms"),
        ("delay", "constant:1d"),
        ("delay", "lognormal:1ms"),
        ("stall", "1s"),
        ("stall", "1s@#0"),
        ("fail", "sadness@#1"),
        ("fail", "timeout@1.5"),
        ("lose", "now"),
        ("rows", "-1"),
        ("refuse_after", "many"),
        ("colour", "red"),
    ] {
        let error = try_open(&[(key, value)]).err().expect(value);
        assert!(error.message.contains(key), "{error}");
    }
}

//! Bulk loads.

use assay_drivers::duckdb::DuckdbConnection;
use assay_drivers::{Answer, Blocking as _, BulkForm, ErrorClass, Request, TransactionStatus};
use assay_values::Row;

use crate::duckdb::support::{Folder, ask, done, open, shown};

const LOAD: &str = "INSERT INTO \"order\" (id, \"two words\", day, raw, d) VALUES (?, ?, ?, ?, ?)";

fn begin(session: &mut DuckdbConnection, text: &str) -> Answer {
    let form = BulkForm::Native;
    ask(
        session,
        &Request::Bulk {
            text,
            form,
            types: &[],
        },
    )
}

fn end(session: &mut DuckdbConnection, abort: Option<&str>) -> Answer {
    let mut answer = Answer::default();
    session
        .bulk_end(abort, &mut answer)
        .expect("the session stays open");
    answer
}

fn row(id: i64, words: Option<&str>, day: &str, raw: &[u8], d: &str) -> Row {
    let mut row = Row::new();
    row.push_int(id);
    match words {
        Some(words) => row.push_bytes(words.as_bytes()),
        None => row.push_null(),
    }
    row.push_bytes(day.as_bytes());
    row.push_bytes(raw);
    row.push_bytes(d.as_bytes());
    row
}

fn session(folder: &Folder) -> DuckdbConnection {
    let mut session = open(&folder.file());
    done(
        &mut session,
        "CREATE TABLE \"order\" (\"two words\" VARCHAR, id INTEGER PRIMARY KEY, day DATE, raw BLOB, \
         d DECIMAL(9,2), more INTEGER DEFAULT 7)",
    );
    session
}

#[test]
fn rows_are_kept_in_the_columns_that_the_statement_names() {
    let Some(folder) = Folder::new("bulk") else {
        return;
    };
    let mut session = session(&folder);
    assert_eq!(begin(&mut session, LOAD).error, None);
    for id in 0..5000 {
        let words = (id % 2 == 0).then_some("äh 'so'");
        let row = row(id, words, "2011-03-04", &[0, 255], "-1.50");
        session.bulk_row(&row).expect("the session stays open");
    }
    let answer = end(&mut session, None);
    assert_eq!((answer.error, answer.affected), (None, 5000));
    assert_eq!(answer.transaction, TransactionStatus::None);
    assert_eq!(
        shown(
            &mut session,
            "SELECT * FROM \"order\" WHERE id IN (0, 4999) ORDER BY id"
        ),
        [
            "äh 'so'|0|2011-03-04|\\x00ff|-1.50|7",
            "NULL|4999|2011-03-04|\\x00ff|-1.50|7"
        ]
    );
}

#[test]
fn a_load_that_fails_or_is_aborted_leaves_no_row() {
    let Some(folder) = Folder::new("bulk-errors") else {
        return;
    };
    let mut session = session(&folder);
    let good = |id| row(id, None, "2011-03-04", b"", "1");
    for (last, expected) in [
        (row(3, None, "2011-13-04", b"", "1"), ErrorClass::Data),
        (row(3, None, "2011-03-04", b"", "ten"), ErrorClass::Data),
        (row(1, None, "2011-03-04", b"", "1"), ErrorClass::Constraint),
        (Row::new(), ErrorClass::Data),
    ] {
        begin(&mut session, LOAD);
        // More than the library keeps before it writes.
        for id in (10..300_000).chain([1]) {
            session.bulk_row(&good(id)).expect("the session stays open");
        }
        session.bulk_row(&last).expect("the session stays open");
        session.bulk_row(&good(4)).expect("later rows are skipped");
        let error = end(&mut session, None)
            .error
            .expect("the last row is wrong");
        assert_eq!(error.class, expected, "{error}");
        if expected == ErrorClass::Data {
            assert!(error.message.starts_with("row 299992: "), "{error}");
        }
        assert_eq!(shown(&mut session, "SELECT count(*) FROM \"order\""), ["0"]);
    }
    begin(&mut session, LOAD);
    session.bulk_row(&good(1)).expect("the session stays open");
    let answer = end(&mut session, Some("the reader has stopped"));
    let error = answer.error.expect("it was aborted");
    assert_eq!(error.message, "the reader has stopped");
    assert_eq!(shown(&mut session, "SELECT count(*) FROM \"order\""), ["0"]);
    // A transaction that was open before stays open.
    ask(&mut session, &Request::Begin);
    begin(&mut session, LOAD);
    session.bulk_row(&good(1)).expect("the session stays open");
    assert_eq!(end(&mut session, None).transaction, TransactionStatus::Open);
    ask(&mut session, &Request::Rollback);
    assert_eq!(shown(&mut session, "SELECT count(*) FROM \"order\""), ["0"]);
    for unknown in [
        "INSERT INTO nothing (a) VALUES (?)",
        "INSERT INTO \"order\" (nothing) VALUES (?)",
        "COPY t FROM STDIN",
    ] {
        assert!(begin(&mut session, unknown).error.is_some(), "{unknown}");
    }
}

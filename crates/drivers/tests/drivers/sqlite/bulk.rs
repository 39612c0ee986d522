//! Bulk loads.

use assay_drivers::sqlite::SqliteConnection;
use assay_drivers::{Answer, Blocking, BulkForm, ErrorClass, Request};
use assay_values::Row;

use crate::sqlite::support::{Folder, ask, done, open, shown_by};

#[test]
fn bulk_rows_are_stored_like_literals_in_a_script() {
    let folder = Folder::new("bulk");
    let mut session = open(&folder.file());
    let create = "(i INTEGER, b BIGINT, d DECIMAL(9,2), r DOUBLE, v VARCHAR(9), t TEXT)";
    let cells = [
        "007",
        "-0",
        "38",
        "-12",
        "1.50",
        "1e3",
        "0042",
        "1.0",
        "",
        " 5 ",
        "x",
        "9223372036854775808",
    ];
    done(&mut session, &format!("CREATE TABLE literals {create}"));
    done(&mut session, &format!("CREATE TABLE bulk {create}"));
    done(&mut session, "BEGIN");
    let insert = "INSERT INTO bulk (i, b, d, r, v, t) VALUES (?, ?, ?, ?, ?, ?)";
    ask(
        &mut session,
        &Request::Bulk {
            text: insert,
            form: BulkForm::Native,
            types: &[],
        },
    );
    let mut row = Row::new();
    for turn in 0..100 {
        let value =
            |column: usize| (turn % 7 != column).then(|| cells[(turn + column) % cells.len()]);
        row.clear();
        let mut literals = Vec::new();
        for column in 0..6 {
            match value(column) {
                None => row.push_null(),
                Some(cell) => row.push_bytes(cell.as_bytes()),
            }
            literals.push(value(column).map_or("NULL".to_owned(), |cell| format!("'{cell}'")));
        }
        session.bulk_row(&row).expect("the session stays open");
        // The session is in a bulk load; another statement in between is allowed in process.
        done(
            &mut session,
            &format!("INSERT INTO literals VALUES ({})", literals.join(", ")),
        );
    }
    let mut answer = Answer::default();
    session
        .bulk_end(None, &mut answer)
        .expect("the session stays open");
    assert_eq!((answer.error, answer.affected), (None, 100));
    done(&mut session, "COMMIT");
    let columns = ["i", "b", "d", "r", "v", "t"]
        .map(|c| format!("typeof({c}), {c}"))
        .join(", ");
    let dump = |table: &str| format!("SELECT {columns} FROM {table} ORDER BY rowid");
    let loaded = shown_by(&mut session, &dump("bulk"));
    assert_eq!(loaded, shown_by(&mut session, &dump("literals")));
    assert!(loaded[0].contains("integer|"), "{}", loaded[0]);
}

#[test]
fn a_failed_load_names_its_first_bad_row_and_an_aborted_load_its_reason() {
    let folder = Folder::new("bulk-errors");
    let mut session = open(&folder.file());
    done(
        &mut session,
        "CREATE TABLE t (a INTEGER NOT NULL, b UNIQUE)",
    );
    let bulk = Request::Bulk {
        text: "INSERT INTO t (a, b) VALUES (?, ?)",
        form: BulkForm::Native,
        types: &[],
    };
    let mut row = Row::new();
    let mut load = |session: &mut SqliteConnection, abort: Option<&str>| {
        assert_eq!(ask(session, &bulk).error, None);
        for number in 0..300 {
            row.clear();
            row.push_int(number);
            row.push_int(if number == 130 { 77 } else { number });
            session.bulk_row(&row).expect("the session stays open");
        }
        let mut answer = Answer::default();
        session
            .bulk_end(abort, &mut answer)
            .expect("the session stays open");
        answer.error.expect("the load fails")
    };
    done(&mut session, "BEGIN");
    let error = load(&mut session, None);
    assert_eq!(error.class, ErrorClass::Constraint);
    assert!(
        error
            .message
            .starts_with("row 131: UNIQUE constraint failed"),
        "{error}"
    );
    done(&mut session, "ROLLBACK");
    assert_eq!(
        load(&mut session, Some("the source ended")).message,
        "the source ended"
    );
    done(&mut session, "DELETE FROM t");
    row.clear();
    row.push_int(1);
    ask(&mut session, &bulk);
    session.bulk_row(&row).expect("the session stays open");
    let mut answer = Answer::default();
    session
        .bulk_end(None, &mut answer)
        .expect("the session stays open");
    let error = answer.error.expect("a cell is missing");
    assert_eq!(error.message, "row 1: expected 2 cells, found 1");
    assert_eq!(shown_by(&mut session, "SELECT count(*) FROM t"), ["0"]);
}

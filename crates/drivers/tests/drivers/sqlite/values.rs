//! The values and digests that statements return, and bulk loads.

use assay_drivers::sqlite::SqliteConnection;
use assay_drivers::{Answer, Blocking, ErrorClass, Keep, Request};
use assay_values::{Row, Value};

use crate::sqlite::{class, open, shown, shown_by};
use crate::support::{Folder, OPEN, ask, done, end, execute, native, prepare, text};

#[test]
fn values_are_returned_as_the_text_of_the_library() {
    let folder = Folder::new("sqlite-values");
    let mut session = open(&folder.file());
    // Any 64 bits are a double: these have every magnitude.
    let mut random = assay_values::Random::stream(1, 0);
    let mut next = || f64::from_bits(random.next());
    let sql = "CREATE TABLE t (i, r REAL, s TEXT, b BLOB, n)";
    done(&mut session, sql);
    let sql = "INSERT INTO t VALUES (?, ?, ?, x'41', NULL)";
    prepare(&mut session, 3, sql);
    for number in [0, 1, -1, i64::MAX, i64::MIN] {
        let reals = [0.0, -0.0, 1.0, 0.1, 1e15, 1e16, 1e300, f64::INFINITY];
        for real in reals.into_iter().chain([next(), next(), next()]) {
            let real = if real.is_nan() { 2.5 } else { real };
            let text = Value::Text("é 'quoted'".into());
            let parameters = [Value::Int(number), Value::Double(real), text];
            let answer = execute(&mut session, 3, &parameters);
            assert_eq!((answer.error, answer.affected), (None, 1));
        }
    }
    let by_driver = shown_by(&mut session, "SELECT i, r, s, b, n FROM t");
    let by_library = shown_by(
        &mut session,
        "SELECT CAST(i AS TEXT) || '|' || CAST(r AS TEXT) || '|' || s || '|' || b || '|' FROM t",
    );
    assert_eq!(by_driver.len(), 55);
    assert_eq!(by_driver, by_library);
    let answer = text(&mut session, "SELECT NULL AS none, '' AS empty");
    assert_eq!(answer.columns, ["none", "empty"]);
    assert_eq!(answer.kept, [vec![None, Some(Box::from(*b""))]]);
}

#[test]
fn counting_digesting_and_keeping_rows_agree() {
    let folder = Folder::new("sqlite-keep");
    let mut session = open(&folder.file());
    done(&mut session, "CREATE TABLE t (a INTEGER, b TEXT)");
    let insert = "INSERT INTO t VALUES (1, 'x'), (2, NULL), (3, '')";
    assert_eq!(done(&mut session, insert), 3);
    let request = Request::Text("SELECT * FROM t ORDER BY a");
    let backwards = Request::Text("SELECT * FROM t ORDER BY a DESC");
    let mut answers = [Keep::Count, Keep::Digest, Keep::Rows].map(Answer::new);
    for answer in &mut answers {
        session.request(&request, answer).expect(OPEN);
        // Reading changes nothing.
        assert_eq!((answer.rows, answer.affected), (3, 0));
    }
    let [counted, mut digested, kept] = answers;
    assert_eq!(counted.digest, 0);
    assert_eq!(digested.digest, kept.digest);
    assert_eq!(shown(&kept), ["1|x", "2|", "3|"]);
    digested.clear(Keep::Digest);
    session.request(&backwards, &mut digested).expect(OPEN);
    // It does not depend on the order.
    assert_eq!(digested.digest, kept.digest);
    assert_eq!(done(&mut session, "DELETE FROM t WHERE a > 1"), 2);
    // What the statement before changed is not counted again.
    assert_eq!(done(&mut session, "CREATE TABLE u (a)"), 0);
    assert_eq!(done(&mut session, "-- nothing to do"), 0);
}

#[test]
fn regexp_agrees_with_posix_and_the_shell() {
    const DOI: &str = "(^|doi.org/)10[.][0-9]+/";
    let folder = Folder::new("sqlite-regexp");
    let mut session = open(&folder.file());
    for (value, pattern, expected) in [
        ("'012345678X'", "^[0-9Xx]{10}$", "1"),
        ("'0123456789X'", "^[0-9Xx]{10}$", "0"),
        ("'ISBN 0123456789.'", "[^0-9Xx][0-9Xx]{10}[^0-9Xx]", "1"),
        ("'x978012345678901'", "(^|[^0-9])97[89][0-9]{10}", "1"),
        ("'1978012345678901'", "(^|[^0-9])97[89][0-9]{10}", "0"),
        ("'http://doi.org/10.1145/1'", DOI, "1"),
        ("'10a1145/1'", DOI, "0"),
        ("'ftp://x'", "^(https?|ftp)://", "1"),
        ("'12-15'", "^[0-9]+-[0-9]+$", "1"),
        ("'12--15'", "^[0-9]+-[0-9]+$", "0"),
        ("'Föhnä'", "^.....$", "1"), // counts characters, not bytes
        ("'abc' || char(10) || 'd'", "^.....$", "1"), // a line feed matches as a character
        ("'a' || char(10) || 'b'", "^b", "0"), // and does not begin a new line
        ("''", "^$", "1"),
        ("'ABC'", "^abc$", "0"),
        ("1995", "^19", "1"),
        ("NULL", "x", ""),
    ] {
        let sql = format!("SELECT {value} REGEXP '{pattern}'");
        assert_eq!(shown_by(&mut session, &sql), [expected], "{sql}");
    }
    assert_eq!(shown_by(&mut session, "SELECT 'x' REGEXP NULL"), [""]);
}

#[test]
fn a_pattern_that_is_a_column_is_compiled_anew_for_each_row() {
    let folder = Folder::new("sqlite-patterns");
    let mut session = open(&folder.file());
    done(&mut session, "CREATE TABLE v (s, p)");
    let sql = "INSERT INTO v VALUES ('a', 'a'), ('b', 'a'), ('b', '[b]'), ('b', NULL)";
    done(&mut session, sql);
    let found = shown_by(&mut session, "SELECT s REGEXP p FROM v");
    assert_eq!(found, ["1", "0", "1", ""]);
    let many = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
                SELECT sum(i REGEXP ('^' || i || '$')) FROM n";
    // More patterns than the cache holds.
    assert_eq!(shown_by(&mut session, many), ["1000"]);
    let wrong = text(&mut session, "SELECT 'x' REGEXP '('").error;
    let wrong = wrong.expect("the pattern is wrong").to_string();
    assert!(wrong.contains("regular expression \"(\""), "{wrong}");
    assert_eq!(
        class(&mut session, "SELECT 'x' REGEXP '('"),
        ErrorClass::Syntax
    );
}

#[test]
fn bulk_rows_are_stored_like_literals_in_a_script() {
    let folder = Folder::new("sqlite-bulk");
    let mut session = open(&folder.file());
    let create = "(i INTEGER, b BIGINT, d DECIMAL(9,2), r DOUBLE, v VARCHAR(9), t TEXT)";
    let cells = "007|-0|38|-12|1.50|1e3|0042|1.0|| 5 |x|9223372036854775808";
    let cells: Vec<&str> = cells.split('|').collect();
    done(&mut session, &format!("CREATE TABLE literals {create}"));
    done(&mut session, &format!("CREATE TABLE bulk {create}"));
    done(&mut session, "BEGIN");
    let insert = "INSERT INTO bulk (i, b, d, r, v, t) VALUES (?, ?, ?, ?, ?, ?)";
    ask(&mut session, &native(insert));
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
        session.bulk_row(&row).expect(OPEN);
        // The session is in a bulk load; another statement in between is allowed in process.
        let literals = literals.join(", ");
        done(
            &mut session,
            &format!("INSERT INTO literals VALUES ({literals})"),
        );
    }
    let answer = end(&mut session, None);
    assert_eq!((answer.error, answer.affected), (None, 100));
    done(&mut session, "COMMIT");
    let columns = ["i", "b", "d", "r", "v", "t"].map(|c| format!("typeof({c}), {c}"));
    let columns = columns.join(", ");
    let dump = |table: &str| format!("SELECT {columns} FROM {table} ORDER BY rowid");
    let loaded = shown_by(&mut session, &dump("bulk"));
    assert_eq!(loaded, shown_by(&mut session, &dump("literals")));
    assert!(loaded[0].contains("integer|"), "{}", loaded[0]);
}

#[test]
fn a_failed_load_names_its_first_bad_row_and_an_aborted_load_its_reason() {
    let folder = Folder::new("sqlite-bulk-errors");
    let mut session = open(&folder.file());
    let sql = "CREATE TABLE t (a INTEGER NOT NULL, b UNIQUE)";
    done(&mut session, sql);
    let bulk = native("INSERT INTO t (a, b) VALUES (?, ?)");
    let mut row = Row::new();
    let mut load = |session: &mut SqliteConnection, abort: Option<&str>| {
        assert_eq!(ask(session, &bulk).error, None);
        for number in 0..300 {
            row.clear();
            row.push_int(number);
            row.push_int(if number == 130 { 77 } else { number });
            session.bulk_row(&row).expect(OPEN);
        }
        end(session, abort).error.expect("the load fails")
    };
    done(&mut session, "BEGIN");
    let error = load(&mut session, None);
    assert_eq!(error.class, ErrorClass::Constraint);
    let begin = "row 131: UNIQUE constraint failed";
    assert!(error.message.starts_with(begin), "{error}");
    done(&mut session, "ROLLBACK");
    let reason = "the source ended";
    assert_eq!(load(&mut session, Some(reason)).message, reason);
    done(&mut session, "DELETE FROM t");
    row.clear();
    row.push_int(1);
    ask(&mut session, &bulk);
    session.bulk_row(&row).expect(OPEN);
    let error = end(&mut session, None).error.expect("a cell is missing");
    assert_eq!(error.message, "row 1: expected 2 cells, found 1");
    assert_eq!(shown_by(&mut session, "SELECT count(*) FROM t"), ["0"]);
}

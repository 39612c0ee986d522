//! The values and digests that statements return.

use assay_drivers::{Answer, Blocking, ErrorClass, Keep, Request};
use assay_values::Value;

use crate::sqlite::support::{Folder, ask, done, open, shown, shown_by, text};

#[test]
fn values_are_returned_as_the_text_of_the_library() {
    let folder = Folder::new("values");
    let mut session = open(&folder.file());
    let mut seed: u64 = 1;
    let mut next = || {
        // Any 64 bits are a double: xorshift produces values of every magnitude.
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        f64::from_bits(seed)
    };
    done(
        &mut session,
        "CREATE TABLE t (i, r REAL, s TEXT, b BLOB, n)",
    );
    ask(
        &mut session,
        &Request::Prepare {
            id: 3,
            pieces: &crate::pieces::pieces("INSERT INTO t VALUES (?, ?, ?, x'41', NULL)"),
        },
    );
    for number in [0, 1, -1, i64::MAX, i64::MIN] {
        for real in [
            0.0,
            -0.0,
            1.0,
            0.1,
            1e15,
            1e16,
            1e300,
            f64::INFINITY,
            next(),
            next(),
            next(),
        ] {
            let real = if real.is_nan() { 2.5 } else { real };
            let parameters = [
                Value::Int(number),
                Value::Double(real),
                Value::Text("é 'quoted'".into()),
            ];
            let answer = ask(
                &mut session,
                &Request::Execute {
                    id: 3,
                    parameters: &parameters,
                },
            );
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
    let folder = Folder::new("keep");
    let mut session = open(&folder.file());
    done(&mut session, "CREATE TABLE t (a INTEGER, b TEXT)");
    assert_eq!(
        done(
            &mut session,
            "INSERT INTO t VALUES (1, 'x'), (2, NULL), (3, '')"
        ),
        3
    );
    let request = Request::Text("SELECT * FROM t ORDER BY a");
    let backwards = Request::Text("SELECT * FROM t ORDER BY a DESC");
    let mut answers = [Keep::Count, Keep::Digest, Keep::Rows].map(Answer::new);
    for answer in &mut answers {
        session
            .request(&request, answer)
            .expect("the session stays open");
        assert_eq!(
            (answer.rows, answer.affected),
            (3, 0),
            "reading changes nothing"
        );
    }
    let [counted, mut digested, kept] = answers;
    assert_eq!(counted.digest, 0);
    assert_eq!(digested.digest, kept.digest);
    assert_eq!(shown(&kept), ["1|x", "2|", "3|"]);
    digested.clear(Keep::Digest);
    session
        .request(&backwards, &mut digested)
        .expect("the session stays open");
    assert_eq!(
        digested.digest, kept.digest,
        "the digest does not depend on the order"
    );
    assert_eq!(done(&mut session, "DELETE FROM t WHERE a > 1"), 2);
    assert_eq!(
        done(&mut session, "CREATE TABLE u (a)"),
        0,
        "reading does not add to the count of changed rows"
    );
    assert_eq!(done(&mut session, "-- nothing to do"), 0);
}

#[test]
fn regexp_agrees_with_posix_and_the_shell() {
    let folder = Folder::new("regexp");
    let mut session = open(&folder.file());
    for (value, pattern, expected) in [
        ("'012345678X'", "^[0-9Xx]{10}$", "1"),
        ("'0123456789X'", "^[0-9Xx]{10}$", "0"),
        ("'ISBN 0123456789.'", "[^0-9Xx][0-9Xx]{10}[^0-9Xx]", "1"),
        ("'x978012345678901'", "(^|[^0-9])97[89][0-9]{10}", "1"),
        ("'1978012345678901'", "(^|[^0-9])97[89][0-9]{10}", "0"),
        (
            "'http://doi.org/10.1145/1'",
            "(^|doi.org/)10[.][0-9]+/",
            "1",
        ),
        ("'10a1145/1'", "(^|doi.org/)10[.][0-9]+/", "0"),
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
    let folder = Folder::new("patterns");
    let mut session = open(&folder.file());
    done(&mut session, "CREATE TABLE v (s, p)");
    done(
        &mut session,
        "INSERT INTO v VALUES ('a', 'a'), ('b', 'a'), ('b', '[b]'), ('b', NULL)",
    );
    assert_eq!(
        shown_by(&mut session, "SELECT s REGEXP p FROM v"),
        ["1", "0", "1", ""]
    );
    let many = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
                SELECT sum(i REGEXP ('^' || i || '$')) FROM n";
    assert_eq!(
        shown_by(&mut session, many),
        ["1000"],
        "more patterns than the cache holds"
    );
    let wrong = text(&mut session, "SELECT 'x' REGEXP '('")
        .error
        .expect("the pattern is wrong");
    assert_eq!(wrong.class, ErrorClass::Syntax);
    assert!(
        wrong.message.contains("regular expression \"(\""),
        "{wrong}"
    );
}

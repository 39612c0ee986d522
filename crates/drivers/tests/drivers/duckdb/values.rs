//! The values that statements return, and those that are bound or loaded in bulk.

use assay_drivers::duckdb::DuckdbConnection;
use assay_drivers::{Answer, Blocking as _, ErrorClass, Keep, Request, TransactionStatus};
use assay_values::{CellType, Decimal, Row, Value};

use crate::duckdb::{execute, folder, open, prepare, rows, shown};
use crate::support::{Folder, ask, ask_for, done, end, native, text};

#[test]
fn a_value_of_each_type_has_the_text_that_postgresql_gives() {
    let Some(folder) = folder("types") else {
        return;
    };
    let mut session = open(&folder.file());
    #[rustfmt::skip]
    let cases = [
        ("true", "t"),
        ("(-128)::TINYINT", "-128"),
        ("255::UTINYINT", "255"),
        ("(-32768)::SMALLINT", "-32768"),
        ("65535::USMALLINT", "65535"),
        ("-2147483648", "-2147483648"),
        ("4294967295::UINTEGER", "4294967295"),
        ("-9223372036854775808", "-9223372036854775808"),
        ("18446744073709551615::UBIGINT", "18446744073709551615"),
        (
            "-170141183460469231731687303715884105727::HUGEINT",
            "-170141183460469231731687303715884105727",
        ),
        (
            "340282366920938463463374607431768211455::UHUGEINT",
            "340282366920938463463374607431768211455",
        ),
        ("0.1::FLOAT", "0.1"),
        ("1e20::DOUBLE", "1e+20"),
        ("'NaN'::DOUBLE", "NaN"),
        ("1.50::DECIMAL(4,2)", "1.50"),
        ("(-0.05)::DECIMAL(9,2)", "-0.05"),
        ("1234567890123.45::DECIMAL(18,2)", "1234567890123.45"),
        ("12345678901234567890.5::DECIMAL(38,1)", "12345678901234567890.5"),
        ("'äß☃'", "äß☃"),
        ("repeat('long enough ', 3)", "long enough long enough long enough "),
        ("''", ""),
        ("'\\x00\\xFFa'::BLOB", "\\x00ff61"),
        ("DATE '2011-03-04'", "2011-03-04"),
        ("DATE '1969-12-31'", "1969-12-31"),
        ("'infinity'::DATE", "infinity"),
        ("TIME '17:53:38.5'", "17:53:38.5"),
        ("'17:53:38+05:30'::TIMETZ", "17:53:38+05:30"),
        ("TIMESTAMP '2011-03-04 17:53:38.000001'", "2011-03-04 17:53:38.000001"),
        ("'2011-03-04 17:53:38'::TIMESTAMP_S", "2011-03-04 17:53:38"),
        ("'2011-03-04 17:53:38.25'::TIMESTAMP_MS", "2011-03-04 17:53:38.25"),
        ("'1969-12-31 17:53:38.123456789'::TIMESTAMP_NS", "1969-12-31 17:53:38.123456"),
        ("'2011-03-04 17:53:38+02'::TIMESTAMPTZ", "2011-03-04 15:53:38+00"),
        ("'-infinity'::TIMESTAMP", "-infinity"),
        ("INTERVAL '14 months 3 days 4 seconds'", "1 year 2 mons 3 days 00:00:04"),
        ("'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'::UUID", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"),
        ("'0101'::BIT", "0101"),
        ("'happy'::ENUM ('sad', 'happy')", "happy"),
        ("[1, NULL, 3]", "[1,null,3]"),
        ("[1.5, 2.5]::DOUBLE[2]", "[1.5,2.5]"),
        (
            "{'a': 'it\"s', 'b': [true], 'c': DATE '2011-03-04'}",
            "{\"a\":\"it\\\"s\",\"b\":[true],\"c\":\"2011-03-04\"}",
        ),
        ("MAP {'x': 1, 'y': 2}", "[[\"x\",1],[\"y\",2]]"),
        ("union_value(n := 5)", "5"),
        ("'{\"a\": [1, 2]}'::JSON", "{\"a\": [1, 2]}"),
        ("NULL", "NULL"),
    ];
    for (expression, expected) in cases {
        let found = shown(&mut session, &format!("SELECT {expression}"));
        assert_eq!(found, [expected], "{expression}");
    }
}

#[test]
fn columns_have_names_and_the_types_that_a_script_needs() {
    let Some(folder) = folder("columns") else {
        return;
    };
    let mut session = open(&folder.file());
    let answer = text(
        &mut session,
        "SELECT 1 AS n, 1.5 AS d, DATE '2011-03-04' AS \"the day\", '\\x00'::BLOB AS b, '{}'::JSON AS j",
    );
    assert_eq!(answer.columns, ["n", "d", "the day", "b", "j"]);
    use CellType::{Date, Decimal, Document, HexBytes, Plain};
    assert_eq!(
        answer.cell_types,
        [Plain, Decimal, Date, HexBytes, Document]
    );
}

#[test]
fn many_rows_are_counted_and_hashed_alike_in_any_order() {
    let Some(folder) = folder("many") else {
        return;
    };
    let mut session = open(&folder.file());
    done(
        &mut session,
        "CREATE TABLE t AS SELECT i, CASE WHEN i % 3 > 0 THEN 'row ' || i END AS s FROM range(10000) r(i)",
    );
    let mut ask = |sql: &str, keep: Keep| {
        let answer = ask_for(&mut session, &Request::Text(sql), keep);
        assert_eq!(answer.error, None);
        answer
    };
    let counted = ask("SELECT * FROM t", Keep::Count);
    let forward = ask("SELECT * FROM t ORDER BY i", Keep::Digest);
    let backward = ask("SELECT * FROM t ORDER BY i DESC", Keep::Rows);
    assert_eq!([counted.rows, forward.rows, backward.rows], [10_000; 3]);
    assert_eq!(forward.digest, backward.digest);
    assert_eq!(backward.kept[0], [Some(Box::from(*b"9999")), None]);
    let cell = |text: &str| Some(text.as_bytes().into());
    assert_eq!(backward.kept[9998], [cell("1"), cell("row 1")]);
}

#[test]
fn values_are_bound_as_what_the_column_is() {
    let Some(folder) = folder("bind") else {
        return;
    };
    let mut session = open(&folder.file());
    done(
        &mut session,
        "CREATE TABLE t (i INTEGER, s SMALLINT, d DECIMAL(9,2), f DOUBLE, v VARCHAR, b BLOB, \
         day DATE, seen TIMESTAMP, truth BOOLEAN)",
    );
    let sql = "INSERT INTO t VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)";
    prepare(&mut session, 4, sql);
    let decimal = Value::Decimal(Decimal::parse("-1.5").expect("a decimal"));
    let text = |text: &str| Value::Text(text.into());
    let (bytes, time) = (Value::Bytes([0, 255].into()), "2011-03-04 17:53:38");
    use Value::{Bool, Date, Int, Null, Timestamp};
    #[rustfmt::skip]
    let rows_of_values = [
        [Int(7), Int(-7), decimal, Int(3), text("it's"), bytes, Date(0), Timestamp(1), Bool(true)],
        [text("8"), Null, text("2.25"), text("0.5"), Int(5), Null, text("2011-03-04"), text(time),
         Bool(false)],
    ];
    for values in rows_of_values {
        let answer = execute(&mut session, 4, &values);
        assert_eq!((answer.error, answer.affected), (None, 1));
    }
    assert_eq!(
        shown(&mut session, "SELECT * FROM t ORDER BY i"),
        [
            "7|-7|-1.50|3|it's|\\x00ff|1970-01-01|1970-01-01 00:00:00.000001|t",
            "8|NULL|2.25|0.5|5|NULL|2011-03-04|2011-03-04 17:53:38|f",
        ]
    );
    prepare(&mut session, 0, "SELECT v FROM t WHERE i = ? AND v = ?");
    let answer = execute(&mut session, 0, &[Value::Int(8), Value::Int(5)]);
    assert_eq!(rows(&answer), ["5"]);
    let answer = execute(&mut session, 0, &[Value::Int(1 << 40), text("5")]);
    // No column of 32 bits holds this number.
    assert_eq!(rows(&answer), [""; 0]);
}

const LOAD: &str = "INSERT INTO \"order\" (id, \"two words\", day, raw, d) VALUES (?, ?, ?, ?, ?)";

fn begin(session: &mut DuckdbConnection, text: &str) -> Answer {
    ask(session, &native(text))
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
    let Some(folder) = folder("bulk") else {
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
    let ends = "SELECT * FROM \"order\" WHERE id IN (0, 4999) ORDER BY id";
    let [first, last] =
        ["äh 'so'|0", "NULL|4999"].map(|it| it.to_owned() + "|2011-03-04|\\x00ff|-1.50|7");
    assert_eq!(shown(&mut session, ends), [first, last]);
}

#[test]
fn a_load_that_fails_or_is_aborted_leaves_no_row() {
    let Some(folder) = folder("bulk-errors") else {
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

//! Text and prepared statements: parameters and results.

use assay_drivers::{Keep, Request};
use assay_values::{Random, Value};

use crate::mysql::client::Client;
use crate::server::Server;
use crate::support::rows as rows_of;

fn text(cell: &Option<Box<[u8]>>) -> Option<&str> {
    let bytes = cell.as_deref();
    bytes.map(|bytes| std::str::from_utf8(bytes).expect("text"))
}

pub fn returns_rows_counts_and_names(server: &Server) {
    let mut client = Client::root(server, "own");
    client.rows("CREATE TABLE people (id INT PRIMARY KEY, name TEXT)");
    let inserted = client.rows("INSERT INTO people VALUES (1, 'Ångström'), (2, ''), (3, NULL)");
    assert_eq!((inserted.affected, inserted.rows), (3, 0));
    let updated = client.rows("UPDATE people SET name = '' WHERE id IN (2, 3, 4)");
    // Rows that the UPDATE found, changed or not.
    assert_eq!(updated.affected, 2);
    client.rows("UPDATE people SET name = NULL WHERE id = 3");

    let all = client.rows("SELECT id, name AS `the name` FROM people ORDER BY id");
    assert_eq!(all.columns, ["id", "the name"]);
    let names: Vec<Option<&str>> = all.kept.iter().map(|row| text(&row[1])).collect();
    assert_eq!(names, [Some("Ångström"), Some(""), None]);

    let request = Request::Text("SELECT id, name FROM people ORDER BY id DESC");
    let counted = client.try_ask(&request, Keep::Count).expect("good");
    let digested = client.try_ask(&request, Keep::Digest).expect("good");
    assert_eq!((counted.rows, digested.rows), (3, 3));
    // The digest does not depend on the order, nor on the protocol.
    assert_eq!(digested.digest, all.digest);
    client.prepare(0, "SELECT id, name FROM people");
    let prepared = client.execute(0, &[], Keep::Digest);
    assert_eq!(prepared.digest, all.digest);
    assert_eq!(client.execute(0, &[], Keep::Count).rows, 3);
    client.rows("DROP TABLE people");
}

pub fn takes_several_results(server: &Server) {
    let mut client = Client::root(server, "own");
    let answer = client.rows("SELECT 1 AS a UNION SELECT 2; DO 1; SELECT 'x' AS b");
    assert_eq!((answer.rows, answer.columns), (3, vec!["a".to_owned()]));
    client.rows("CREATE PROCEDURE two() BEGIN SELECT 1; SELECT 2 UNION SELECT 3; END");
    assert_eq!(client.rows("CALL two()").rows, 3);
    client.prepare(0, "CALL two()");
    for keep in [Keep::Rows, Keep::Count, Keep::Digest] {
        assert_eq!(client.execute(0, &[], keep).rows, 3);
    }
    client.rows("DROP PROCEDURE two");
    let wrong = Request::Text("SELECT 1; SELECT nothing");
    let failed = client.try_ask(&wrong, Keep::Count).expect("good");
    assert_eq!((failed.rows, failed.error.is_some()), (1, true));
    assert_eq!(client.cell("SELECT 5"), "5", "the session stays open");
}

pub fn executes_every_kind_of_value(server: &Server) {
    use Value::{Bool, Double, Int, Null, Text};
    let mut client = Client::root(server, "own");
    client.rows(
        "CREATE TABLE given (at INT PRIMARY KEY, b BOOL, i BIGINT, d DOUBLE, t LONGTEXT, n INT)",
    );
    client.prepare(3, "INSERT INTO given VALUES (?, ?, ?, ?, ?, ?)");
    let [snow, long] = ["it's a \\ \0 ☃", &"x".repeat(70_000)].map(|text| Text(text.into()));
    let (least, most) = (Int(i64::MIN), Int(i64::MAX));
    #[rustfmt::skip]
    let rows: [[Value; 6]; 5] = [
        [Int(1), Bool(true), least, Double(-1.5e300), snow, Null],
        [Int(2), Null, Null, Null, Null, Null],
        [Int(3), Bool(false), Int(-1), Double(0.1), Text("".into()), Int(7)],
        // Other types than before: they must be sent to the server.
        [Text("4".into()), Int(1), Text("12".into()), Int(3), Double(2.5), Bool(true)],
        [Int(5), Bool(true), most, Double(f64::MIN_POSITIVE), long, Int(-7)],
    ];
    for row in &rows {
        assert_eq!(client.execute(3, row, Keep::Count).affected, 1);
    }
    let found = client.rows("SELECT b, i, d, LEFT(t, 10), n, LENGTH(t) FROM given ORDER BY at");
    let expected = [
        "1|-9223372036854775808|-1.5e300|it's a \\ \0|NULL|14",
        "NULL|NULL|NULL|NULL|NULL|NULL",
        "0|-1|0.1||7|0",
        "1|12|3|2.5|1|3",
        "1|9223372036854775807|2.2250738585072014e-308|xxxxxxxxxx|-7|70000",
    ];
    assert_eq!(rows_of(&found, "NULL"), expected);
    client.rows("DROP TABLE given");

    let parameters = &[];
    let few = client.try_ask(&Request::Execute { id: 3, parameters }, Keep::Count);
    let few = few.expect_err("six are needed");
    assert!(few.message.contains("6 parameters, 0 were given"), "{few}");
    // The id is used for another statement.
    client.prepare(3, "SELECT ? + 1");
    let sum = client.execute(3, &[Value::Int(41)], Keep::Rows);
    assert_eq!(text(&sum.kept[0][0]), Some("42"));
    client.prepare(4, "BEGIN"); // MySQL does not prepare it
    client.execute(4, &[], Keep::Count);
    client.execute(4, &[], Keep::Count);
}

/// `MARIADB_CLIENT_CACHE_METADATA`: the server sends columns with Prepare and after a change, not every time.
pub fn keeps_the_columns_that_the_server_does_not_send_again(server: &Server) {
    let mut client = Client::root(server, "own");
    client.rows("CREATE TABLE changing (a INT, b TEXT)");
    client.rows("INSERT INTO changing VALUES (1, 'one')");
    client.prepare(0, "SELECT * FROM changing");
    client.prepare(1, "SELECT CONCAT(?) AS x");
    for _ in 0..3 {
        let answer = client.execute(0, &[], Keep::Rows);
        assert_eq!(answer.columns, ["a", "b"]);
        assert_eq!(rows_of(&answer, "NULL"), ["1|one"]);
        for (value, shown) in [
            (Value::Int(5), Some("5")),
            (Value::Text("five".into()), Some("five")),
            (Value::Double(0.5), Some("0.5")),
            (Value::Null, None),
        ] {
            let answer = client.execute(1, std::slice::from_ref(&value), Keep::Rows);
            assert_eq!(text(&answer.kept[0][0]), shown, "{value:?}");
            assert_eq!(answer.columns, ["x"]);
        }
    }
    client.rows("ALTER TABLE changing MODIFY a VARCHAR(9), ADD c DOUBLE DEFAULT 0.25");
    for _ in 0..2 {
        let answer = client.execute(0, &[], Keep::Rows);
        assert_eq!(answer.columns, ["a", "b", "c"]);
        assert_eq!(text(&answer.kept[0][2]), Some("0.25"));
    }
    client.rows("DROP TABLE changing");
}

/// 16 MiB − 1 is the length that needs a second, empty packet.
pub fn carries_texts_longer_than_a_packet(server: &Server) {
    const FULL: usize = 0xFF_FFFF;
    let mut client = Client::root(server, "own");
    // A row is 4 bytes longer than its only cell.
    for length in [FULL - 5, FULL - 4, FULL - 3, FULL] {
        let union = format!("SELECT REPEAT('z', {length}) UNION ALL SELECT 'last'");
        let lengths = rows_of(&client.rows(&union), "")
            .into_iter()
            .map(|row| row.len());
        assert_eq!(lengths.collect::<Vec<_>>(), [length, 4]);
    }
    client.prepare(0, "SELECT LENGTH(?), REPEAT('y', ?), 'end'");
    let length = 20_000_000;
    let full = Value::Int(i64::try_from(FULL).expect("it is 16 MiB"));
    let parameters = [Value::Text("x".repeat(length).into()), full];
    let answer = client.execute(0, &parameters, Keep::Rows);
    assert_eq!(text(&answer.kept[0][0]), Some("20000000"));
    let found = answer.kept[0][1].as_deref().expect("a text");
    assert!(found.len() == FULL && found.iter().all(|&byte| byte == b'y'));
    assert_eq!(text(&answer.kept[0][2]), Some("end"));
    let long = "x".repeat(length);
    assert_eq!(client.cell(&format!("SELECT LENGTH('{long}')")), "20000000");
}

fn compare(client: &mut Client, query: &str) {
    let printed = client.rows(query);
    client.prepare(0, query);
    let converted = client.execute(0, &[], Keep::Rows);
    assert!(printed.rows > 0, "{query}");
    assert_eq!(printed.columns, converted.columns);
    for (line, (printed, converted)) in printed.kept.iter().zip(&converted.kept).enumerate() {
        let word = |cell: &Option<Box<[u8]>>| Some(cell.as_deref()?.escape_ascii().to_string());
        let words = |row: &[_]| row.iter().map(word).collect::<Vec<_>>();
        assert_eq!(words(printed), words(converted), "row {line} of {query}");
    }
    assert_eq!(printed.digest, converted.digest);
}

pub fn both_protocols_give_the_same_text(server: &Server) {
    let mut client = Client::root(server, "own");
    client.rows("SET SESSION sql_mode = ''"); // dates of zeros are values too
    client.rows(
        "CREATE TABLE kinds (i1 TINYINT, u1 TINYINT UNSIGNED, z TINYINT(4) ZEROFILL, i2 SMALLINT,
         u2 SMALLINT UNSIGNED, i3 MEDIUMINT, u3 MEDIUMINT UNSIGNED, i4 INT, u4 INT UNSIGNED,
         z4 INT ZEROFILL, i8 BIGINT, u8 BIGINT UNSIGNED, f FLOAT, d DOUBLE, d3 DOUBLE(10,3),
         f2 FLOAT(7,2), zd DOUBLE(9,2) ZEROFILL, n DECIMAL(20,5), y YEAR, dt DATE, t TIME, t3 TIME(3),
         ts DATETIME, ts6 DATETIME(6), s1 TIMESTAMP(1) NULL, c CHAR(5), v VARCHAR(20), x TEXT, b BLOB,
         e ENUM('a','b'), st SET('p','q'), bits BIT(12), j JSON)",
    );
    let extremes = [
        "-128, 255, 7, -32768, 65535, -8388608, 16777215, -2147483648, 4294967295, 42,
         -9223372036854775808, 18446744073709551615, -1.17549e-38, 1.7976931348623157e308, 12345.6789,
         1234.567, 3.5, -123456789012345.12345, 2155, '9999-12-31', '-838:59:59', '838:59:58.999',
         '9999-12-31 23:59:59', '1000-01-01 00:00:00.000001', '2038-01-19 03:14:07.9',
         'Ä', 'it''s', 'a\\tb', X'00FF', 'b', 'p,q', b'101010101010', '{\"a\": [1, 2]}'",
        "0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -0e0, 0, 0, 0, 0, 0, '0000-00-00', '00:00:00',
         '00:00:00', '0000-00-00 00:00:00', '0000-00-00', NULL, '', '', '', '', 'a', '', b'0', '0'",
        "1, 1, 200, 1, 1, 1, 1, 1, 1, 4000000000, 1, 1, 3.25, 1e15, -0.0005, -0.005, 0.01, 0.1, 1901,
         '2011-03-04', '-00:00:01', '-00:00:00.5', '2011-03-04 17:00:00', '2011-03-04 00:00:00.5',
         '2011-03-04', 'abcde', 'x', 'y', 'z', 'a', 'q', b'1', 'null'",
    ];
    for values in extremes {
        client.rows(&format!("INSERT INTO kinds VALUES ({values})"));
    }
    let nulls = vec!["NULL"; 33].join(", ");
    client.rows(&format!("INSERT INTO kinds VALUES ({nulls})"));
    compare(&mut client, "SELECT * FROM kinds");
    compare(
        &mut client,
        "SELECT COUNT(*), SUM(i4), AVG(d3), AVG(n), MIN(t), MAX(ts6), SUM(f), ROUND(AVG(d), 2), NULL,
         1, 1.50, 1e0, TRUE, NOW() > '2001-01-01', CURDATE() IS NULL, CAST(MAX(ts) AS TIME(2)),
         SEC_TO_TIME(SUM(i1)), CONCAT(MAX(v), 'ä'), COUNT(*) / 7e0 FROM kinds",
    );
    client.rows("DROP TABLE kinds");
}

/// Numbers of all magnitudes from a fixed stream, and those around the limits of the form without exponent.
#[expect(clippy::cast_possible_truncation, reason = "any bits will do")]
pub fn floating_point_numbers_are_printed_as_the_server_does(server: &Server) {
    let mut client = Client::root(server, "own");
    client.rows("CREATE TABLE floats (d DOUBLE, f FLOAT, d4 DOUBLE(30,4))");
    let mut random = Random::stream(1, 0);
    let mut next = || random.next();
    let mut lines = Vec::new();
    let numbers = "1 1.5 9.99999 9.999999999999999 1.2345678901234567 3.14159265";
    for exponent in -20..22 {
        let low = exponent % 15;
        for digits in numbers.split(' ') {
            let number = format!("{digits}e{exponent}");
            lines.push(format!("({number}, -{number}, {digits}e{low})"));
        }
    }
    for _ in 0..4_000 {
        let any = f64::from_bits(next());
        let single = f32::from_bits((next() >> 32) as u32);
        let near = f64::from(next() as i32) / 10_f64.powi((next() % 12) as i32);
        if any.is_finite() && single.is_normal() {
            lines.push(format!("({any:e}, {single:e}, {near:e})"));
        }
    }
    for part in lines.chunks(500) {
        client.rows(&format!("INSERT INTO floats VALUES {}", part.join(", ")));
    }
    compare(&mut client, "SELECT d, f, d4 FROM floats");
    compare(
        &mut client,
        "SELECT d * 1e0, f * 1e0, ROUND(d4, 1), d4 / 3 FROM floats WHERE d BETWEEN -1e200 AND 1e200",
    );
    client.rows("DROP TABLE floats");
}

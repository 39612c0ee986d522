//! Binary rows are converted to the same text that the server prints.

use assay_drivers::Keep;

use crate::mysql_support::client::{Client, options};
use crate::mysql_support::server::Server;

fn compare(client: &mut Client, query: &str) {
    let printed = client.rows(query);
    client.prepare(0, query);
    let converted = client.execute(0, &[], Keep::Rows);
    assert!(printed.rows > 0, "{query}");
    assert_eq!(printed.columns, converted.columns);
    for (line, (printed, converted)) in printed.kept.iter().zip(&converted.kept).enumerate() {
        let words = |row: &[Option<Box<[u8]>>]| -> Vec<Option<String>> {
            row.iter()
                .map(|cell| cell.as_deref().map(|t| t.escape_ascii().to_string()))
                .collect()
        };
        assert_eq!(words(printed), words(converted), "row {line} of {query}");
    }
    assert_eq!(printed.digest, converted.digest);
}

pub fn both_protocols_give_the_same_text(server: &Server) {
    let mut client = Client::unix(server, options("root", None, "own")).expect("root is accepted");
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
    client.rows(&format!(
        "INSERT INTO kinds VALUES ({})",
        vec!["NULL"; 33].join(", ")
    ));
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
    let mut client = Client::unix(server, options("root", None, "own")).expect("root is accepted");
    client.rows("CREATE TABLE floats (d DOUBLE, f FLOAT, d4 DOUBLE(30,4))");
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let mut lines = Vec::new();
    for exponent in -20..22 {
        for digits in [
            "1",
            "1.5",
            "9.99999",
            "9.999999999999999",
            "1.2345678901234567",
            "3.14159265",
        ] {
            lines.push(format!(
                "({digits}e{exponent}, -{digits}e{exponent}, {digits}e{})",
                exponent % 15
            ));
        }
    }
    for _ in 0..4_000 {
        let (any, single) = (
            f64::from_bits(next()),
            f32::from_bits((next() >> 32) as u32),
        );
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

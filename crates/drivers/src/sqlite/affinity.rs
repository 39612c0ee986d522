//! Takes the statement of a bulk load and its cells; returns which cells can be bound as integers.
//!
//! The library converts text that looks like an integer if the column's declared type contains INT
//! (<https://sqlite.org/datatype3.html>, section 3). Converting before the call saves a quarter of the
//! load's time. Anything not clearly an integer is left to the library.

use rusqlite::Connection;

/// For each parameter of `INSERT INTO table (column, …) VALUES (?, …)`, whether its column is declared
/// as an integer. Empty where the text has another form or the table is not known: then nothing is
/// bound as an integer, which is slower but equally correct.
pub(super) fn integer_columns(connection: &Connection, text: &str) -> Vec<bool> {
    columns_of(text)
        .and_then(|(table, columns)| {
            let mut statement = connection
                .prepare("SELECT name, type FROM pragma_table_info(?)")
                .ok()?;
            let declared: Vec<(String, String)> = statement
                .query_map([table], |row| Ok((row.get(0)?, row.get(1)?)))
                .ok()?
                .collect::<Result<_, _>>()
                .ok()?;
            let is_integer = |column: &String| {
                declared.iter().any(|(name, declared_type)| {
                    name.eq_ignore_ascii_case(column)
                        && declared_type.to_ascii_uppercase().contains("INT")
                })
            };
            Some(columns.iter().map(is_integer).collect())
        })
        .unwrap_or_default()
}

/// The integer value of a cell, if the library would print it as the same text.
pub(super) fn integer(cell: &[u8]) -> Option<i64> {
    let digits = cell.strip_prefix(b"-").unwrap_or(cell);
    let is_plain = match digits {
        [] => false,
        [b'0'] => digits.len() == cell.len(),
        // Eighteen digits always fit; longer numbers are left to the library.
        [b'1'..=b'9', rest @ ..] => rest.len() < 18 && rest.iter().all(u8::is_ascii_digit),
        _ => false,
    };
    is_plain.then(|| {
        let number = digits
            .iter()
            .fold(0, |number, digit| number * 10 + i64::from(digit - b'0'));
        if digits.len() == cell.len() {
            number
        } else {
            -number
        }
    })
}

/// The table and the columns of an INSERT.
fn columns_of(text: &str) -> Option<(String, Vec<String>)> {
    let mut rest = text;
    for word in ["INSERT", "INTO"] {
        let (found, behind) = name(rest)?;
        if !found.eq_ignore_ascii_case(word) {
            return None;
        }
        rest = behind;
    }
    let (table, behind) = name(rest)?;
    let mut rest = behind.trim_start().strip_prefix('(')?;
    let mut columns = Vec::new();
    loop {
        let (column, behind) = name(rest)?;
        columns.push(column);
        let behind = behind.trim_start();
        match behind.strip_prefix(',') {
            Some(next) => rest = next,
            None => return behind.starts_with(')').then_some((table, columns)),
        }
    }
}

/// A name, plain or in double quotes, and what follows it.
fn name(text: &str) -> Option<(String, &str)> {
    let text = text.trim_start();
    if let Some(quoted) = text.strip_prefix('"') {
        let end = quoted
            .find('"')
            .filter(|&end| !quoted[end + 1..].starts_with('"'))?;
        return Some((quoted[..end].to_owned(), &quoted[end + 1..]));
    }
    let end = text
        .find(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .unwrap_or(text.len());
    (end > 0).then(|| (text[..end].to_owned(), &text[end..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_integer_prints_as_the_same_text() {
        for (cell, expected) in [
            ("0", Some(0)),
            ("-7", Some(-7)),
            ("123456789012345678", Some(123_456_789_012_345_678)),
            ("999999999999999999", Some(999_999_999_999_999_999)),
            ("1234567890123456789", None),
            ("-0", None),
            ("007", None),
            ("+1", None),
            ("1 ", None),
            ("1.0", None),
            ("-", None),
            ("", None),
        ] {
            assert_eq!(integer(cell.as_bytes()), expected, "{cell:?}");
        }
    }

    #[test]
    fn columns_are_read_from_the_insert_of_a_dialect() {
        let found = columns_of("INSERT INTO \"group\" (a, \"order\" , _c9) VALUES (?, ?, ?)");
        let expected = ["a", "order", "_c9"].map(str::to_owned).to_vec();
        assert_eq!(found, Some(("group".to_owned(), expected)));
        for unsupported in [
            "INSERT INTO t VALUES (?)",
            "REPLACE INTO t (a) VALUES (?)",
            "INSERT INTO",
            "",
        ] {
            assert_eq!(columns_of(unsupported), None, "{unsupported}");
        }
    }
}

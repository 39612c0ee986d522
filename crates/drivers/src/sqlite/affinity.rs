//! Takes the statement of a bulk load and its cells; returns which cells can be bound as integers.
//!
//! The library converts text that looks like an integer if the column's declared type contains INT
//! (<https://sqlite.org/datatype3.html>, section 3). Converting before the call saves a quarter of the
//! load's time. Anything not clearly an integer is left to the library.

use rusqlite::Connection;

use crate::insert_text::columns_of;

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
}

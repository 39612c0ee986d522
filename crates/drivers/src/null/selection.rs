//! Takes the words of a statement that returns rows; returns the names of its columns, and the table it
//! reads.

use crate::null::meaning::{Meaning, Statement};
use crate::null::words::{Words, first_words, is_word, plain};

/// Prefixes of the names of system tables.
const CATALOGUES: [&str; 5] = [
    "pg_",
    "information_schema.",
    "mysql.",
    "performance_schema.",
    "sys.",
];

/// Parses a statement that begins with SELECT; `list` is what follows that word.
pub(super) fn selection(whole: Words<'_>, mut list: Words<'_>) -> Statement {
    let mut columns = Vec::new();
    let (mut name, mut function, mut depth) = (None, None, 0_u32);
    let mut table = None;
    for word in list.by_ref() {
        match word {
            "(" => {
                if depth == 0 {
                    function = name;
                }
                depth += 1;
            }
            ")" => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    name = function;
                }
            }
            _ if depth > 0 => {}
            "," => columns.push(column_name(name.take())),
            ";" => break,
            _ if is_word(word, "from") => {
                table = Some(());
                break;
            }
            _ => name = Some(word),
        }
    }
    columns.push(column_name(name));
    let table = table.and_then(|()| list.next()).map(plain);
    let is_catalogue = |table: &str| CATALOGUES.iter().any(|prefix| table.starts_with(prefix));
    match table {
        Some(table) if is_catalogue(&table) => Meaning::Catalogue.with(columns),
        Some(table) if columns.len() == 1 && &*columns[0] == "count" => {
            let words = first_words(whole);
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            match words[..] {
                ["select", "count", "(", "*", ")", "from", _] => {
                    Meaning::Count(table).with(columns)
                }
                _ => Meaning::Read.with(columns),
            }
        }
        _ => Meaning::Read.with(columns),
    }
}

/// The column name of an expression whose last word is `name`.
fn column_name(name: Option<&str>) -> Box<str> {
    let last = name.and_then(|name| name.rsplit('.').next());
    match last {
        Some(word)
            if word.starts_with(|first: char| first.is_alphabetic() || "_\"`".contains(first)) =>
        {
            plain(word).into()
        }
        _ => "n".into(),
    }
}

/// The number of values in the first `(…)`.
pub(super) fn width_of_group(words: Words<'_>) -> usize {
    let mut depth = 0_u32;
    let mut width = 1;
    for word in words {
        match word {
            "(" => depth += 1,
            ")" if depth == 1 => break,
            ")" => depth = depth.saturating_sub(1),
            "," if depth == 1 => width += 1,
            _ => {}
        }
    }
    width
}

pub(super) fn unnamed(count: usize) -> Vec<Box<str>> {
    vec!["n".into(); count]
}

//! Takes the words of a statement that adds rows; returns the table, and the number of rows in the statement.

use crate::lexer::Literals;
use crate::null::meaning::{Meaning, Statement};
use crate::null::selection::selection;
use crate::null::words::{Words, first_words, is_word, plain};

/// The table of `INSERT INTO table …`, `COPY table …` or `LOAD DATA … INTO TABLE table`.
pub(super) fn table_of_bulk(text: &str) -> Option<String> {
    let words = first_words(Words::new(text, Literals::Doubled));
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        ["insert", "into", table, ..] | ["copy", table, ..] => Some(table.to_owned()),
        ["load", "data", ..] => table_behind_into(Words::new(text, Literals::Backslash)),
        _ => None,
    }
}

/// The file that `LOAD DATA LOCAL INFILE 'file'` names.
pub(super) fn file_of(mut words: Words<'_>) -> String {
    let literal = words
        .find(|word| is_word(word, "infile"))
        .and_then(|_| words.next())
        .unwrap_or_default();
    let inner = literal.trim_matches(|sign| sign == '\'' || sign == '"');
    inner.replace("\\\\", "\\")
}

/// Parses what follows COPY: the table, optional columns, the source or the target.
pub(super) fn copying(mut rest: Words<'_>) -> Statement {
    let table = rest.next().map(plain).unwrap_or_default();
    let top: Vec<&str> = rest.clone().at_top().collect();
    let is_load =
        (top.windows(2)).any(|pair| is_word(pair[0], "from") && is_word(pair[1], "stdin"));
    if !is_load {
        return Meaning::Other.bare();
    }
    let meaning = Meaning::Load {
        table,
        file: String::new(),
        is_binary: rest.any(|word| is_word(word, "binary")),
    };
    meaning.bare()
}

/// Parses what follows INSERT: the table, and rows in parentheses.
pub(super) fn insertion(mut rest: Words<'_>) -> Statement {
    let into = rest.next().unwrap_or_default();
    let table = if is_word(into, "into") {
        rest.next()
    } else {
        Some(into)
    };
    let table = table.map(plain).unwrap_or_default();
    let (mut rows, mut depth, mut is_behind_values) = (0, 0_u32, false);
    while let Some(word) = rest.next() {
        match word {
            "(" => {
                rows += u64::from(is_behind_values && depth == 0);
                depth += 1;
            }
            ")" => depth = depth.saturating_sub(1),
            _ if depth > 0 => {}
            _ if is_word(word, "values") => is_behind_values = true,
            _ if is_word(word, "returning") => {
                let columns = selection(rest.clone(), rest).columns;
                return Statement {
                    meaning: Meaning::Insert {
                        table,
                        rows: rows.max(1),
                    },
                    columns,
                };
            }
            _ => {}
        }
    }
    Meaning::Insert {
        table,
        rows: rows.max(1),
    }
    .bare()
}

fn table_behind_into(mut words: Words<'_>) -> Option<String> {
    words.find(|word| is_word(word, "table"))?;
    words.next().map(plain)
}

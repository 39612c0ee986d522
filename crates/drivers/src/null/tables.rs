//! The tables of a null site: their names and how many rows each was given, and nothing else.

use std::collections::HashMap;

/// What a statement means here, as far as its first words tell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Statement {
    /// `SELECT count(*) FROM table`.
    Count(String),
    Read,
    Create(String),
    Drop(String),
    /// `DELETE FROM table` or `TRUNCATE TABLE table`, whole.
    Empty(String),
    /// Makes or changes anything else of the schema.
    Schema,
    /// Changes one row. Such changes are not counted: this is no database.
    Change,
    Other,
}

impl Statement {
    pub(super) fn of(text: &str) -> Self {
        let words = words(text);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        match words[..] {
            ["select", "count", "(", "*", ")", "from", table] => Self::Count(table.into()),
            ["select" | "with" | "values" | "show" | "explain", ..] => Self::Read,
            ["create", "table", "if", "not", "exists", table, ..]
            | ["create", "table", table, ..] => Self::Create(table.into()),
            ["drop", "table", "if", "exists", table, ..] | ["drop", "table", table, ..] => {
                Self::Drop(table.into())
            }
            [
                "create" | "drop" | "alter" | "analyze" | "comment" | "set",
                ..,
            ] => Self::Schema,
            ["delete", "from", table] | ["truncate", "table", table] | ["truncate", table] => {
                Self::Empty(table.into())
            }
            ["insert" | "update" | "delete" | "replace" | "merge", ..] => Self::Change,
            _ => Self::Other,
        }
    }

    /// Whether it prepares the work and is none itself.
    pub(super) fn is_schema(&self) -> bool {
        matches!(self, Self::Create(_) | Self::Drop(_) | Self::Schema)
    }
}

/// The table of `INSERT INTO table …`.
pub(super) fn table_of_insert(text: &str) -> Option<String> {
    match &words(text)[..] {
        [insert, into, table, ..] if insert == "insert" && into == "into" => Some(table.clone()),
        _ => None,
    }
}

#[derive(Debug, Default)]
pub(super) struct Tables(HashMap<String, u64>);

impl Tables {
    /// Rows of a table, if there is such a one.
    pub(super) fn rows(&self, table: &str) -> Option<u64> {
        self.0.get(table).copied()
    }

    pub(super) fn add(&mut self, table: String, rows: u64) {
        *self.0.entry(table).or_default() += rows;
    }

    pub(super) fn make(&mut self, table: &str) {
        self.0.insert(table.into(), 0);
    }

    pub(super) fn remove(&mut self, table: &str) {
        self.0.remove(table);
    }

    /// Returns how many rows it had.
    pub(super) fn empty(&mut self, table: &str) -> u64 {
        self.0
            .get_mut(table)
            .map(std::mem::take)
            .unwrap_or_default()
    }
}

/// The first eight words in lower case and without quotes; signs are words of their own. A semicolon
/// ends the text.
fn words(text: &str) -> Vec<String> {
    let is_word = |character: char| character.is_alphanumeric() || "_.\"`".contains(character);
    let mut words = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest
        .chars()
        .next()
        .filter(|&first| first != ';' && words.len() < 8)
    {
        let length = rest
            .find(|character| !is_word(character))
            .unwrap_or(rest.len());
        let (word, behind) = rest.split_at(length.max(first.len_utf8()));
        words.push(word.replace(['"', '`'], "").to_lowercase());
        rest = behind.trim_start();
    }
    words
}

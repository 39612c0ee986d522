//! Takes the name of a language; returns its lexer, which finds literals and comments.

use super::passage::{LiteralStyle, Passage};
use crate::place::Defect;

/// The language of a script's statements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Lexer {
    /// SQL: nothing is special within text literals, quoted identifiers and comments.
    #[default]
    Sql,
    /// CQL: SQL's literals, also `//` comments; a batch of statements is one statement.
    Cql,
    /// JSON: each statement is one document.
    Json,
}

impl Lexer {
    /// All languages, by their names in workload files.
    pub const ALL: [(&str, Self); 3] =
        [("sql", Self::Sql), ("cql", Self::Cql), ("json", Self::Json)];

    /// The language of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let found = Self::ALL.iter().find(|(known, _)| *known == name);
        found.map(|&(_, lexer)| lexer)
    }

    /// The literal, quoted identifier or comment that begins at `at`, if any.
    pub(super) fn passage(self, text: &str, at: usize) -> Result<Option<Passage>, Defect> {
        if self == Self::Cql && text[at..].starts_with("//") {
            let end = text[at..].find('\n').map_or(text.len(), |line| at + line);
            return Ok(Some(Passage::Comment { end }));
        }
        LiteralStyle::Doubled.passage(text, at)
    }
}

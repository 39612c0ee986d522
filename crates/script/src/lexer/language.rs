//! Takes the name of a language; gives the lexer of it, and where its literals and comments stand.

use super::passage::{LiteralStyle, Passage};
use crate::place::Defect;

/// The language of a script's statements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Lexer {
    /// SQL: text literals, quoted identifiers and comments hide what is in them.
    #[default]
    Sql,
    /// SQL's literals with `//` comments in addition; a batch of statements is one statement.
    Cql,
    /// Each statement is one JSON document.
    Json,
}

impl Lexer {
    /// All languages, by the names that documents give them.
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

//! Takes the name of a language and its literal style; returns its lexer, which finds literals and comments. How a value is sent
//! with a statement is declared here.

use crate::lexer::passage::{LiteralStyle, Passage};
use crate::place::Defect;

/// The language of a script's statements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lexer {
    /// SQL: nothing is special within text literals, quoted identifiers and comments.
    Sql(LiteralStyle),
    /// CQL: SQL's literals, also `//` comments; a batch of statements is one statement.
    Cql,
    /// JSON: each statement is one document.
    Json,
}

impl Default for Lexer {
    fn default() -> Self {
        Self::Sql(LiteralStyle::default())
    }
}

impl Lexer {
    /// All languages, by their names in workload files.
    pub const ALL: [(&str, Self); 3] = [
        ("sql", Self::Sql(LiteralStyle::Doubled)),
        ("cql", Self::Cql),
        ("json", Self::Json),
    ];

    /// The language of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let found = Self::ALL.iter().find(|(known, _)| *known == name);
        found.map(|&(_, lexer)| lexer)
    }

    /// The same language as a family of systems writes it. Only SQL has more than one style.
    #[must_use]
    pub fn with_style(self, style: LiteralStyle) -> Self {
        match self {
            Self::Sql(_) => Self::Sql(style),
            other => other,
        }
    }

    /// The literal, quoted identifier or comment that begins at `at`, if any.
    pub(crate) fn passage(self, text: &str, at: usize) -> Result<Option<Passage>, Defect> {
        // Every byte is asked for, also those within a character.
        if self == Self::Cql && text.as_bytes()[at..].starts_with(b"//") {
            let end = text[at..].find('\n').map_or(text.len(), |line| at + line);
            return Ok(Some(Passage::Comment { end }));
        }
        let style = match self {
            Self::Sql(style) => style,
            _ => LiteralStyle::Doubled,
        };
        style.passage(text, at)
    }
}

/// How the value of a `:name` is sent with its statement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Values {
    /// As a bound parameter: the driver writes a placeholder. A `:name` within quotes stays text.
    #[default]
    Bound,
    /// Substituted into the text, wherever the name occurs, as in pgbench's `simple`.
    Pasted,
    /// Not at all: a statement with a value is refused, except for one that no script changes (a parameter of the
    /// workload), which is written into the text as a literal.
    Refused,
}

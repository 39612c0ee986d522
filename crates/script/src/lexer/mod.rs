//! Takes the text of a script and the language of its statements; returns statements and meta commands,
//! and each statement's pieces and kind. Each language has its own files.

mod cut;
mod effect;
mod json;
mod json_syntax;
mod kind;
pub(crate) mod language;
mod passage;
pub(crate) mod pasted;
pub(crate) mod quoted_names;
mod scan;
pub(crate) mod split;
pub(crate) mod statement;
mod surroundings;

pub use effect::Effect;
pub use kind::StatementKind;
pub(crate) use kind::{KINDS, is_open_body};
pub use language::Lexer;
pub use passage::LiteralStyle;
pub(crate) use passage::Passage;
pub(crate) use scan::Part;

use crate::lexer::language::Values;
use crate::lexer::pasted::paste;
use crate::lexer::statement::Written;
use crate::place::Defect;
use assay_values::Value;
use std::ops::Range;

impl Lexer {
    /// The statements and meta commands of a script.
    pub(crate) fn parts(self, text: &str) -> Result<Vec<Part>, Defect> {
        match self {
            Self::Sql(_) | Self::Cql => scan::parts(text, self),
            Self::Json => json::parts(text),
        }
    }

    /// Cuts one statement at its values and identifiers.
    pub(crate) fn cut(
        self,
        text: &str,
        range: Range<usize>,
        values: Values,
    ) -> Result<Written<'_>, Defect> {
        match self {
            Self::Sql(_) | Self::Cql => cut::cut(text, range, self, values),
            Self::Json => json::cut(text, range),
        }
    }

    /// What a statement does, by its first words.
    #[must_use]
    pub fn kind(self, text: &str) -> StatementKind {
        match self {
            Self::Sql(_) => kind::of_sql(text, self),
            Self::Cql => kind::of_cql(text),
            Self::Json => StatementKind::Other,
        }
    }

    /// Whether a statement changes rows, by its first words: then `:rows_changed` is what the system answers to it.
    pub(crate) fn changes_rows(self, text: &str) -> bool {
        match self {
            Self::Sql(_) => kind::changes_rows(text, self),
            Self::Cql => false,
            Self::Json => json::changes_rows(text),
        }
    }

    /// What a statement may leave in the data.
    pub(crate) fn effect(self, text: &str) -> Effect {
        match self {
            Self::Sql(_) => effect::of_sql_text(text, self),
            Self::Cql => effect::of_cql_text(text),
            Self::Json => effect::of_json_text(text),
        }
    }

    /// Whether systems say how many rows a statement has changed.
    pub(crate) fn counts_changes(self) -> bool {
        self != Self::Cql
    }

    /// Appends an identifier to the text of a statement.
    pub(crate) fn identifier(self, name: &str, text: &mut String) {
        match self {
            Self::Sql(_) | Self::Cql => text.push_str(name),
            Self::Json => json::string(name, text),
        }
    }

    /// Appends a value to the text of a statement as a literal of the language.
    pub(crate) fn literal(self, value: &Value, text: &mut String) {
        let style = match self {
            Self::Sql(style) => style,
            Self::Cql | Self::Json => LiteralStyle::Doubled,
        };
        match value {
            _ if self == Self::Json => {
                let mut bytes = Vec::new();
                value.write_json(&mut bytes);
                text.push_str(&String::from_utf8_lossy(&bytes));
            }
            Value::Text(written) => {
                text.push('\'');
                for letter in written.chars() {
                    match letter {
                        '\'' => text.push('\''),
                        '\\' if style == LiteralStyle::Backslash => text.push('\\'),
                        _ => {}
                    }
                    text.push(letter);
                }
                text.push('\'');
            }
            other => paste(other, text),
        }
    }

    /// Appends a value to the text of a statement.
    pub(crate) fn paste(self, value: &Value, text: &mut String) {
        match self {
            Self::Sql(_) | Self::Cql => paste(value, text),
            Self::Json => json::paste(value, text),
        }
    }
}

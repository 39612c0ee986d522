//! Takes the text of a script and the language of its statements; returns statements and meta commands,
//! and each statement's pieces and kind. Each language has its own files.

mod cut;
mod effect;
mod json;
mod kind;
pub(crate) mod language;
pub(crate) mod scan;
pub(crate) mod statement;

pub use effect::Effect;
pub(crate) use kind::KINDS;
pub use kind::StatementKind;
pub use language::{Lexer, TextStyle};
pub(crate) use scan::Part;

use crate::lexer::language::Values;
use crate::lexer::statement::Written;
use crate::place::Defect;
use assay_values::Value;
use std::fmt::Write as _;
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
        let escapes = matches!(self, Self::Sql(style) if style.backslash_escapes);
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
                        '\\' if escapes => text.push('\\'),
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

// Takes a value; appends it to a statement's text as pgbench does in its `simple` mode: without quotes,
// doubles with 15 digits.

/// What the C language calls `DBL_DIG`.
const DIGITS: i32 = 15;
/// The exponent of the smallest number written without an exponent, 0.0001.
const MOST_DECIMALS: usize = 18;

pub(crate) fn paste(value: &Value, text: &mut String) {
    match value {
        Value::Null => text.push_str("NULL"),
        Value::Bool(true) => text.push_str("true"),
        Value::Bool(false) => text.push_str("false"),
        Value::Int(number) => {
            write!(text, "{number}").expect("writing to memory is infallible");
        }
        Value::Double(number) => paste_double(*number, text),
        Value::Text(value) => text.push_str(value),
        other => {
            let mut bytes = std::mem::take(text).into_bytes();
            other.write_text(&mut bytes);
            *text = String::from_utf8(bytes).expect("the text form is UTF-8");
        }
    }
}

/// As `printf("%.15g")` writes it.
fn paste_double(number: f64, text: &mut String) {
    if !number.is_finite() {
        text.push_str(match (number.is_nan(), number > 0.0) {
            (true, _) => "nan",
            (false, true) => "inf",
            (false, false) => "-inf",
        });
        return;
    }
    let start = text.len();
    write!(text, "{number:.14e}").expect("writing to memory is infallible");
    let mark = text
        .rfind('e')
        .expect("the scientific form has an exponent");
    let exponent: i32 = text[mark + 1..].parse().expect("it is a whole number");
    match usize::try_from(DIGITS - 1 - exponent) {
        Ok(decimals) if decimals <= MOST_DECIMALS => {
            text.truncate(start);
            write!(text, "{number:.decimals$}").expect("writing to memory is infallible");
            drop_zeros(start, text);
        }
        _ => {
            text.truncate(mark);
            drop_zeros(start, text);
            let sign = if exponent < 0 { '-' } else { '+' };
            write!(text, "e{sign}{:02}", exponent.abs()).expect("writing to memory is infallible");
        }
    }
}

/// Drops the trailing zeros of the fraction of the number that begins at `start`.
fn drop_zeros(start: usize, text: &mut String) {
    let number = &text[start..];
    if number.contains('.') {
        let kept = number.trim_end_matches('0').trim_end_matches('.').len();
        text.truncate(start + kept);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_double_is_written_as_the_c_library_does() {
        for (number, expected) in [
            (0.0, "0"),
            (-0.0, "-0"),
            (0.1, "0.1"),
            (1.0 / 3.0, "0.333333333333333"),
            (-1234.5, "-1234.5"),
            (0.0001, "0.0001"),
            (0.00001, "1e-05"),
            (123_456_789_012_345.0, "123456789012345"),
            (1e15, "1e+15"),
            (999_999_999_999_999.9, "1e+15"),
            (1.25e300, "1.25e+300"),
            (f64::NEG_INFINITY, "-inf"),
        ] {
            let mut text = String::new();
            paste(&Value::Double(number), &mut text);
            assert_eq!(text, expected);
        }
    }
}

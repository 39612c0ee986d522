//! Takes the pieces of a statement and a module's `paramstyle`; returns the text for `cursor.execute`.

use assay_drivers::{ErrorClass, SystemError};
use assay_values::Piece;

/// How a module wants the places of values to be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParameterStyle {
    /// `?`
    QuestionMark,
    /// `:1`
    Numeric,
    /// `:p1`, with a mapping of the values
    Named,
    /// `%s`
    Format,
    /// `%(p1)s`, with a mapping of the values
    PyFormat,
}

impl ParameterStyle {
    /// # Errors
    /// If PEP 249 has no such word.
    pub fn parse(word: &str) -> Result<Self, SystemError> {
        Ok(match word {
            "qmark" => Self::QuestionMark,
            "numeric" => Self::Numeric,
            "named" => Self::Named,
            "format" => Self::Format,
            "pyformat" => Self::PyFormat,
            _ => {
                let message = format!(
                    "the module's paramstyle: expected qmark, numeric, named, format or pyformat, found {word:?}"
                );
                return Err(SystemError::new(ErrorClass::Other, "", message));
            }
        })
    }

    /// Whether the values are passed by name.
    pub fn is_by_name(self) -> bool {
        matches!(self, Self::Named | Self::PyFormat)
    }

    /// The text of a statement whose values are passed beside it. A module looks for `%` only in a statement
    /// with values: there every other `%` is doubled.
    pub fn spell(self, pieces: &[Piece]) -> String {
        let has_values = pieces.contains(&Piece::Value);
        let doubles = has_values && matches!(self, Self::Format | Self::PyFormat);
        let escaped: Vec<Piece>;
        let pieces = if doubles {
            escaped = pieces.iter().map(without_percent).collect();
            &escaped
        } else {
            pieces
        };
        Piece::join(pieces, |number, text| {
            let number = number + 1;
            match self {
                Self::QuestionMark => text.push('?'),
                Self::Numeric => *text = format!(":{number}"),
                Self::Named => *text = format!(":p{number}"),
                Self::Format => text.push_str("%s"),
                Self::PyFormat => *text = format!("%(p{number})s"),
            }
        })
    }

    /// The places of so many values, with commas between, in parentheses.
    pub fn places(self, columns: usize) -> String {
        let mut pieces = vec![Piece::Text("(".into())];
        for column in 0..columns {
            if column > 0 {
                pieces.push(Piece::Text(", ".into()));
            }
            pieces.push(Piece::Value);
        }
        pieces.push(Piece::Text(")".into()));
        self.spell(&pieces)
    }
}

fn without_percent(piece: &Piece) -> Piece {
    match piece {
        Piece::Text(text) => Piece::Text(text.replace('%', "%%").into()),
        Piece::Identifier(name) => Piece::Identifier(name.replace('%', "%%").into()),
        Piece::Value => Piece::Value,
    }
}

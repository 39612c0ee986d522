//! Takes nothing from outside; holds a statement cut at its values, so that each driver spells them as its
//! protocol does.

/// One piece of a statement. The values are counted from 0, in the order in which they stand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// Sent as it stands.
    Text(Box<str>),
    /// The place of a value.
    Value,
}

impl Piece {
    /// How many values the pieces have.
    #[must_use]
    pub fn count_values(pieces: &[Self]) -> usize {
        let is_value = |piece: &&Self| **piece == Self::Value;
        pieces.iter().filter(is_value).count()
    }

    /// The whole text; `spell` appends what stands in the place of a value, by its number.
    #[must_use]
    pub fn join(pieces: &[Self], mut spell: impl FnMut(usize, &mut String)) -> String {
        let mut text = String::new();
        let mut number = 0;
        for piece in pieces {
            match piece {
                Self::Text(part) => text.push_str(part),
                Self::Value => {
                    spell(number, &mut text);
                    number += 1;
                }
            }
        }
        text
    }
}

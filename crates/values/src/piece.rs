//! The pieces of a statement, split at its values and identifiers, so that each driver can write them as its
//! protocol requires.

/// One piece of a statement. Values are numbered from 0, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// Sent unchanged.
    Text(Box<str>),
    /// The position of a value.
    Value,
    /// The name of a table or column, chosen from those that the workload lists.
    Identifier(Box<str>),
}

impl Piece {
    /// How many values there are.
    pub fn count_values(pieces: &[Self]) -> usize {
        let is_value = |piece: &&Self| **piece == Self::Value;
        pieces.iter().filter(is_value).count()
    }

    /// The whole text; `spell` appends the placeholder of a value, given its number. A placeholder that ends
    /// in a letter or digit is separated from a following word: `$1` before `and` gets a space.
    pub fn join(pieces: &[Self], mut spell: impl FnMut(usize, &mut String)) -> String {
        let mut text = String::new();
        let (mut number, mut follows_value) = (0, false);
        for piece in pieces {
            match piece {
                Self::Text(part) | Self::Identifier(part) => {
                    if follows_value && joins_word(&text, part) {
                        text.push(' ');
                    }
                    text.push_str(part);
                    follows_value = false;
                }
                Self::Value => {
                    let mut placeholder = String::new();
                    spell(number, &mut placeholder);
                    if joins_word(&text, &placeholder) {
                        text.push(' ');
                    }
                    text.push_str(&placeholder);
                    number += 1;
                    follows_value = true;
                }
            }
        }
        text
    }
}

/// Whether the end of one text and the start of the next would be read as one word.
fn joins_word(before: &str, after: &str) -> bool {
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || b"_$".contains(byte) || *byte >= 0x80;
    before.as_bytes().last().is_some_and(is_word) && after.as_bytes().first().is_some_and(is_word)
}

#[cfg(test)]
mod tests {
    use super::Piece;

    /// `@` stands for a value, `#x` for the identifier `x`.
    fn joined(marked: &str, spell: fn(usize, &mut String)) -> String {
        let mut pieces = Vec::new();
        for (number, text) in marked.split('@').enumerate() {
            if number > 0 {
                pieces.push(Piece::Value);
            }
            match text.split_once("#x") {
                Some((before, behind)) => pieces.extend([
                    Piece::Text(before.into()),
                    Piece::Identifier("x".into()),
                    Piece::Text(behind.into()),
                ]),
                None => pieces.push(Piece::Text(text.into())),
            }
        }
        Piece::join(&pieces, spell)
    }

    #[test]
    fn values_are_numbered_in_order_and_separated_from_words() {
        let dollar = |number: usize, text: &mut String| *text = format!("${}", number + 1);
        for (marked, expected) in [
            ("SELECT 1", "SELECT 1"),
            (
                "UPDATE t_#x2 SET a=a+@ WHERE b=@",
                "UPDATE t_x2 SET a=a+$1 WHERE b=$2",
            ),
            ("SELECT @::int4-@", "SELECT $1::int4-$2"),
            ("SELECT j ? 'a', @||'?'", "SELECT j ? 'a', $1||'?'"),
            ("SELECT@and 1 LIMIT@", "SELECT $1 and 1 LIMIT $2"),
            ("@@", "$1 $2"),
        ] {
            assert_eq!(joined(marked, dollar), expected);
        }
        let mark = |_: usize, text: &mut String| text.push('?');
        assert_eq!(joined("SELECT@and@@", mark), "SELECT?and??");
    }
}

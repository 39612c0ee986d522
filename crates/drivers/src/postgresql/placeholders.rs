//! Takes the pieces of a statement; gives its text with `$1`, `$2` … for its values, as this protocol spells
//! them.

use assay_values::Piece;

use crate::lexis::is_identifier;

/// The text, and how many values it has.
pub(super) fn spelled(pieces: &[Piece]) -> (String, usize) {
    // `$1` beside a letter or a digit would be read as part of a name or of a number.
    let needs_space = |byte: &u8| is_identifier(*byte) || *byte == b'$';
    let mut text = String::new();
    let mut count = 0;
    for piece in pieces {
        let follows_value = count > 0 && text.ends_with(|digit: char| digit.is_ascii_digit());
        match piece {
            Piece::Text(part) => {
                if follows_value && part.as_bytes().first().is_some_and(needs_space) {
                    text.push(' ');
                }
                text.push_str(part);
            }
            Piece::Value => {
                if text.as_bytes().last().is_some_and(needs_space) {
                    text.push(' ');
                }
                count += 1;
                text.push('$');
                text.push_str(&count.to_string());
            }
        }
    }
    (text, count)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn becomes(marked: &str, expected: &str, count: usize) {
        let mut pieces = Vec::new();
        for (number, text) in marked.split('@').enumerate() {
            if number > 0 {
                pieces.push(Piece::Value);
            }
            if !text.is_empty() {
                pieces.push(Piece::Text(text.into()));
            }
        }
        assert_eq!(spelled(&pieces), (expected.to_owned(), count));
    }

    #[test]
    fn values_are_numbered_in_order() {
        becomes("SELECT 1", "SELECT 1", 0);
        becomes(
            "UPDATE t SET a=a+@ WHERE b=@",
            "UPDATE t SET a=a+$1 WHERE b=$2",
            2,
        );
        becomes("SELECT @::int4-@", "SELECT $1::int4-$2", 2);
        becomes("SELECT j ? 'a', @||'?'", "SELECT j ? 'a', $1||'?'", 1);
    }

    #[test]
    fn a_value_never_grows_into_its_neighbours() {
        becomes("SELECT@and 1 LIMIT@", "SELECT $1 and 1 LIMIT $2", 2);
        becomes("@@", "$1 $2", 2);
        becomes("SELECT 1-@", "SELECT 1-$1", 1);
    }
}

//! Shared by the tests of this crate: converts a statement with `?` for its values into pieces.

use assay_values::Piece;

/// A `?` within quotes is text.
pub fn pieces(marked: &str) -> Vec<Piece> {
    let (mut pieces, mut text, mut quote) = (Vec::new(), String::new(), None);
    for letter in marked.chars() {
        match (letter, quote) {
            ('?', None) => {
                pieces.push(Piece::Text(std::mem::take(&mut text).into()));
                pieces.push(Piece::Value);
                continue;
            }
            ('\'' | '"', None) => quote = Some(letter),
            (letter, Some(open)) if letter == open => quote = None,
            _ => {}
        }
        text.push(letter);
    }
    pieces.push(Piece::Text(text.into()));
    pieces
}

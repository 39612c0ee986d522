//! Takes an offset in a text; returns the end of the variable name that begins there.

/// The offset after the name that begins at `at`: letters of any alphabet, digits and underscores,
/// the first not a digit (pgbench's rule). `None` if no name begins there.
pub(crate) fn name_end(text: &str, at: usize) -> Option<usize> {
    let rest = &text[at..];
    let first = rest.chars().next()?;
    if !(first.is_alphabetic() || first == '_') {
        return None;
    }
    let length = rest.find(|letter: char| !letter.is_alphanumeric() && letter != '_');
    Some(at + length.unwrap_or(rest.len()))
}

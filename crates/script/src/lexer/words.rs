//! Takes the text of a statement; returns its words outside literals and comments.

use super::language::Lexer;

/// One word, in lower case. A quoted name is one only where a parenthesis follows it.
pub(super) struct Word {
    pub text: String,
    /// A parenthesis follows it.
    pub is_called: bool,
    /// A statement of the text begins with it.
    pub is_first: bool,
}

/// The first `most` words; parentheses are skipped. `None` if the text cannot be parsed.
pub(super) fn words(text: &str, lexer: Lexer, most: usize) -> Option<Vec<Word>> {
    let bytes = text.as_bytes();
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80;
    let is_called = |end: usize| {
        let mut rest = bytes[end..].iter();
        rest.find(|byte| !byte.is_ascii_whitespace()) == Some(&b'(')
    };
    let (mut found, mut at, mut is_first) = (Vec::new(), 0, true);
    while at < bytes.len() && found.len() < most {
        let passage = lexer.passage(text, at).ok()?;
        let end = match passage {
            Some(passage) => passage.end(),
            None => {
                let length = bytes[at..].iter().position(|&byte| !is_letter(byte));
                length.map_or(bytes.len(), |length| at + length.max(1))
            }
        };
        let is_quoted = passage.is_some() && matches!(bytes[at], b'"' | b'`' | b'[');
        if (passage.is_none() && is_letter(bytes[at])) || (is_quoted && is_called(end)) {
            found.push(Word {
                text: text[at..end].to_ascii_lowercase(),
                is_called: is_called(end),
                is_first,
            });
            is_first = false;
        }
        is_first |= passage.is_none() && bytes[at] == b';';
        at = end;
    }
    Some(found)
}

//! Takes bytes; gives them as a literal of SQL.

use memchr::memchr2_iter;
use serde::{Deserialize, Serialize};

/// How a server wants quotes within literals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum LiteralStyle {
    /// A quote is written twice, a backslash is a backslash: standard SQL.
    #[default]
    Doubled,
    /// A backslash goes before quotes and backslashes.
    Backslash,
}

impl LiteralStyle {
    /// Appends `text` between quotes. Whoever makes rows sees to it that there are no NUL bytes in it.
    pub fn write(self, text: &[u8], out: &mut Vec<u8>) {
        let (second, mark) = match self {
            Self::Doubled => (b'\'', b'\''),
            Self::Backslash => (b'\\', b'\\'),
        };
        out.push(b'\'');
        let mut from = 0;
        // Most cells are short and have neither; the search below is made for long texts.
        let is_plain = text.len() < 64
            && !text
                .iter()
                .fold(false, |any, &byte| any | (byte == b'\'') | (byte == second));
        if is_plain {
            out.extend_from_slice(text);
            out.push(b'\'');
            return;
        }
        for at in memchr2_iter(b'\'', second, text) {
            out.extend_from_slice(&text[from..at]);
            out.push(mark);
            from = at;
        }
        out.extend_from_slice(&text[from..]);
        out.push(b'\'');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(style: LiteralStyle, text: &str) -> String {
        let mut out = Vec::new();
        style.write(text.as_bytes(), &mut out);
        String::from_utf8(out).expect("UTF-8 stays UTF-8")
    }

    #[test]
    fn quotes_and_backslashes_cannot_end_a_literal() {
        let text = r"'); drop table bibtab; -- \' \";
        assert_eq!(
            written(LiteralStyle::Doubled, text),
            r"'''); drop table bibtab; -- \'' \'"
        );
        assert_eq!(
            written(LiteralStyle::Backslash, text),
            r"'\'); drop table bibtab; -- \\\' \\'"
        );
    }
}

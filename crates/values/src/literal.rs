//! Takes bytes; returns them as an SQL literal, or as the field that CSV has for them (RFC 4180).

use memchr::{memchr, memchr2_iter, memmem};
use serde::{Deserialize, Serialize};

/// How a server expects quotes to be escaped in literals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum LiteralStyle {
    /// A quote is doubled, a backslash is an ordinary character: standard SQL.
    #[default]
    Doubled,
    /// A backslash precedes quotes and backslashes.
    Backslash,
}

impl LiteralStyle {
    /// Appends `text` between quotes. It must not contain NUL bytes.
    pub fn write(self, text: &[u8], out: &mut Vec<u8>) {
        let (second, mark) = match self {
            Self::Doubled => (b'\'', b'\''),
            Self::Backslash => (b'\\', b'\\'),
        };
        out.push(b'\'');
        let mut from = 0;
        // Most cells are short and have neither character; the search below is for long texts.
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

    /// Appends `text` for clients that drop the carriage return before a line feed: as `replace('…', mark,
    /// expression)`, where `carriage_return` is the expression.
    pub fn write_with_returns(self, text: &[u8], carriage_return: &str, out: &mut Vec<u8>) {
        let Some(first) = memchr(b'\r', text) else {
            return self.write(text, out);
        };
        let mark = mark_not_in(text);
        let mut marked = text[..first].to_vec();
        for &byte in &text[first..] {
            match byte {
                b'\r' => marked.extend_from_slice(mark.as_bytes()),
                _ => marked.push(byte),
            }
        }
        out.extend_from_slice(b"replace(");
        self.write(&marked, out);
        out.extend_from_slice(format!(", '{mark}', {carriage_return})").as_bytes());
    }
}

/// A short text that does not occur in `text`.
fn mark_not_in(text: &[u8]) -> String {
    (0_u64..)
        .map(|number| match number {
            0 => "<CR>".to_owned(),
            _ => format!("<CR{number}>"),
        })
        .find(|mark| memmem::find(text, mark.as_bytes()).is_none())
        .expect("a text holds finitely many numbers")
}

/// Appends the field: in quotes where its bytes need them, and where it is empty, as an empty field is NULL.
pub fn write_csv_text(text: &[u8], out: &mut Vec<u8>) {
    if !needs_quotes(text) {
        return out.extend_from_slice(text);
    }
    out.push(b'"');
    for &byte in text {
        if byte == b'"' {
            out.push(b'"');
        }
        out.push(byte);
    }
    out.push(b'"');
}

fn needs_quotes(text: &[u8]) -> bool {
    text.is_empty()
        || text
            .iter()
            .any(|byte| matches!(byte, b',' | b'"' | b'\r' | b'\n'))
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
        let doubled = r"'''); drop table bibtab; -- \'' \'";
        assert_eq!(written(LiteralStyle::Doubled, text), doubled);
        let backslash = r"'\'); drop table bibtab; -- \\\' \\'";
        assert_eq!(written(LiteralStyle::Backslash, text), backslash);
    }

    #[test]
    fn carriage_returns_can_be_written_by_an_expression() {
        let written = |text: &str| {
            let mut out = Vec::new();
            LiteralStyle::Doubled.write_with_returns(text.as_bytes(), "char(13)", &mut out);
            String::from_utf8(out).expect("UTF-8 stays UTF-8")
        };
        assert_eq!(written("it's\n"), "'it''s\n'");
        let replaced = "replace('it''s<CR>\n', '<CR>', char(13))";
        assert_eq!(written("it's\r\n"), replaced);
        let replaced = "replace('<CR><CR1><CR1>', '<CR1>', char(13))";
        assert_eq!(written("<CR>\r\r"), replaced);
    }

    #[test]
    fn a_text_is_quoted_only_where_it_must_be() {
        for (text, field) in [
            ("new order", "new order"),
            ("", "\"\""),
            ("a\"b,c", "\"a\"\"b,c\""),
            ("a\nb", "\"a\nb\""),
        ] {
            let mut out = Vec::new();
            write_csv_text(text.as_bytes(), &mut out);
            assert_eq!(String::from_utf8_lossy(&out), field);
        }
    }
}

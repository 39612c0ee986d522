//! Takes a text of one or several statements; returns the statements in order, and the number of
//! parameters in the text.

use crate::lexer;
use crate::lexer::{Literals, is_identifier};
use crate::null::meaning::Statement;
use crate::null::words::Words;

/// The statements of a text, without empty ones.
pub(crate) fn statements(text: &str, literals: Literals) -> impl Iterator<Item = Statement> {
    Parts { text, literals }
        .filter(move |part| Words::new(part, literals).next().is_some())
        .map(move |part| Statement::of(part, literals))
}

/// The number of parameters in a text: its question marks, or the highest number after a dollar.
pub(crate) fn parameters(text: &str, literals: Literals) -> u16 {
    let bytes = text.as_bytes();
    let (mut count, mut highest, mut at) = (0_u16, 0_u16, 0);
    while at < bytes.len() {
        let begins = at == 0 || !(is_identifier(bytes[at - 1]) || bytes[at - 1] == b'$');
        match bytes[at] {
            b'?' => count = count.saturating_add(1),
            b'$' if begins => {
                let digits = bytes[at + 1..]
                    .iter()
                    .take_while(|byte| byte.is_ascii_digit());
                let end = at + 1 + digits.count();
                highest = highest.max(text[at + 1..end].parse().unwrap_or(0));
            }
            _ => {}
        }
        at = lexer::end_of_token(bytes, at, literals);
    }
    match literals {
        Literals::Doubled => highest,
        Literals::Backslash => count,
    }
}

/// A text cut at its semicolons.
struct Parts<'a> {
    text: &'a str,
    literals: Literals,
}

impl<'a> Iterator for Parts<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        if self.text.is_empty() {
            return None;
        }
        let bytes = self.text.as_bytes();
        let mut at = 0;
        // Most texts have no semicolon and need not be scanned.
        if memchr::memchr(b';', bytes).is_none() {
            at = bytes.len();
        }
        while at < bytes.len() && bytes[at] != b';' {
            at = lexer::end_of_token(bytes, at, self.literals);
        }
        let (part, rest) = self.text.split_at(at.min(bytes.len()));
        self.text = rest.strip_prefix(';').unwrap_or(rest);
        Some(part)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::null::Meaning;

    fn meanings(text: &str, literals: Literals) -> Vec<Meaning> {
        statements(text, literals)
            .map(|statement| statement.meaning)
            .collect()
    }

    #[test]
    fn a_semicolon_in_a_literal_or_a_comment_ends_no_statement() {
        let text = "begin; select ';'; /* ; */ commit -- ;\n;;";
        let expected = [Meaning::Begin, Meaning::Read, Meaning::Commit];
        assert_eq!(meanings(text, Literals::Doubled), expected);
        assert_eq!(meanings(r"select '\';'; end", Literals::Backslash).len(), 2);
        assert_eq!(meanings(" ;  -- nothing", Literals::Doubled), []);
    }

    #[test]
    fn parameters_are_counted_as_the_protocol_spells_them() {
        let count = |text| parameters(text, Literals::Doubled);
        assert_eq!(count("select $2, '$9', a$3, $1, $$ $7 $$"), 2);
        assert_eq!(count("select $99999999999"), 0);
        let count = |text| parameters(text, Literals::Backslash);
        assert_eq!(count(r"select ?, '?', '\'?', ? # ?"), 2);
    }
}

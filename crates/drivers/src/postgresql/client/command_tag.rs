//! Takes the text of a prepared statement; returns how the tag of its answer begins, by which the answer to
//! another statement is recognised.
//!
//! A session executes what it has prepared by name. Behind a pooler that gives each transaction another session
//! of the server, the name may be that of another client's statement.

use crate::lexer::{Literals, end_of_token};
use crate::{Answer, ErrorClass, SystemError};

/// The first four letters of a tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CommandTag([u8; 4]);

/// First word of a statement → its tag. What begins with another word (`WITH`, `CALL`) is not checked.
const TAGS: [(&[u8], &[u8; 4]); 7] = [
    (b"select", b"SELE"),
    (b"values", b"SELE"),
    (b"table", b"SELE"),
    (b"insert", b"INSE"),
    (b"update", b"UPDA"),
    (b"delete", b"DELE"),
    (b"merge", b"MERG"),
];

impl CommandTag {
    /// Every tag is right.
    pub const ANY: Self = Self([0; 4]);

    pub fn of(text: &str) -> Self {
        let word = first_word(text.as_bytes());
        let found = TAGS
            .iter()
            .find(|(known, _)| known.eq_ignore_ascii_case(word));
        found.map_or(Self::ANY, |(_, tag)| Self(**tag))
    }

    /// Whether `tag`, the body of CommandComplete, answers the statement.
    #[inline]
    pub fn is_of(self, tag: &[u8]) -> bool {
        self == Self::ANY || tag.first_chunk() == Some(&self.0)
    }

    /// The error of an answer to another statement, which may have changed data.
    #[cold]
    pub fn refuse(self, tag: &[u8]) -> SystemError {
        let found = String::from_utf8_lossy(tag.strip_suffix(b"\0").unwrap_or(tag));
        let message = format!(
            "expected the answer to a statement that begins with {}…, the server executed another one and \
             answered \"{found}\"; hint: a pooler that gives each transaction another session of the server \
             mixes up prepared statements: take the simple protocol, or set its max_prepared_statements",
            String::from_utf8_lossy(&self.0),
        );
        SystemError::new(ErrorClass::WrongStatement, "", message)
    }
}

/// Notes in the answer that a transaction was committed or rolled back, where `tag` shows it.
#[inline]
pub(crate) fn note_end(tag: &[u8], answer: &mut Answer) {
    if let Some(b'C' | b'P' | b'R') = tag.first() {
        note_rare_end(tag, answer);
    }
}

/// A tag that begins as those of COMMIT, PREPARE TRANSACTION and ROLLBACK do.
#[cold]
fn note_rare_end(tag: &[u8], answer: &mut Answer) {
    match tag {
        b"COMMIT\0" | b"PREPARE TRANSACTION\0" => answer.has_committed = true,
        b"ROLLBACK\0" => answer.has_rolled_back = true,
        _ => {}
    }
}

/// Without comments, blanks and parentheses before it.
fn first_word(text: &[u8]) -> &[u8] {
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        let is_comment = matches!(text.get(at..at + 2), Some(b"--" | b"/*"));
        if is_comment {
            at = end_of_token(text, at, Literals::Doubled);
        } else if byte.is_ascii_whitespace() || byte == b'(' {
            at += 1;
        } else {
            break;
        }
    }
    let rest = text.get(at..).unwrap_or_default();
    let end = rest.iter().position(|byte| !byte.is_ascii_alphabetic());
    &rest[..end.unwrap_or(rest.len())]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_word_of_a_statement_says_how_its_answer_begins() {
        for (text, tag) in [
            ("SELECT 1", &b"SELECT 1\0"[..]),
            (" /* a */ -- b\n((select 1) union select 2)", b"SELECT 2\0"),
            ("VALUES (1)", b"SELECT 1\0"),
            ("insert into t values (1) returning a", b"INSERT 0 1\0"),
            ("Update t SET a = 1", b"UPDATE 3\0"),
            ("DELETE FROM t", b"DELETE 0\0"),
            ("WITH a AS (SELECT 1) UPDATE t SET a = 1", b"UPDATE 1\0"),
            ("CALL p()", b"CALL\0"),
            ("", b"\0"),
        ] {
            let expected = CommandTag::of(text);
            assert!(expected.is_of(tag), "{text}");
            assert_eq!(
                expected.is_of(b"REFRESH\0"),
                expected == CommandTag::ANY,
                "{text}"
            );
        }
        let update = CommandTag::of("UPDATE t SET a = 1");
        let error = update.refuse(b"SELECT 1\0");
        assert_eq!(error.class, ErrorClass::WrongStatement);
        assert!(
            error
                .message
                .contains("answered \"SELECT 1\"; hint: a pooler")
        );
    }
}

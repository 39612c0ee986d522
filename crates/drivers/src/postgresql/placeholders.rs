//! Takes a statement whose parameters are spelled `?`; gives it with `$1`, `$2` … as this protocol
//! spells them.
//!
//! A question mark is no parameter inside a literal, a quoted identifier, a comment or a dollar-quoted
//! text, nor where it is part of the operators `?|`, `?&` and `@?`. `?||` is a parameter and a
//! concatenation. The lone operator `?` of jsonb cannot be told from a parameter: its function
//! `jsonb_exists` does the same. Lexical rules: PostgreSQL manual, 4.1, with
//! `standard_conforming_strings` on, its default since 9.1.

use crate::lexis::{self, Literals, is_identifier};

/// Respells the parameters; gives the text and how many there are.
pub(super) fn respell(text: &str) -> (String, usize) {
    let bytes = text.as_bytes();
    let mut respelled = String::with_capacity(text.len() + 16);
    let mut count = 0;
    let (mut at, mut copied) = (0, 0);
    while at < bytes.len() {
        let next = match bytes[at] {
            b'?' if is_parameter(bytes, at) => {
                respelled.push_str(&text[copied..at]);
                copied = at + 1;
                count += 1;
                // `$1` beside a letter or a digit would be read as part of a name or of a number.
                let needs_space = |byte: &u8| is_identifier(*byte) || *byte == b'$';
                let before = if respelled.as_bytes().last().is_some_and(needs_space) {
                    " "
                } else {
                    ""
                };
                let behind = if bytes.get(copied).is_some_and(needs_space) {
                    " "
                } else {
                    ""
                };
                respelled.push_str(&format!("{before}${count}{behind}"));
                copied
            }
            _ => lexis::behind(bytes, at, Literals::Doubled),
        };
        at = next;
    }
    respelled.push_str(&text[copied..]);
    (respelled, count)
}

fn is_parameter(bytes: &[u8], at: usize) -> bool {
    let follows = |byte| bytes.get(at + 1) == Some(&byte);
    let is_any_key = follows(b'|') && bytes.get(at + 2) != Some(&b'|');
    let is_path_match = at > 0 && bytes[at - 1] == b'@';
    !is_any_key && !follows(b'&') && !is_path_match
}

#[cfg(test)]
mod tests {
    use super::respell;

    fn same(text: &str) {
        assert_eq!(respell(text), (text.to_owned(), 0));
    }

    fn becomes(text: &str, expected: &str, count: usize) {
        assert_eq!(respell(text), (expected.to_owned(), count));
    }

    #[test]
    fn parameters_are_numbered_in_order() {
        becomes(
            "UPDATE t SET a=a+? WHERE b=?",
            "UPDATE t SET a=a+$1 WHERE b=$2",
            2,
        );
        becomes("VALUES(?,?,?)", "VALUES($1,$2,$3)", 3);
        becomes("?", "$1", 1);
        becomes("SELECT ?::int4-?", "SELECT $1::int4-$2", 2);
        becomes("SELECT 'é', ?", "SELECT 'é', $1", 1);
    }

    #[test]
    fn a_parameter_never_grows_into_its_neighbours() {
        becomes("SELECT?and 1 LIMIT?", "SELECT $1 and 1 LIMIT $2", 2);
        becomes("??", "$1 $2", 2);
    }

    #[test]
    fn texts_comments_and_identifiers_are_left_alone() {
        same("SELECT 'a?', 'it''s ?', \"col?\", \"a\"\"?\"");
        same("SELECT 1 -- why?\n, 2");
        same("SELECT 1 -- why?");
        same("SELECT /* a ? /* b ? */ c ? */ 1");
        same("SELECT $$?$$, $tag$ ? $$ ? $tag$");
        same("SELECT 'open ?");
        same("SELECT $x$ open ?");
        same("SELECT /* open ?");
        becomes("SELECT 'a' -- ?\n, ?", "SELECT 'a' -- ?\n, $1", 1);
        becomes("SELECT a - ?, b / ?", "SELECT a - $1, b / $2", 2);
    }

    #[test]
    fn a_backslash_escapes_only_in_an_escape_literal() {
        becomes(r"SELECT E'\'?', ?", r"SELECT E'\'?', $1", 1);
        becomes(r"SELECT e'''\'?', ?", r"SELECT e'''\'?', $1", 1);
        becomes(r"SELECT '\', ?", r"SELECT '\', $1", 1);
        becomes(r"SELECT date'\', ?", r"SELECT date'\', $1", 1);
        same(r"SELECT E'\");
    }

    #[test]
    fn dollars_that_open_nothing_are_left_alone() {
        becomes("SELECT a$b$, ?, c$b$", "SELECT a$b$, $1, c$b$", 1);
        becomes("SELECT $1$, ?", "SELECT $1$, $1", 1);
        becomes("SELECT $ ?", "SELECT $ $1", 1);
        becomes("SELECT $é$ ? $é$, ?", "SELECT $é$ ? $é$, $1", 1);
    }

    #[test]
    fn operators_with_a_question_mark_are_no_parameters() {
        same("SELECT j ?| array['a'], j ?& array['b'], j @? '$.a'");
        becomes("SELECT ?||'x', a||?", "SELECT $1||'x', a||$2", 2);
    }
}

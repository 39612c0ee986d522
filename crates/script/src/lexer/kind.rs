//! Takes the text of a statement; returns its words outside literals and comments, and what it does by the first of them.

use crate::lexer::language::{Lexer, Passage, TextStyle};

/// What a statement does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatementKind {
    /// Begins a transaction, and does nothing else.
    Begin,
    /// Commits a transaction.
    Commit,
    /// Rolls the whole transaction back.
    Rollback,
    /// Reads or changes rows, or sets a savepoint: it neither begins nor ends a transaction.
    Rows,
    /// Anything else, and several statements in one text: it may commit.
    Other,
}

/// Each kind, its name, and the statements it covers.
pub(crate) const KINDS: [(StatementKind, &str, &str); 5] = [
    (
        StatementKind::Begin,
        "begin",
        "`\\begin`; `BEGIN`, `START TRANSACTION`",
    ),
    (
        StatementKind::Commit,
        "commit",
        "`\\commit`; `COMMIT`, `END`, `PREPARE TRANSACTION`",
    ),
    (StatementKind::Rollback, "rollback", "`ROLLBACK`, `ABORT`"),
    (
        StatementKind::Rows,
        "rows",
        "`SELECT`, `INSERT`, `UPDATE`, `DELETE`, `MERGE`, `REPLACE`, `VALUES`, `TABLE`, `WITH`; `SAVEPOINT`, \
         `RELEASE`, `ROLLBACK TO`",
    ),
    (
        StatementKind::Other,
        "other",
        "anything else (`CALL`, `DO`, `SET`, `CREATE` …), several statements in one text, and every JSON document",
    ),
];

/// Statements that read or change rows.
const ROWS: [&str; 9] =
    ["select", "insert", "update", "delete", "merge", "replace", "values", "table", "with"];

pub(super) fn of_sql(text: &str, lexer: Lexer) -> StatementKind {
    use StatementKind::{Begin, Commit, Other, Rollback, Rows};
    // Whether a backslash escapes a quote depends on the system: the end of such a literal is unknown.
    let is_ambiguous = text.contains("\\'") || text.contains("\\\"");
    let Some(words) = words_of_one(text, lexer).filter(|_| !is_ambiguous) else {
        return Other;
    };
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        // `BEGIN` of a block of statements.
        ["begin", "not" | "atomic", ..] => Other,
        ["begin", ..] | ["start", "transaction", ..] => Begin,
        ["savepoint" | "release", ..] => Rows,
        ["rollback", ..] if words.contains(&"to") => Rows,
        // `ROLLBACK PREPARED` ends a prepared transaction, not the current one.
        ["commit" | "rollback", "prepared", ..] => Other,
        ["commit" | "end", ..] | ["prepare", "transaction", ..] => Commit,
        ["rollback" | "abort", ..] => Rollback,
        [first, ..] if ROWS.contains(&first) => Rows,
        _ => Other,
    }
}

/// Whether a statement of SQL changes rows. One that begins with `WITH` does if such a word follows, but not in
/// `FOR UPDATE`, `FOR NO KEY UPDATE` and the function `replace`.
pub(super) fn changes_rows(text: &str, lexer: Lexer) -> bool {
    const CHANGES: [&str; 5] = ["insert", "update", "delete", "merge", "replace"];
    let is_change = |word: &str| CHANGES.contains(&word);
    let words = |most| texts(text, lexer, most).unwrap_or_default();
    match words(1).first() {
        Some(first) if first == "with" => {
            let all = words(usize::MAX);
            let word = |at: usize| all.get(at).map_or("", String::as_str);
            (1..all.len()).any(|at| match word(at) {
                "update" => !matches!(word(at - 1), "for" | "key"),
                "replace" => word(at + 1) == "into",
                other => is_change(other),
            })
        }
        first => first.is_some_and(|first| is_change(first)),
    }
}

/// A batch is one statement. The words of SQL's transactions are recognised to be refused: CQL has none.
pub(super) fn of_cql(text: &str) -> StatementKind {
    let words = words_of_one(text, Lexer::Cql).unwrap_or_default();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        ["select" | "insert" | "update" | "delete", ..] => StatementKind::Rows,
        ["begin"] | ["begin" | "start", "transaction", ..] => StatementKind::Begin,
        ["commit", ..] => StatementKind::Commit,
        ["rollback", ..] => StatementKind::Rollback,
        _ => StatementKind::Other,
    }
}

/// Whether a text begins a batch and does not end it.
pub(super) fn is_open_batch(text: &str) -> bool {
    let words = texts(text, Lexer::Cql, usize::MAX).unwrap_or_default();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        ["begin", "batch", ..] | ["begin", "unlogged" | "counter", "batch", ..] => {
            !matches!(words[..], [.., "apply", "batch"])
        }
        _ => false,
    }
}

/// Whether a text begins a function, procedure or trigger whose body is `BEGIN … END`, or such a body alone (`BEGIN NOT
/// ATOMIC`), and does not end it.
pub(crate) fn is_open_body(text: &str, style: TextStyle) -> bool {
    const PREFIXES: [&str; 5] = ["or", "replace", "temp", "temporary", "aggregate"];
    // Most statements are not one of these: their other words are not read.
    let begins = |most| texts(text, Lexer::Sql(style), most).unwrap_or_default();
    let first = begins(3);
    let is_body = first == ["begin", "not", "atomic"];
    if !is_body && first.first().is_none_or(|first| first != "create") {
        return false;
    }
    let words = begins(usize::MAX);
    let mut rest = (words[1..].iter().map(String::as_str))
        .skip_while(|word| PREFIXES.contains(word))
        .peekable();
    if !is_body && !matches!(rest.next(), Some("function" | "procedure" | "trigger")) {
        return false;
    }
    let mut depth = usize::from(is_body);
    while let Some(word) = rest.next() {
        match word {
            "begin" => depth += 1,
            "case" if depth > 0 => depth += 1,
            "end" => match rest.peek() {
                // They end what is not counted.
                Some(&("if" | "loop" | "while" | "repeat" | "for")) => {}
                after => {
                    let ends_case = after == Some(&"case");
                    depth = depth.saturating_sub(1);
                    if ends_case {
                        rest.next();
                    }
                }
            },
            _ => {}
        }
    }
    depth > 0
}

/// The first words, in lower case; `None` if the text has several statements, or cannot be parsed.
fn words_of_one(text: &str, lexer: Lexer) -> Option<Vec<String>> {
    const MOST: usize = 5;
    let bytes = text.as_bytes();
    let (mut at, mut has_ended) = (0, false);
    while at < bytes.len() {
        let passage = lexer.passage(text, at).ok()?;
        let is_comment = matches!(passage, Some(Passage::Comment { .. }));
        match bytes[at] {
            b';' if passage.is_none() => has_ended = true,
            byte if byte.is_ascii_whitespace() || is_comment => {}
            _ if has_ended => return None,
            _ => {}
        }
        at = passage.map_or(at + 1, Passage::end);
    }
    texts(text, lexer, MOST)
}

/// The text of each of the first `most` words.
fn texts(text: &str, lexer: Lexer, most: usize) -> Option<Vec<String>> {
    let found = words(text, lexer, most)?;
    Some(found.into_iter().map(|word| word.text).collect())
}

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

#[cfg(test)]
mod tests {
    use super::StatementKind::{Begin, Commit, Other, Rollback, Rows};
    use super::*;

    #[test]
    fn a_statement_that_only_locks_rows_changes_none() {
        for (text, expected) in [
            ("UPDATE t SET a = 1", true),
            ("SELECT a FROM t FOR UPDATE", false),
            ("WITH d AS (DELETE FROM t RETURNING 1) SELECT 2", true),
            ("WITH d AS (SELECT 1) UPDATE t SET a = 1", true),
            ("WITH d AS (SELECT 1) REPLACE INTO t SELECT 2", true),
            ("WITH d AS (SELECT 1) SELECT a FROM t FOR UPDATE", false),
            ("WITH d AS (SELECT 1) SELECT 2 FOR NO KEY UPDATE", false),
            (
                "WITH d AS (SELECT replace(a, 'b', 'c') FROM t) SELECT 2",
                false,
            ),
        ] {
            let lexer = Lexer::Sql(crate::TextStyle::default());
            assert_eq!(changes_rows(text, lexer), expected, "{text}");
        }
    }

    #[test]
    fn the_first_words_of_a_single_statement_determine_its_kind() {
        for (text, expected) in [
            ("Start Transaction READ ONLY", Begin),
            ("begin", Begin),
            ("BEGIN ISOLATION LEVEL SERIALIZABLE;", Begin),
            ("-- first\nBEGIN IMMEDIATE", Begin),
            ("BEGIN NOT ATOMIC SELECT 1", Other),
            ("START REPLICA", Other),
            ("ROLLBACK", Rollback),
            ("abort work", Rollback),
            ("rollback to savepoint a", Rows),
            ("COMMIT AND CHAIN", Commit),
            ("END", Commit),
            ("PREPARE TRANSACTION 'x'", Commit),
            ("COMMIT PREPARED 'x'", Other),
            ("SELECT 'begin; commit it'", Rows),
            ("(SELECT 1) UNION (SELECT 2)", Rows),
            ("/*+ hint */ SELECT 1", Rows),
            ("WITH a AS (SELECT 1) DELETE FROM t", Rows),
            ("DO $$ BEGIN PERFORM 1; END $$", Other),
            ("CALL p()", Other),
            ("SET a = 1", Other),
            ("BEGIN; UPDATE t SET a = 1; COMMIT", Other),
            ("SELECT 1; COMMIT", Other),
            ("SELECT 'open", Other),
            // In other systems the backslash is an ordinary character, and this is one literal.
            ("SELECT '\\'; COMMIT; SELECT '", Other),
            ("", Other),
        ] {
            assert_eq!(of_sql(text, Lexer::default()), expected, "{text}");
        }
    }

    #[test]
    fn a_batch_is_one_statement() {
        assert!(is_open_batch(
            "BEGIN UNLOGGED BATCH INSERT INTO t (a) VALUES (1)"
        ));
        assert!(!is_open_batch(
            "BEGIN BATCH // begun\n INSERT INTO t (a) VALUES (1); APPLY BATCH"
        ));
        assert!(!is_open_batch("SELECT 1"));
        assert_eq!(of_cql("SELECT a FROM t // all"), Rows);
        assert_eq!(of_cql("BEGIN BATCH DELETE FROM t; APPLY BATCH"), Other);
        assert_eq!(of_cql("BEGIN"), Begin);
        assert_eq!(of_cql("COMMIT"), Commit);
    }
}

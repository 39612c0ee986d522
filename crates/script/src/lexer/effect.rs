//! Takes the text of a statement; returns what may stay of it in the data: nothing, all or nothing, or a part. Where it
//! is not certain that a statement only reads (a function of the user's own), it may change data.

use crate::lexer::kind::{StatementKind, Word, of_sql, words};
use crate::lexer::language::Lexer;

/// What a statement may leave in the data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Effect {
    /// Nothing: it certainly changes no data.
    Nothing,
    /// All of its changes, or none of them where it fails.
    #[default]
    Atomic,
    /// All of its changes, or where it fails outside a transaction a part of them.
    Partial,
    /// It may commit a part of its changes itself, and then fail.
    CommitsItself,
}

/// First words of statements that execute others, which may commit.
const EXECUTES: &[&str] = &["call", "declare", "do", "exec", "execute"];

/// Words before a parenthesis that are no functions, or functions that change nothing, in lower case.
const KNOWN: &[&str] = &[
    "abs",
    "all",
    "and",
    "any",
    "array",
    "array_agg",
    "as",
    "avg",
    "between",
    "by",
    "case",
    "cast",
    "ceil",
    "ceiling",
    "char",
    "char_length",
    "coalesce",
    "concat",
    "convert",
    "count",
    "cube",
    "date",
    "date_part",
    "date_trunc",
    "datediff",
    "day",
    "decimal",
    "dense_rank",
    "distinct",
    "else",
    "except",
    "exists",
    "exp",
    "extract",
    "filter",
    "first_value",
    "floor",
    "from",
    "greatest",
    "group_concat",
    "having",
    "hour",
    "if",
    "ifnull",
    "in",
    "intersect",
    "is",
    "join",
    "lag",
    "last_value",
    "lateral",
    "lead",
    "least",
    "left",
    "length",
    "like",
    "limit",
    "ln",
    "log",
    "lower",
    "ltrim",
    "materialized",
    "max",
    "md5",
    "min",
    "minute",
    "mod",
    "month",
    "not",
    "now",
    "ntile",
    "nullif",
    "numeric",
    "offset",
    "on",
    "or",
    "over",
    "percentile_cont",
    "pg_sleep",
    "position",
    "power",
    "rand",
    "random",
    "rank",
    "replace",
    "right",
    "rollup",
    "round",
    "row",
    "row_number",
    "rtrim",
    "select",
    "sets",
    "sign",
    "sleep",
    "some",
    "sqrt",
    "stddev",
    "stddev_samp",
    "string_agg",
    "substr",
    "substring",
    "sum",
    "then",
    "to_char",
    "trim",
    "union",
    "upper",
    "using",
    "values",
    "var_samp",
    "varchar",
    "variance",
    "when",
    "where",
    "with",
    "within",
    "year",
];

/// Words that make a reading statement one that changes data or a server's settings, wherever they stand.
const CHANGES: &[&str] =
    &["insert", "delete", "merge", "into", "call", "analyze", "global", "persist", "persist_only"];

/// What a single statement of SQL, or several in one text, may leave.
pub(super) fn of_sql_text(text: &str, lexer: Lexer) -> Effect {
    let Some(words) = words(text, lexer, usize::MAX) else {
        return Effect::CommitsItself;
    };
    if only_reads(text, lexer, &words) {
        return Effect::Nothing;
    }
    // What the body of CREATE executes, it executes later.
    let is_created = words.first().is_some_and(|first| first.text == "create");
    if !is_created && (0..words.len()).any(|at| executes(&words[at..])) {
        return Effect::CommitsItself;
    }
    // `INSERT OR FAIL` stops at the row that fails, and keeps those before it.
    match words
        .windows(2)
        .any(|two| two[0].text == "or" && two[1].text == "fail")
    {
        true => Effect::Partial,
        false => Effect::Atomic,
    }
}

/// Whether a statement begins with these words that executes others.
fn executes(words: &[Word]) -> bool {
    let is_block =
        || matches!(words.get(1), Some(word) if ["not", "atomic"].contains(&&*word.text));
    words[0].is_first
        && (EXECUTES.contains(&&*words[0].text) || (words[0].text == "begin" && is_block()))
}

fn only_reads(text: &str, lexer: Lexer, words: &[Word]) -> bool {
    const FIRST: [&str; 10] =
        ["select", "values", "table", "with", "show", "explain", "describe", "desc", "set", "use"];
    let Some(first) = words.first().filter(|one| FIRST.contains(&&*one.text)) else {
        return false;
    };
    // Several statements in one text are of another kind.
    let is_query = ["select", "values", "table", "with"].contains(&&*first.text);
    if is_query && of_sql(text, lexer) != StatementKind::Rows {
        return false;
    }
    let changes = |(place, word): (usize, &Word)| {
        let before = place.checked_sub(1).map_or("", |place| &*words[place].text);
        CHANGES.contains(&&*word.text)
            || (word.text == "update" && !matches!(before, "for" | "key"))
            || (word.is_called && !KNOWN.contains(&&*word.text))
    };
    (is_query || !text.contains(';')) && !words.iter().enumerate().any(changes)
}

/// What a statement of CQL may leave: the answer says what is unknown.
pub(super) fn of_cql_text(text: &str) -> Effect {
    let words = words(text, Lexer::Cql, 1).unwrap_or_default();
    match words.first() {
        Some(first) if ["select", "use"].contains(&&*first.text) => Effect::Nothing,
        _ => Effect::Atomic,
    }
}

/// What a command on documents may leave: the answer says what is unknown.
pub(super) fn of_json_text(text: &str) -> Effect {
    match text.split('"').nth(1) {
        Some("find" | "count" | "distinct") => Effect::Nothing,
        Some("aggregate") if !text.contains("\"$out\"") && !text.contains("\"$merge\"") => {
            Effect::Nothing
        }
        _ => Effect::Atomic,
    }
}

#[cfg(test)]
mod tests {
    use super::Effect::{Atomic, CommitsItself, Nothing, Partial};
    use super::*;

    #[test]
    fn a_statement_that_may_leave_something_is_not_taken_for_a_reading_one() {
        for (text, expected) in [
            (
                "SELECT a, count(*) FROM t WHERE a IN (1, 2) AND b = 'f(x); insert'",
                Nothing,
            ),
            ("SELECT a FROM t FOR NO KEY UPDATE", Nothing),
            ("WITH d AS (SELECT 1) SELECT max(a) FROM t", Nothing),
            ("SHOW TABLES", Nothing),
            ("SET TRANSACTION ISOLATION LEVEL SERIALIZABLE", Nothing),
            ("EXPLAIN SELECT 1", Nothing),
            ("SELECT transfer(1, 2)", Atomic),
            ("SELECT \"transfer\" (1, 2)", Atomic),
            ("SELECT a INTO u FROM t", Atomic),
            ("WITH d AS (DELETE FROM t RETURNING 1) SELECT 2", Atomic),
            ("SELECT 1; DELETE FROM t", Atomic),
            ("EXPLAIN ANALYZE DELETE FROM t", Atomic),
            ("SET GLOBAL a = 1", Atomic),
            ("UPDATE t SET a = 1", Atomic),
            ("INSERT OR FAIL INTO t VALUES (1), (2)", Partial),
            ("CALL p()", CommitsItself),
            ("DO $$ BEGIN COMMIT; END $$", CommitsItself),
            ("EXECUTE IMMEDIATE 'CALL p()'", CommitsItself),
            (
                "BEGIN NOT ATOMIC INSERT INTO t VALUES (1); END",
                CommitsItself,
            ),
            ("INSERT INTO t VALUES (1); CALL p()", CommitsItself),
            ("INSERT INTO call VALUES ('; call p()')", Atomic),
            ("CREATE PROCEDURE q() BEGIN SELECT 1; CALL p(); END", Atomic),
            ("SELECT 'open", CommitsItself),
            ("", Atomic),
        ] {
            assert_eq!(of_sql_text(text, Lexer::default()), expected, "{text}");
        }
        for (text, expected) in [
            (r#"{"find": "t", "filter": {}}"#, Nothing),
            (
                r#"{"aggregate": "t", "pipeline": [{"$group": {"_id": 1}}]}"#,
                Nothing,
            ),
            (
                r#"{"aggregate": "t", "pipeline": [{"$merge": "u"}]}"#,
                Atomic,
            ),
            (r#"{"insert": "t", "documents": []}"#, Atomic),
        ] {
            assert_eq!(of_json_text(text), expected, "{text}");
        }
    }
}

//! Takes the text of a statement; returns whether it certainly changes no data, so that nothing of it stays where it
//! was answered outside a transaction. Where that is not certain (a function of the user's own), it may change data.

use super::kind::{StatementKind, of_sql};
use super::language::Lexer;

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
const CHANGES: &[&str] = &[
    "insert",
    "delete",
    "merge",
    "into",
    "call",
    "analyze",
    "global",
    "persist",
    "persist_only",
];

/// One word outside literals and comments, in lower case.
struct Word {
    text: String,
    /// A parenthesis follows it.
    is_called: bool,
}

/// Whether a single statement of SQL certainly changes no data.
pub(super) fn of_sql_text(text: &str, lexer: Lexer) -> bool {
    const FIRST: [&str; 10] = [
        "select", "values", "table", "with", "show", "explain", "describe", "desc", "set", "use",
    ];
    let Some(words) = words(text, lexer) else {
        return false;
    };
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

/// Whether a command certainly changes no document.
pub(super) fn of_json_text(text: &str) -> bool {
    match text.split('"').nth(1) {
        Some("find" | "count" | "distinct") => true,
        Some("aggregate") => !text.contains("\"$out\"") && !text.contains("\"$merge\""),
        _ => false,
    }
}

/// `None` if the text cannot be read, or calls a function whose name is in quotes.
fn words(text: &str, lexer: Lexer) -> Option<Vec<Word>> {
    let bytes = text.as_bytes();
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80;
    let is_called = |end: usize| {
        let mut rest = bytes[end..].iter();
        rest.find(|byte| !byte.is_ascii_whitespace()) == Some(&b'(')
    };
    let (mut found, mut at) = (Vec::new(), 0);
    while at < bytes.len() {
        if let Some(passage) = lexer.passage(text, at).ok()? {
            let is_quoted = matches!(bytes[at], b'"' | b'`' | b'[');
            at = passage.end();
            if is_quoted && is_called(at) {
                return None;
            }
        } else if is_letter(bytes[at]) {
            let length = bytes[at..].iter().position(|&byte| !is_letter(byte));
            let end = length.map_or(bytes.len(), |length| at + length);
            found.push(Word {
                text: text[at..end].to_ascii_lowercase(),
                is_called: is_called(end),
            });
            at = end;
        } else {
            at += 1;
        }
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_that_may_change_data_is_no_reading_one() {
        for (text, expected) in [
            (
                "SELECT a, count(*) FROM t WHERE a IN (1, 2) AND b = 'f(x); insert'",
                true,
            ),
            ("SELECT a FROM t FOR NO KEY UPDATE", true),
            ("WITH d AS (SELECT 1) SELECT max(a) FROM t", true),
            ("SHOW TABLES", true),
            ("SET TRANSACTION ISOLATION LEVEL SERIALIZABLE", true),
            ("EXPLAIN SELECT 1", true),
            ("SELECT transfer(1, 2)", false),
            ("SELECT \"transfer\" (1, 2)", false),
            ("SELECT a INTO u FROM t", false),
            ("WITH d AS (DELETE FROM t RETURNING 1) SELECT 2", false),
            ("SELECT 1; DELETE FROM t", false),
            ("EXPLAIN ANALYZE DELETE FROM t", false),
            ("SET GLOBAL a = 1", false),
            ("UPDATE t SET a = 1", false),
            ("CALL p()", false),
            ("", false),
        ] {
            assert_eq!(of_sql_text(text, Lexer::default()), expected, "{text}");
        }
        for (text, expected) in [
            (r#"{"find": "t", "filter": {}}"#, true),
            (
                r#"{"aggregate": "t", "pipeline": [{"$group": {"_id": 1}}]}"#,
                true,
            ),
            (
                r#"{"aggregate": "t", "pipeline": [{"$merge": "u"}]}"#,
                false,
            ),
            (r#"{"insert": "t", "documents": []}"#, false),
        ] {
            assert_eq!(of_json_text(text), expected, "{text}");
        }
    }
}

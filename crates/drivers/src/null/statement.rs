//! Takes the text of a statement; returns its kind and the names of its columns, as far as its keywords show them; of a
//! text of several statements all in order, and the number of parameters.

use crate::lexer::{Literals, Words, first_words, is_identifier, is_word, plain};
use crate::{TransactionStatus, lexer};

/// A statement as the null systems parse it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    pub(crate) meaning: Meaning,
    /// Names of the columns it returns; empty where it returns no rows.
    pub(crate) columns: Box<[Box<str>]>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Meaning {
    /// `SELECT count(*) FROM table`.
    Count(String),
    Read,
    /// Reads system tables, of which there are none.
    Catalogue,
    Create(String),
    Drop(String),
    /// `DELETE FROM table` without a condition, or `TRUNCATE TABLE table`.
    Empty(String),
    /// Rows follow: `COPY table FROM STDIN`, `LOAD DATA LOCAL INFILE file INTO TABLE table`.
    Load {
        table: String,
        file: String,
        is_binary: bool,
    },
    /// Any other DDL statement, or SET.
    Schema(&'static str),
    /// Adds this many rows.
    Insert {
        table: String,
        rows: u64,
    },
    /// Reports one row as changed; the null system stores no rows.
    Change(Change),
    Begin,
    Commit,
    Rollback,
    Other,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    Update,
    Delete,
}

impl Meaning {
    /// Whether it ends a transaction, whole or not.
    pub(crate) fn ends_transaction(&self) -> bool {
        matches!(self, Self::Commit | Self::Rollback)
    }

    /// State of the session's transaction after the statement.
    pub(crate) fn after(&self, before: TransactionStatus) -> TransactionStatus {
        match self {
            Self::Begin => TransactionStatus::Open,
            Self::Commit | Self::Rollback => TransactionStatus::None,
            _ => before,
        }
    }

    pub(crate) fn with(self, columns: Vec<Box<str>>) -> Statement {
        Statement {
            meaning: self,
            columns: columns.into(),
        }
    }

    pub(crate) fn bare(self) -> Statement {
        self.with(Vec::new())
    }
}

impl Statement {
    pub(crate) fn of(text: &str, literals: Literals) -> Self {
        let words = || Words::new(text, literals);
        let mut rest = words();
        let first = rest.next().unwrap_or_default();
        let is = |word: &str| first.eq_ignore_ascii_case(word);
        if is("select") {
            return selection(words(), rest);
        }
        if is("with") {
            let found = rest.at_top().any(|word| is_word(word, "select"));
            return if found {
                selection(words(), rest)
            } else {
                Meaning::Read.with(unnamed(1))
            };
        }
        if is("values") {
            return Meaning::Read.with(unnamed(width_of_group(rest)));
        }
        if is("insert") || is("replace") {
            return insertion(rest);
        }
        if is("copy") {
            return copying(rest);
        }
        for (word, change) in
            [("update", Change::Update), ("delete", Change::Delete), ("merge", Change::Update)]
        {
            if is(word) {
                return changing(change, words(), rest);
            }
        }
        let mut statement = by_first_words(&first_words(words()));
        if let Meaning::Load { file, .. } = &mut statement.meaning {
            *file = file_of(words());
        }
        statement
    }

    /// Whether it only changes the schema or loads rows.
    pub(super) fn is_schema(&self) -> bool {
        matches!(
            self.meaning,
            Meaning::Create(_) | Meaning::Drop(_) | Meaning::Schema(_) | Meaning::Load { .. }
        )
    }
}

fn by_first_words(words: &[String]) -> Statement {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let meaning = match words[..] {
        ["show" | "explain" | "table" | "pragma", ..] => return Meaning::Read.with(unnamed(1)),
        ["create", "table", "if", "not", "exists", table, ..] | ["create", "table", table, ..] => {
            Meaning::Create(table.into())
        }
        ["drop", "table", "if", "exists", table, ..] | ["drop", "table", table, ..] => {
            Meaning::Drop(table.into())
        }
        ["create", ..] => Meaning::Schema("CREATE"),
        ["drop", ..] => Meaning::Schema("DROP"),
        ["alter", ..] => Meaning::Schema("ALTER"),
        ["analyze", ..] => Meaning::Schema("ANALYZE"),
        ["vacuum", ..] => Meaning::Schema("VACUUM"),
        ["comment", ..] => Meaning::Schema("COMMENT"),
        ["set", ..] => Meaning::Schema("SET"),
        ["truncate", "table", table, ..] | ["truncate", table, ..] => Meaning::Empty(table.into()),
        ["begin", ..] | ["start", "transaction", ..] => Meaning::Begin,
        ["commit" | "end", ..] => Meaning::Commit,
        ["rollback", "to", ..] => Meaning::Other,
        ["rollback" | "abort", ..] => Meaning::Rollback,
        ["load", "data", "local", ..] => Meaning::Load {
            table: words
                .windows(2)
                .find(|pair| pair[0] == "table")
                .map_or_else(String::new, |pair| pair[1].into()),
            file: String::new(),
            is_binary: false,
        },
        _ => Meaning::Other,
    };
    meaning.bare()
}

fn changing(change: Change, whole: Words<'_>, mut rest: Words<'_>) -> Statement {
    if rest.at_top().any(|word| is_word(word, "returning")) {
        let columns = selection(whole, rest).columns;
        return Statement {
            meaning: Meaning::Change(change),
            columns,
        };
    }
    if change == Change::Delete {
        let words = first_words(whole);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        if let ["delete", "from", table] = words[..] {
            return Meaning::Empty(table.into()).bare();
        }
    }
    Meaning::Change(change).bare()
}

/// The table of `INSERT INTO table …`, `COPY table …` or `LOAD DATA … INTO TABLE table`.
pub(super) fn table_of_bulk(text: &str) -> Option<String> {
    let words = first_words(Words::new(text, Literals::Doubled));
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        ["insert", "into", table, ..] | ["copy", table, ..] => Some(table.to_owned()),
        ["load", "data", ..] => table_behind_into(Words::new(text, Literals::Backslash)),
        _ => None,
    }
}

/// The file that `LOAD DATA LOCAL INFILE 'file'` names.
fn file_of(mut words: Words<'_>) -> String {
    let literal = words
        .find(|word| is_word(word, "infile"))
        .and_then(|_| words.next())
        .unwrap_or_default();
    let inner = literal.trim_matches(|sign| sign == '\'' || sign == '"');
    inner.replace("\\\\", "\\")
}

/// Parses what follows COPY: the table, optional columns, the source or the target.
fn copying(mut rest: Words<'_>) -> Statement {
    let table = rest.next().map(plain).unwrap_or_default();
    let top: Vec<&str> = rest.clone().at_top().collect();
    let is_load =
        (top.windows(2)).any(|pair| is_word(pair[0], "from") && is_word(pair[1], "stdin"));
    if !is_load {
        return Meaning::Other.bare();
    }
    let meaning = Meaning::Load {
        table,
        file: String::new(),
        is_binary: rest.any(|word| is_word(word, "binary")),
    };
    meaning.bare()
}

/// Parses what follows INSERT: the table, and rows in parentheses.
fn insertion(mut rest: Words<'_>) -> Statement {
    let into = rest.next().unwrap_or_default();
    let table = if is_word(into, "into") {
        rest.next()
    } else {
        Some(into)
    };
    let table = table.map(plain).unwrap_or_default();
    let (mut rows, mut depth, mut is_behind_values) = (0, 0_u32, false);
    while let Some(word) = rest.next() {
        match word {
            "(" => {
                rows += u64::from(is_behind_values && depth == 0);
                depth += 1;
            }
            ")" => depth = depth.saturating_sub(1),
            _ if depth > 0 => {}
            _ if is_word(word, "values") => is_behind_values = true,
            _ if is_word(word, "returning") => {
                let columns = selection(rest.clone(), rest).columns;
                return Statement {
                    meaning: Meaning::Insert {
                        table,
                        rows: rows.max(1),
                    },
                    columns,
                };
            }
            _ => {}
        }
    }
    Meaning::Insert {
        table,
        rows: rows.max(1),
    }
    .bare()
}

fn table_behind_into(mut words: Words<'_>) -> Option<String> {
    words.find(|word| is_word(word, "table"))?;
    words.next().map(plain)
}

/// Prefixes of the names of system tables.
const CATALOGUES: [&str; 5] =
    ["pg_", "information_schema.", "mysql.", "performance_schema.", "sys."];

/// Parses a statement that begins with SELECT; `list` is what follows that word.
fn selection(whole: Words<'_>, mut list: Words<'_>) -> Statement {
    let mut columns = Vec::new();
    let (mut name, mut function, mut depth) = (None, None, 0_u32);
    let mut table = None;
    for word in list.by_ref() {
        match word {
            "(" => {
                if depth == 0 {
                    function = name;
                }
                depth += 1;
            }
            ")" => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    name = function;
                }
            }
            _ if depth > 0 => {}
            "," => columns.push(column_name(name.take())),
            ";" => break,
            _ if is_word(word, "from") => {
                table = Some(());
                break;
            }
            _ => name = Some(word),
        }
    }
    columns.push(column_name(name));
    let table = table.and_then(|()| list.next()).map(plain);
    let is_catalogue = |table: &str| CATALOGUES.iter().any(|prefix| table.starts_with(prefix));
    match table {
        Some(table) if is_catalogue(&table) => Meaning::Catalogue.with(columns),
        Some(table) if columns.len() == 1 && &*columns[0] == "count" => {
            let words = first_words(whole);
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            match words[..] {
                ["select", "count", "(", "*", ")", "from", _] => {
                    Meaning::Count(table).with(columns)
                }
                _ => Meaning::Read.with(columns),
            }
        }
        _ => Meaning::Read.with(columns),
    }
}

/// The column name of an expression whose last word is `name`.
fn column_name(name: Option<&str>) -> Box<str> {
    let last = name.and_then(|name| name.rsplit('.').next());
    match last {
        Some(word)
            if word.starts_with(|first: char| first.is_alphabetic() || "_\"`".contains(first)) =>
        {
            plain(word).into()
        }
        _ => "n".into(),
    }
}

/// The number of values in the first `(…)`.
fn width_of_group(words: Words<'_>) -> usize {
    let mut depth = 0_u32;
    let mut width = 1;
    for word in words {
        match word {
            "(" => depth += 1,
            ")" if depth == 1 => break,
            ")" => depth = depth.saturating_sub(1),
            "," if depth == 1 => width += 1,
            _ => {}
        }
    }
    width
}

fn unnamed(count: usize) -> Vec<Box<str>> {
    vec!["n".into(); count]
}

/// The statements of a text, without empty ones.
pub(crate) fn statements_in(text: &str, literals: Literals) -> impl Iterator<Item = Statement> {
    Parts { text, literals }
        .filter(move |part| Words::new(part, literals).next().is_some())
        .map(move |part| Statement::of(part, literals))
}

/// The number of parameters in a text: its question marks, or the highest number after a dollar.
pub(crate) fn parameters_in(text: &str, literals: Literals) -> u16 {
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

    fn of(text: &str) -> (Meaning, Vec<String>) {
        let statement = Statement::of(text, Literals::Doubled);
        let columns = statement.columns.iter().map(|name| (**name).to_owned());
        (statement.meaning, columns.collect())
    }

    #[test]
    fn columns_have_the_names_in_the_statement() {
        let many = "SELECT a, t.b, c AS d, max(e, f) g, \"H\", count(*), ',' FROM t WHERE x, y";
        for (text, expected) in [
            ("SELECT 1", "n"),
            ("select * from t", "n"),
            (many, "a b d g h count n"),
            ("WITH x AS (SELECT 1, 2) SELECT a, b FROM x", "a b"),
            ("VALUES (1, f(2, 3), 4), (5, 6, 7)", "n n n"),
            ("INSERT INTO t VALUES (1, 2) RETURNING id, at", "id at"),
            ("UPDATE t SET a = 1", ""),
            ("-- what, from\nSELECT /* a, */ b FROM t", "b"),
        ] {
            assert_eq!(of(text).1.join(" "), expected, "{text}");
        }
    }

    #[test]
    fn the_first_words_decide_the_meaning() {
        let load = |file: &str, is_binary| Meaning::Load {
            table: "t".into(),
            file: file.into(),
            is_binary,
        };
        let insert = |rows| Meaning::Insert {
            table: "t".into(),
            rows,
        };
        let delete = Meaning::Change(Change::Delete);
        #[rustfmt::skip]
        let cases = [
            ("select count(*) from \"T\";", Meaning::Count("t".into())),
            ("select count(*) from t where a", Meaning::Read),
            ("SELECT n FROM pg_catalog.pg_class c", Meaning::Catalogue),
            ("delete from t", Meaning::Empty("t".into())),
            ("delete from t where a", delete),
            ("BEGIN ISOLATION LEVEL SERIALIZABLE", Meaning::Begin),
            ("ROLLBACK TO SAVEPOINT a", Meaning::Other),
            ("END;", Meaning::Commit),
            ("", Meaning::Other),
            ("COPY t (a, b) FROM STDIN", load("", false)),
            ("copy t from stdin with (format binary)", load("", true)),
            ("INSERT INTO t SELECT a FROM u", insert(1)),
            ("insert into T (a, b) values (1, f(2)), (3, 4)", insert(2)),
        ];
        for (text, meaning) in cases {
            assert_eq!(of(text).0, meaning, "{text}");
        }
        let text = "LOAD DATA LOCAL INFILE '/X' INTO TABLE `t` (a, b)";
        let statement = Statement::of(text, Literals::Backslash);
        assert_eq!(statement.meaning, load("/X", false));
    }

    fn meanings(text: &str, literals: Literals) -> Vec<Meaning> {
        statements_in(text, literals)
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
        let count = |text| parameters_in(text, Literals::Doubled);
        assert_eq!(count("select $2, '$9', a$3, $1, $$ $7 $$"), 2);
        assert_eq!(count("select $99999999999"), 0);
        let count = |text| parameters_in(text, Literals::Backslash);
        assert_eq!(count(r"select ?, '?', '\'?', ? # ?"), 2);
    }
}

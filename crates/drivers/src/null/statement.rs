//! Takes the text of a statement; returns its kind and the names of its columns, as far as its
//! keywords show them.

use crate::lexer::Literals;
use crate::null::loading::{copying, file_of, insertion};
use crate::null::meaning::{Change, Meaning, Statement};
use crate::null::selection::{selection, unnamed, width_of_group};
use crate::null::words::{Words, first_words, is_word};

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
        for (word, change) in [
            ("update", Change::Update),
            ("delete", Change::Delete),
            ("merge", Change::Update),
        ] {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> (Meaning, Vec<String>) {
        let statement = Statement::of(text, Literals::Doubled);
        let columns = statement.columns.iter().map(|name| (**name).to_owned());
        (statement.meaning, columns.collect())
    }

    fn names(text: &str) -> Vec<String> {
        of(text).1
    }

    #[test]
    fn columns_have_the_names_in_the_statement() {
        assert_eq!(names("SELECT 1"), ["n"]);
        assert_eq!(names("select * from t"), ["n"]);
        assert_eq!(
            names("SELECT a, t.b, c AS d, max(e, f) g, \"H\", count(*), ',' FROM t WHERE x, y"),
            ["a", "b", "d", "g", "h", "count", "n"]
        );
        assert_eq!(
            names("WITH x AS (SELECT 1, 2) SELECT a, b FROM x"),
            ["a", "b"]
        );
        assert_eq!(names("VALUES (1, f(2, 3), 4), (5, 6, 7)"), ["n", "n", "n"]);
        assert_eq!(
            names("INSERT INTO t VALUES (1, 2) RETURNING id, at"),
            ["id", "at"]
        );
        assert_eq!(names("UPDATE t SET a = 1"), [""; 0]);
        assert_eq!(names("-- what, from\nSELECT /* a, */ b FROM t"), ["b"]);
    }

    #[test]
    fn the_first_words_decide_the_meaning() {
        assert_eq!(
            of("select count(*) from \"T\";").0,
            Meaning::Count("t".into())
        );
        assert_eq!(of("select count(*) from t where a").0, Meaning::Read);
        assert_eq!(
            of("SELECT n FROM pg_catalog.pg_class c").0,
            Meaning::Catalogue
        );
        assert_eq!(of("delete from t").0, Meaning::Empty("t".into()));
        assert_eq!(
            of("delete from t where a").0,
            Meaning::Change(Change::Delete)
        );
        assert_eq!(of("BEGIN ISOLATION LEVEL SERIALIZABLE").0, Meaning::Begin);
        assert_eq!(of("ROLLBACK TO SAVEPOINT a").0, Meaning::Other);
        assert_eq!(of("END;").0, Meaning::Commit);
        assert_eq!(of("").0, Meaning::Other);
        let load = |file: &str, is_binary| Meaning::Load {
            table: "t".into(),
            file: file.into(),
            is_binary,
        };
        assert_eq!(of("COPY t (a, b) FROM STDIN").0, load("", false));
        assert_eq!(
            of("copy t from stdin with (format binary)").0,
            load("", true)
        );
        let text = "LOAD DATA LOCAL INFILE '/X' INTO TABLE `t` (a, b)";
        let statement = Statement::of(text, Literals::Backslash);
        assert_eq!(statement.meaning, load("/X", false));
        let insert = |rows| Meaning::Insert {
            table: "t".into(),
            rows,
        };
        assert_eq!(of("INSERT INTO t SELECT a FROM u").0, insert(1));
        assert_eq!(
            of("insert into T (a, b) values (1, f(2)), (3, 4)").0,
            insert(2)
        );
    }
}

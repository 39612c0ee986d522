//! How the statements of a script are sent, and where a plain file is split.
use crate::support::{compiled, marked, source, try_compile_with};
use assay_script::{Lexer, Options, Statement, TextStyle, compile, split_statements};
use assay_values::Value;

/// The texts of the statements of a script that may use `:a` and `:b`.
fn statements(text: &str) -> Vec<String> {
    let given = [("a", Value::Int(1)), ("b", Value::Int(2))];
    let program = try_compile_with(text, &given).unwrap_or_else(|error| panic!("{error}\n{text}"));
    program.statements.iter().map(marked).collect()
}

#[test]
fn statements_end_with_a_semicolon_or_the_text() {
    #[rustfmt::skip]
    let cases = [
        ("SELECT 1", vec!["SELECT 1"]),
        ("SELECT 1;", vec!["SELECT 1"]),
        (" ;; SELECT 1 ; ;\n SELECT\n 2 ;", vec!["SELECT 1", "SELECT\n 2"]),
        ("SELECT 1; -- why; not\nSELECT 2", vec!["SELECT 1", "SELECT 2"]),
        ("/* a; b */ SELECT 1;", vec!["SELECT 1"]),
        ("\u{feff}SELECT 1;", vec!["SELECT 1"]),
        ("SELECT 1;\r\nSELECT 2;\r\n", vec!["SELECT 1", "SELECT 2"]),
        (
            "SELECT 'a;b', \"c;d\", `e;f`, $$g;h$$, $x$i;$$j$x$",
            vec!["SELECT 'a;b', \"c;d\", `e;f`, $$g;h$$, $x$i;$$j$x$"],
        ),
        ("SELECT 'it''s;'; SELECT E'it\\'s;'", vec!["SELECT 'it''s;'", "SELECT E'it\\'s;'"]),
        ("SELECT '\\'; SELECT 2", vec!["SELECT '\\'", "SELECT 2"]),
        ("SELECT date'\\'; SELECT 2", vec!["SELECT date'\\'", "SELECT 2"]),
        ("SELECT a$b$ ; SELECT c$b$", vec!["SELECT a$b$", "SELECT c$b$"]),
        ("SELECT 5 - -3", vec!["SELECT 5 - -3"]),
        ("SELECT 1\n\\set x 2\nSELECT 3", vec!["SELECT 1", "SELECT 3"]),
        ("SELECT 1 \\gset\nSELECT 2", vec!["SELECT 1", "SELECT 2"]),
        ("SELECT 'a\n\\set x 1\nb'", vec!["SELECT 'a\n\\set x 1\nb'"]),
    ];
    for (text, expected) in cases {
        assert_eq!(statements(text), expected, "{text}");
    }
}

#[test]
fn comments_are_not_sent_and_hints_are() {
    for (text, expected) in [
        ("SELECT a, -- the key :a\n b", "SELECT a,  \n b"),
        ("SELECT/* :a ? /* ; */ */1", "SELECT 1"),
        ("SELECT 1 -- the end", "SELECT 1"),
        ("SELECT 1 /* the end */ ;", "SELECT 1"),
        (
            "SELECT /*+ INDEX(t :a ?) */ 1",
            "SELECT /*+ INDEX(t :a ?) */ 1",
        ),
        ("/*! STRAIGHT */ SELECT 1", "/*! STRAIGHT */ SELECT 1"),
        ("SELECT '--', 'x/*'", "SELECT '--', 'x/*'"),
    ] {
        assert_eq!(statements(text), [expected], "{text}");
    }
}

#[test]
fn names_become_parameters_outside_literals_only() {
    #[rustfmt::skip]
    let cases = [
        ("SELECT :a", "SELECT ?", 1),
        ("UPDATE t SET x=x+:a WHERE y=:b", "UPDATE t SET x=x+? WHERE y=?", 2),
        ("SELECT :a::int, x::text", "SELECT ?::int, x::text", 1),
        ("SELECT (:a)", "SELECT (?)", 1),
        ("SELECT ':a', \":a\", `:a`, $$:a$$", "SELECT ':a', \":a\", `:a`, $$:a$$", 0),
        ("SET @x := 1", "SET @x := 1", 0),
        ("SELECT x[1:2], 12:30", "SELECT x[1:2], 12:30", 0),
        ("SELECT :'a'", "SELECT :'a'", 0),
        ("SELECT j ?| k, j ? k, j @? k", "SELECT j ?| k, j ? k, j @? k", 0),
        ("SELECT :a||:b, @:a", "SELECT ?||?, @?", 3),
        // After several colons there is no variable; the end of a slice may be a column.
        ("SELECT x:::a, x[1:a], x[:c], y[2:c]", "SELECT x:::a, x[1?], x[:c], y[2:c]", 1),
    ];
    for (text, expected, names) in cases {
        assert_eq!(statements(text), [expected], "{text}");
        let given = [("a", Value::Int(1)), ("b", Value::Int(2))];
        let program = try_compile_with(text, &given).unwrap();
        assert_eq!(program.statements[0].parameter_count, names, "{text}");
    }
}

#[test]
fn a_statement_knows_its_place() {
    let program = compiled("-- a\n SELECT 1;\n\n/* é */ SELECT\n 2;");
    let place = |sent: &Statement| (sent.index_in_script, sent.line, sent.column);
    let places: Vec<_> = program.statements.iter().map(place).collect();
    assert_eq!(places, [(0, 2, 2), (1, 4, 9)]);
    assert_eq!(program.scripts[0].statement_ids, 0..2);
}

fn split(text: &str, style: TextStyle) -> Vec<(String, u32, u32)> {
    let found = split_statements(&source("plain.sql", text), style);
    let found = found.unwrap_or_else(|error| panic!("{error}")).into_iter();
    found
        .map(|sent| (sent.text, sent.line, sent.column))
        .collect()
}

#[test]
fn a_plain_file_is_split_as_an_interactive_client_would() {
    let text = "-- head;\nCREATE TABLE t (a text); -- tail\n\
        INSERT INTO t VALUES ('x;''y'), -- kept;\n('\\');;\n/* between */ DROP TABLE t /* behind */";
    let expected = [
        ("CREATE TABLE t (a text)", 2, 1),
        ("INSERT INTO t VALUES ('x;''y'), -- kept;\n('\\')", 3, 1),
        ("DROP TABLE t", 5, 15),
    ];
    let expected = expected.map(|(text, line, column)| (text.to_owned(), line, column));
    assert_eq!(split(text, TextStyle::STANDARD), expected);
    assert_eq!(split("", TextStyle::STANDARD), []);
}

/// As psql and pgbench do: within `CREATE FUNCTION … BEGIN … END` a `;` belongs to the body.
#[test]
fn the_body_of_a_function_is_not_split() {
    let bodies = [
        "CREATE FUNCTION f(a int) RETURNS int BEGIN ATOMIC SELECT a + 1; SELECT a + 2; END",
        "create or replace procedure p() begin atomic select case 1 when 1 then 2 end; \
         select 'end;'; end",
        "CREATE PROCEDURE p() BEGIN IF 1 THEN SELECT 1; END IF; CASE 1 WHEN 1 THEN SELECT 2; \
         END CASE; BEGIN SELECT 3; END; END",
        "CREATE TEMP TRIGGER g AFTER INSERT ON t BEGIN UPDATE t SET a = 1; DELETE FROM u; END",
        "BEGIN NOT ATOMIC DECLARE n INT; IF 1 THEN BEGIN SELECT 1; END; END IF; SELECT 2; END",
    ];
    for body in bodies {
        let text = format!("{body};\nSELECT 9;");
        let found = split(&text, TextStyle::STANDARD);
        let texts: Vec<&str> = found.iter().map(|(text, ..)| text.as_str()).collect();
        assert_eq!(texts, [body, "SELECT 9"]);
        assert_eq!(statements(&text), [body, "SELECT 9"]);
    }
    let text = "BEGIN; SELECT 1; END; CREATE TABLE begin_t (a int); CREATE FUNCTION g() RETURNS int \
        LANGUAGE sql AS $$ BEGIN $$; SELECT 2";
    assert_eq!(split(text, TextStyle::STANDARD).len(), 6);
    assert_eq!(statements(text).len(), 6);
    let begins = split("BEGIN NOT DEFERRABLE; SELECT 2", TextStyle::STANDARD);
    assert_eq!(begins.len(), 2);
}

#[test]
fn backslashes_escape_only_in_their_own_style() {
    let text = "INSERT 'it\\'s;', `a;b`; # why;\nSELECT 5--3; -- x;\nSELECT '\\\\';";
    let found = split(text, TextStyle::BACKSLASH).into_iter();
    let found: Vec<String> = found.map(|(text, ..)| text).collect();
    let expected = ["INSERT 'it\\'s;', `a;b`", "SELECT 5--3", "SELECT '\\\\'"];
    assert_eq!(found, expected);
}

#[test]
fn comments_nest_and_brackets_quote_where_the_system_has_it_so() {
    let flat = TextStyle {
        nests_comments: false,
        ..TextStyle::STANDARD
    };
    let brackets = TextStyle {
        bracketed_names: true,
        ..TextStyle::STANDARD
    };
    let nested = "/* a /* b */ */ SELECT 1;";
    for (text, style, found) in [
        ("/* a /* b */ SELECT 1;", flat, "SELECT 1"),
        (nested, flat, "*/ SELECT 1"),
        (nested, TextStyle::STANDARD, "SELECT 1"),
        ("SELECT [a;b], [it's] ;", brackets, "SELECT [a;b], [it's]"),
        ("SELECT x[1;", TextStyle::STANDARD, "SELECT x[1"),
    ] {
        let texts: Vec<String> = split(text, style).into_iter().map(|one| one.0).collect();
        assert_eq!(texts, [found]);
    }
    assert!(Lexer::Cql.kind("/* a /* b */ COMMIT") == Lexer::Cql.kind("COMMIT"));
}

#[test]
fn a_script_has_the_literals_and_comments_of_its_system() {
    let text = "# it's :not\nSELECT 'it\\'s; :not' # why;\n;\\set x 1\nSELECT 5--3, :x;";
    let options = |style| Options {
        lexer: Lexer::default().with_style(style),
        ..Options::default()
    };
    let source = source("a.sql", text);
    let program = compile(&[source], &options(TextStyle::BACKSLASH)).unwrap();
    let texts: Vec<_> = program.statements.iter().map(marked).collect();
    assert_eq!(texts, ["SELECT 'it\\'s; :not'", "SELECT 5--3, ?"]);
    let error = compile(&[source], &options(TextStyle::STANDARD)).unwrap_err();
    assert_eq!((error.line, error.column), (2, 11), "{error}");
}

#[test]
fn without_transactions_none_begins() {
    for (lexer, text, place) in [
        (
            Lexer::default(),
            "SELECT 1;\n \\begin\nSELECT 1;\n\\commit\n",
            (2, 2),
        ),
        (Lexer::default(), "SELECT 1; ROLLBACK;", (1, 11)),
        (Lexer::Cql, "BEGIN; SELECT a FROM t; COMMIT;", (1, 1)),
        (Lexer::Json, "{\"find\": \"a\"}\n\\commit\n", (2, 1)),
    ] {
        let source = source("a", text);
        let options = |has_transactions| Options {
            lexer,
            has_transactions,
            ..Options::default()
        };
        let error = compile(&[source], &options(false)).unwrap_err();
        assert_eq!((error.line, error.column), place, "{error}");
        assert!(error.message.contains("has no transactions"), "{error}");
        assert!(compile(&[source], &options(true)).is_ok(), "{text}");
    }
}

#[test]
fn a_transaction_that_a_branch_leaves_out_is_not_refused() {
    let text = |condition: &str| {
        format!("SELECT 1;\n{condition}\n\\begin\nSELECT 1;\n\\commit\n\\endif\nSELECT 1;\n")
    };
    let options = Options {
        has_transactions: false,
        ..Options::default()
    };
    for (text, is_refused) in [
        (text("\\if :client_id = 1"), false),
        (
            text("\\if :client_id = 1\nSELECT 2;\n\\endif\n\\if 1 = 1"),
            false,
        ),
        (format!("{}COMMIT;", text("\\if :client_id = 1")), true),
    ] {
        let found = compile(&[source("a", &text)], &options);
        assert_eq!(found.is_err(), is_refused, "{text}");
    }
}

#[test]
fn places_on_a_very_long_line_are_counted_in_linear_time() {
    let text = "SELECT 'é';".repeat(100_000);
    let found = split(&text, TextStyle::STANDARD);
    assert_eq!((found.len(), found[99_999].2), (100_000, 99_999 * 11 + 1));
}

#[test]
fn an_unclosed_literal_in_a_plain_file_is_reported_with_its_place() {
    let source = source("plain.sql", "SELECT 1;\n SELECT 'x\\';");
    assert!(split_statements(&source, TextStyle::STANDARD).is_ok());
    let error = split_statements(&source, TextStyle::BACKSLASH).unwrap_err();
    let expected = "plain.sql:2:9: this literal is not closed: expected '";
    assert_eq!(error.to_string(), expected);
}

//! Scripts whose statements are JSON documents.
use crate::support::{lists, source};
use assay_script::{
    Ending, Lexer, Machine, Options, Program, Reply, ScriptError, Step, Values, compile,
};
use assay_values::{Piece, Value};
use std::sync::Arc;

fn try_documents(text: &str, values: Values) -> Result<Program, ScriptError> {
    let options = Options {
        lexer: Lexer::Json,
        values,
        identifiers: &lists(&[("table", &["a", "b \"x\""]), ("other", &["c", "d"])]),
        ..Options::default()
    };
    compile(&[source("documents.json", text)], &options)
}

const TEXT: &str = r#"
-- reads one
\set id 7
\set name concat('it''s "', 'so"')
\set table 1
{"find": :{table},
 "where": {"id": :id, "name"::name, "note": "not :id"}} \gset
{"insert": "log", "rows": [[:id, null, true]]}
\expect rows 1
"#;

#[test]
fn the_driver_writes_values_and_identifiers_of_a_document() {
    let program = try_documents(TEXT, Values::Bound).unwrap();
    // One statement for each choice of the identifier.
    assert_eq!(program.statements.len(), 3);
    let text = |text: &str| Piece::Text(text.into());
    let expected = [
        text("{\"find\": "),
        Piece::Identifier("b \"x\"".into()),
        text(",\n \"where\": {\"id\": "),
        Piece::Value,
        text(", \"name\":"),
        Piece::Value,
        text(", \"note\": \"not :id\"}}"),
    ];
    assert_eq!(program.statements[1].pieces, expected);
}

#[test]
fn an_identifier_may_be_a_key() {
    let text = r#"
\set table 0
\set other 0
\set name 'x'
{"update": :{table}, "u": {:{table}: :name, :{other} : {"a": :name}}, "in": [:{table}, :name]}
"#;
    let program = try_documents(text, Values::Bound).unwrap();
    assert_eq!(program.statements.len(), 4);
    assert_eq!(Piece::count_values(&program.statements[0].pieces), 3);
}

#[test]
fn in_the_protocol_simple_values_are_substituted_as_json() {
    let mut machine = Machine::new(Arc::new(try_documents(TEXT, Values::Pasted).unwrap()), 1, 0);
    machine.begin(0);
    let reply = Reply {
        rows: 1,
        first_row: Some(&[]),
        ..Reply::default()
    };
    let mut seen = Vec::new();
    loop {
        match machine.step() {
            Step::Execute {
                text, parameters, ..
            } => {
                assert_eq!(parameters, &[] as &[Value]);
                seen.push(text.to_owned());
                machine.answered(reply);
            }
            Step::End(ending) => {
                assert_eq!(ending, Ending::Done);
                break;
            }
            step => panic!("{step:?}"),
        }
    }
    let expected = [
        "{\"find\": \"b \\\"x\\\"\",\n \"where\": {\"id\": 7, \"name\":\"it's \\\"so\\\"\", \"note\": \"not :id\"}}",
        "{\"insert\": \"log\", \"rows\": [[7, null, true]]}",
    ];
    assert_eq!(seen, expected);
}

#[test]
fn an_invalid_document_is_refused_at_its_place() {
    #[rustfmt::skip]
    let cases = [
        ("SELECT 1;", (1, 1), "expected a JSON document, found `SELECT 1;`"),
        ("{\"a\": 1", (1, 1), "this document is not closed"),
        ("{\"a: 1}", (1, 2), "this string is not closed"),
        ("\\set x 1\n{\"a\": :x,\n \"é\": :x, b}", (3, 11), "invalid JSON: key must be a string"),
        (
            "{\"a\": {\"b\": 1, \"c\": 2,\n  \"b\": 3}}",
            (2, 3),
            "found twice the key \"b\" in one object",
        ),
        ("{\"a\": [NaN]}", (1, 8), "expected a JSON value, found NaN"),
        ("{\"a\": :}", (1, 7), "expected the name of a variable"),
        ("{\"a\": :{table}", (1, 1), "not closed"),
        ("{\"a\": :unknown}", (1, 7), "nothing sets the variable :unknown"),
    ];
    for (text, place, expected) in cases {
        let error = try_documents(text, Values::Bound).unwrap_err();
        assert_eq!((error.line, error.column), place, "{text}: {error}");
        assert!(error.message.contains(expected), "{text}: {error}");
    }
}

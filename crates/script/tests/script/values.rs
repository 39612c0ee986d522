//! How the value of a `:name` is sent with its statement: substituted into the text as in pgbench's `simple`, or
//! bound.
use crate::support::{compiled, fails, marked, one_row_reply, source, try_compile_as, warnings};
use assay_script::{Ending, Machine, Options, Reply, Step, Values, compile};
use assay_values::Value;
use std::sync::Arc;

/// The texts that a client sends; every answer is `reply`.
fn sent(text: &str, given: &[(&str, Value)], reply: Reply<'_>) -> (Vec<String>, Ending) {
    let program = Arc::new(try_compile_as(Values::Pasted, text, given).unwrap());
    let mut machine = Machine::new(program, 1, 7);
    machine.begin(0);
    let mut seen = Vec::new();
    loop {
        match machine.step() {
            Step::Execute { text, .. } => {
                seen.push(text.to_owned());
                machine.answered(reply);
            }
            Step::End(ending) => return (seen, ending),
            step => panic!("{step:?}"),
        }
    }
}

#[test]
fn a_value_is_substituted_wherever_its_name_occurs() {
    let given = [
        ("i", Value::Int(-3)),
        ("d", Value::Double(1.0 / 3.0)),
        ("s", Value::Text("it's".into())),
        ("yes", Value::Bool(true)),
        ("none", Value::Null),
    ];
    for (text, expected) in [
        (
            "SELECT :i, -:i, :d, :yes, :none, :s",
            "SELECT -3, --3, 0.333333333333333, true, NULL, it's",
        ),
        (
            "SELECT ':s', \"t:i\", $$:i$$, E'\\':i'",
            "SELECT 'it's', \"t-3\", $$-3$$, E'\\'-3'",
        ),
        ("SAVEPOINT sl_:client_id", "SAVEPOINT sl_7"),
        ("SET x = :i", "SET x = -3"),
        ("DO $$ BEGIN x := :i; END $$", "DO $$ BEGIN x := -3; END $$"),
        (
            "SELECT :i::int, a[1:i], a[:i:d]",
            "SELECT -3::int, a[1-3], a[-30.333333333333333]",
        ),
        // None of these names a variable with a value.
        (
            "SELECT 'HH24:MI:SS', 12:30, ':other', a[1:other], x:::i",
            "SELECT 'HH24:MI:SS', 12:30, ':other', a[1:other], x:::i",
        ),
        ("SELECT 1 -- :other :i\n", "SELECT 1"),
        ("SELECT /*+ Rows(a #:i) */ 1", "SELECT /*+ Rows(a #-3) */ 1"),
    ] {
        assert_eq!(sent(text, &given, one_row_reply()).0, [expected], "{text}");
    }
}

#[test]
fn stored_answers_are_substituted_unchanged() {
    let columns = ["a", "b", "c"].map(str::to_owned);
    let cell = |text: &str| Some(text.as_bytes().into());
    let row = [cell("007"), None, cell("1.50")];
    let reply = Reply {
        rows: 1,
        columns: &columns,
        first_row: Some(&row),
        ..Reply::default()
    };
    // This \gset may set any name: a name that is not set stays unchanged within quotes.
    let text = "\\set n NULL\nS \\gset\nT ':a', [:b], :c, :n, 'HH24:MI';";
    let expected = "T '007', [], 1.50, NULL, 'HH24:MI'";
    assert_eq!(sent(text, &[], reply).0[1], expected);
    let (_, ending) = sent("S \\gset\nT :d;", &[], reply);
    fails(ending, "script", ":d has no value");
}

#[test]
fn a_bound_value_within_quotes_is_a_warning_with_its_place() {
    let given = [("name", Value::Text("a".into()))];
    let text = "\\set x 1\nSELECT :x,\n  ':x', 'p:name', '12:30', ':other',\n $$:client_id$$;";
    let program = try_compile_as(Values::Bound, text, &given).unwrap();
    let expected = text[9..text.len() - 1].replacen(":x", "?", 1);
    assert_eq!(marked(&program.statements[0]), expected);
    let warnings = warnings(&program);
    let places = [("3:4", "x"), ("3:11", "name"), ("4:4", "client_id")];
    let expected = places.map(|(place, name)| {
        format!("test.sql:{place}: :{name} is within quotes: it is sent as written, no value is bound there")
    });
    assert_eq!(warnings, expected);
    let hint = program.warnings[0].hint.as_deref();
    assert!(hint.unwrap().contains("--protocol simple"));
    let pasted = try_compile_as(Values::Pasted, text, &given).unwrap();
    assert_eq!(pasted.warnings, []);
}

#[test]
fn a_parameter_where_no_value_can_be_bound_is_refused_at_its_place() {
    let error = try_compile_as(Values::Refused, "SELECT 1;\nSELECT :client_id;", &[]).unwrap_err();
    assert_eq!((error.line, error.column), (2, 8));
    let expected = "the protocol simple binds no values";
    assert!(error.message.contains(expected), "{error}");
    assert!(error.hint.unwrap().contains("prepared"));
    assert!(try_compile_as(Values::Refused, "SELECT ':client_id';", &[]).is_ok());
    let given = [("year", Value::Text("it's".into())), ("n", Value::Int(7))];
    let constants = "SELECT ':year', :year, :n;";
    let program = try_compile_as(Values::Refused, constants, &given).unwrap();
    let [statement] = &program.statements[..] else {
        panic!("it is one statement")
    };
    assert_eq!(statement.text, "SELECT ':year', 'it''s', 7");
    assert!(!statement.changes_values && statement.parameter_count == 0);
    let bound = try_compile_as(Values::Bound, constants, &given).unwrap();
    assert!(!bound.statements[0].changes_values);
    let changed = "\\set n 8\nSELECT :n;";
    let bound = try_compile_as(Values::Bound, changed, &given).unwrap();
    assert!(bound.statements[0].changes_values);
    assert!(try_compile_as(Values::Refused, changed, &given).is_err());
    let pipeline = "\\startpipeline\nA;\n\\endpipeline";
    let error = try_compile_as(Values::Pasted, pipeline, &[]).unwrap_err();
    assert!(error.message.contains("simple does not have"), "{error}");
}

#[test]
fn a_script_that_sends_nothing_is_a_warning() {
    let idle = compiled("\\set x 1 + :client_id\n\\sleep 1 ms");
    let warnings = warnings(&idle);
    let expected =
        "test.sql:1:1: the script sends no statement: its rate is that of the client alone";
    assert_eq!(warnings, [expected]);
    for works in ["SELECT 1;", "\\shell true", "\\if :client_id\nA;\n\\endif"] {
        assert!(compiled(works).warnings.is_empty(), "{works}");
    }
}

#[test]
fn a_step_that_a_system_does_not_need_may_send_nothing() {
    let warned = |texts: &[&str], is_sequence| {
        let sources = texts
            .iter()
            .zip(["a", "b"])
            .map(|(text, name)| source(name, text));
        let sources: Vec<_> = sources.collect();
        let options = Options {
            is_sequence,
            ..Options::default()
        };
        compile(&sources, &options).unwrap().warnings.len()
    };
    let (idle, works) = ("\\set x 0", "SELECT 1;");
    assert_eq!(warned(&[idle, works], true), 0);
    assert_eq!(warned(&[idle, works], false), 1);
    assert_eq!(warned(&[idle, idle], true), 2);
    assert_eq!(warned(&[idle], true), 1);
}

#[test]
fn a_transaction_left_open_by_one_branch_is_a_warning() {
    let some = "SELECT 1;\nBEGIN;\n\\if :client_id\nCOMMIT;\n\\endif\nSELECT 2;";
    let warnings = warnings(&compiled(some));
    let expected =
        "test.sql:2:1: the transaction that begins here is not ended on every branch of the script";
    assert_eq!(warnings, [expected]);
    // Twenty conditions make a million paths, and few states.
    let others = (0..20).map(|n| format!("\\if :client_id = {n}\nA;\n\\endif\n"));
    let many = format!("{}{some}", others.collect::<String>());
    assert_eq!(compiled(&many).warnings.len(), 1);
    let changed = "\\set x 1 + :client_id\n\\if :x = 1\nBEGIN;\n\\endif\n\\set x 2 + :client_id\n\\if :x = 1\nCOMMIT;\n\\endif";
    assert_eq!(compiled(changed).warnings.len(), 1);
    let around = |answer: &str| {
        let set = "\\set x 1 + :client_id\n\\if :x = 1\nBEGIN;\n\\endif\n";
        let ended = "\\if :x = 1\nCOMMIT;\n\\endif";
        let program = compiled(&format!("{set}{answer};\n\\gset\n{ended}"));
        program.warnings.len()
    };
    // What an answer may call by the variable's name changes it.
    assert_eq!(around("SELECT a AS X FROM t"), 1);
    assert_eq!(around("SELECT * FROM t"), 1);
    assert_eq!(around("SELECT ax FROM t WHERE b = :x"), 0);
    for text in [
        "\\if :client_id = 1\nBEGIN;\n\\endif\nA;\n\\if :client_id = 1\nCOMMIT;\n\\endif",
        "\\if :client_id = 1 AND 2 > 1\nBEGIN;\n\\endif\n\\if :client_id = 1 AND 2 > 1\nEND;\n\\endif",
        "\\begin\n\\if :client_id\nROLLBACK;\n\\else\nEND;\n\\endif",
        "\\begin serializable\n\\if :client_id\n\\abort\n\\endif\nCOMMIT;",
        "\\for i in 1..3\n\\begin\nA;\nCOMMIT;\n\\endfor",
        "BEGIN \\; A \\; COMMIT;",
        "A;",
    ] {
        assert_eq!(compiled(text).warnings, [], "{text}");
    }
}

//! How statements are sent: in pipelines, combined, chosen by identifiers, with isolation levels.
use crate::support::{
    Client, compiled, failed, fails, one_row, one_row_reply, refused, source, try_compile,
};
use assay_script::{Ending, Need, Options, Reply, Statement, StatementKind, compile};
use assay_values::{CellType, Value};

#[test]
fn a_pipeline_is_sent_at_its_end_and_at_every_sync() {
    let text = "A;\n\\startpipeline\n\\for i in 1..2\nB :i;\n\\endfor\n\\syncpipeline\n\\sleep 1 us\nC;\n\\endpipeline\nD;";
    let (seen, ending) = Client::of(text).run();
    #[rustfmt::skip]
    let expected = [
        "A []", "B ? [1]", "B ? [2]", "sync", "sleep 1000", "C []", "sync", "D []",
    ];
    assert_eq!(seen.as_slice(), expected.map(str::to_owned).as_slice());
    assert_eq!(ending, Ending::Done);
}

#[test]
fn the_first_error_of_a_pipeline_ends_the_transaction_with_its_place() {
    let text = "\\startpipeline\nA;\n B;\nC;\n\\endpipeline\nD;";
    let (deadlock, other) = (refused("deadlock", "no"), refused("other", "no"));
    let answers = [one_row_reply(), deadlock, other];
    let (seen, ending) = Client::of(text).run_with(|number| answers[number]);
    assert_eq!(seen.len(), 4, "{seen:?}");
    let expected = ("deadlock", "test.sql:3:2: no".to_owned());
    assert_eq!(failed(ending), expected);
}

#[test]
fn combined_statements_are_sent_together() {
    let text = "\\set x 7\nA :x \\; B;\nC \\;\\; D \\; ;\nE;";
    let expected = ["A ? [7]", "B []", "sync", "C []", "D []", "sync", "E []"];
    assert_eq!(Client::of(text).run().0, expected);
    // Within a pipeline they are sent with the pipeline.
    let text = "\\startpipeline\nA \\; B;\nC;\n\\endpipeline";
    assert_eq!(Client::of(text).run().0, ["A []", "B []", "C []", "sync"]);
}

#[test]
fn gset_applies_to_the_last_of_combined_statements_and_aset_to_all() {
    let answers = [one_row(&["a"], &[Some("1")]), one_row(&["b"], &[Some("2")])];
    let reply = |number: usize| answers.get(number).copied().unwrap_or(one_row_reply());
    let text = "\\set g_a 0\nA \\; B \\gset g_\nC :g_a, :g_b;";
    assert_eq!(Client::of(text).run_with(reply).0[3], "C ?, ? [0, 2]");
    let text = "A \\; B \\aset\nC :a, :b;";
    assert_eq!(Client::of(text).run_with(reply).0[3], "C ?, ? [1, 2]");
    let needs = compiled("A \\; B \\gset\nC :b;").statements;
    let needs: Vec<Need> = needs.iter().map(|statement| statement.need).collect();
    assert_eq!(needs, [Need::Count, Need::Rows, Need::Count]);
    let many = |_| Reply {
        rows: 2,
        ..one_row_reply()
    };
    let ending = Client::of("A \\; B \\gset\nC :b;").run_with(many).1;
    let expected = "test.sql:1:6: \\gset expects one row, found 2";
    fails(ending, "expectation", expected);
}

#[test]
fn aset_stores_the_last_row_and_changes_nothing_without_rows() {
    let several = Reply {
        rows: 2,
        first_row: one_row(&["a"], &[Some("1")]).first_row,
        ..one_row(&["a"], &[Some("2")])
    };
    let text = "\\set p_a 9\nA \\aset p_\nB :p_a;";
    assert_eq!(Client::of(text).run_with(|_| several).0[1], "B ? [2]");
    let none = |_| Reply::default();
    assert_eq!(Client::of(text).run_with(none).0[1], "B ? [9]");
}

#[test]
fn begin_and_commit_are_driver_operations_and_a_level_sends_the_systems_statements() {
    let text = "\\begin\nA;\n\\commit\n\\expect error serialization\n\\begin  SERIALIZABLE\n\\startpipeline\n\\begin read committed\n\\commit\n\\endpipeline\n\\abort";
    #[rustfmt::skip]
    let expected = [
        "\\begin []", "A []", "\\commit []", "SET LEVEL []", "BEGIN []", "BEGIN []", "\\commit []",
        "sync",
    ];
    let second = |number| match number {
        2 => refused("serialization", "no"),
        _ => one_row_reply(),
    };
    let (seen, ending) = Client::of(text).run_with(second);
    assert_eq!(seen.as_slice(), expected.map(str::to_owned).as_slice());
    assert_eq!(ending, Ending::Aborted);
    let kinds: Vec<_> = (compiled(text).statements.iter())
        .map(|statement| (statement.kind, statement.is_operation))
        .collect();
    use StatementKind::{Begin, Commit, Other};
    let expected = [
        (Begin, true),
        (Other, false),
        (Commit, true),
        (Other, false),
        (Begin, false),
        (Begin, false),
        (Commit, true),
    ];
    assert_eq!(kinds, expected);
    let program = compiled("A;\n \\begin\n\\abort");
    assert_eq!(program.statements[1].line, 2);
    assert_eq!(program.statements[1].column, 2);
}

#[test]
fn an_identifier_is_chosen_by_the_variable_of_its_name() {
    let text = "SELECT :{column} FROM :{table} WHERE :{column} = :table;";
    let program = |table, column| {
        let given = [("table", Value::Int(table)), ("column", Value::Int(column))];
        Client::with(text, &given).run()
    };
    assert_eq!(program(0, 0).0, ["SELECT x FROM a WHERE x = ? [0]"]);
    assert_eq!(program(2, 0).0, ["SELECT x FROM c WHERE x = ? [2]"]);
    assert_eq!(program(1, 1).0, ["SELECT y FROM b WHERE y = ? [1]"]);
    for wrong in [-1, 3] {
        let (class, message) = failed(program(wrong, 0).1);
        let expected =
            format!(":{{table}} has 3 choices, expected :table to be 0 to 2, found {wrong}");
        assert!(class == "script", "{message}");
        assert!(message.starts_with("test.sql:1:1: "), "{message}");
        assert!(message.contains(&expected), "{message}");
    }
}

#[test]
fn every_choice_is_a_separate_statement() {
    let text = "\\set table 1\nA;\nB :{table} \\gset\n\\startpipeline\nC :{table};\n\\endpipeline";
    let statements = compiled(text).statements;
    let shown = |sent: &Statement| (sent.text.clone(), sent.line, sent.need == Need::Rows);
    let expected = [
        ("A", 2, false),
        ("B a", 3, true),
        ("B b", 3, true),
        ("B c", 3, true),
        ("C a", 5, false),
        ("C b", 5, false),
        ("C c", 5, false),
    ];
    let expected = expected.map(|(text, line, needs)| (text.to_owned(), line, needs));
    assert_eq!(statements.iter().map(shown).collect::<Vec<_>>(), expected);
    let reply = |_| one_row(&["a"], &[Some("1")]);
    let seen = Client::of(text).run_with(reply).0;
    assert_eq!(seen, ["A []", "B b []", "C b []", "sync"]);
}

#[test]
fn a_transaction_can_be_repeated_with_the_same_values() {
    let text = "\\set n :n + 1\n\\set x random(1, 1000000000)\nA :n, :x;\n\\set n :n + 10\n\\set x random(1, 9)";
    let mut client = Client::with(text, &[("n", Value::Int(0))]);
    client.machine.keep_start(true);
    let first = client.run();
    assert_eq!(client.rerun(), first);
    assert_eq!(client.rerun(), first);
    let second = client.run();
    assert_ne!(second, first);
    assert!(second.0[0].starts_with("A ?, ? [12, "), "{second:?}");
    assert_eq!(client.rerun(), second);
}

#[test]
fn pauses_may_be_drawn_and_may_be_outside_the_latency() {
    let text = "\\keying 2\n\\think constant(3) ms\n\\think constant:4us\n\\sleep uniform:5ns..5ns\n\\keying exponential(0)";
    let expected = ["rest 2000000000", "rest 3000000", "rest 4000", "sleep 5", "rest 0"];
    assert_eq!(Client::of(text).run().0, expected);
}

#[test]
fn shell_commands_take_variables_and_may_set_one() {
    let text = "\\set x 40\n\\setshell y expr :x \\\n + 2\nA :y;\n\\shell test :y = 42\n\\shell test ::y = :y";
    let (seen, ending) = Client::of(text).run();
    assert_eq!(seen, ["A ? [42]"]);
    let expected = "test.sql:6:1: the command test :y = 42 failed";
    fails(ending, "script", expected);
    let (_, message) = failed(Client::of("\\setshell y echo five").run().1);
    assert!(message.contains("expected the command echo five to print an integer, found 'five'"));
}

#[test]
fn shell_commands_need_permission() {
    let source = source("s.sql", "A;\n\\shell rm x");
    let error = compile(&[source], &Options::default()).unwrap_err();
    assert_eq!((error.line, error.column), (2, 1));
    assert!(error.hint.unwrap().contains("--allow-shell"));
}

#[test]
fn a_given_variable_that_no_script_sets_is_a_constant() {
    let given = |text: &str| {
        let given = [("scale", Value::Int(3))];
        let program = crate::support::try_compile_with(text, &given);
        program.unwrap().explain()
    };
    let folded = given("\\set aid random(1, 100000 * :scale)\nA :aid;");
    assert!(folded.contains(" 300000 "), "{folded}");
    assert!(!folded.contains("Load"), "{folded}");
    for set in [
        "\\set scale 4",
        "\\for scale in 1..2\n\\endfor",
        "A \\gset",
        "A \\aset sc",
        "\\setshell scale date",
    ] {
        let kept = given(&format!("{set}\n\\set aid 100000 * :scale\nA :aid;"));
        assert!(kept.contains("Load"), "{kept}");
    }
    let message = try_compile("\\set x 1 / :client_id").map(|_| ());
    assert!(message.is_ok(), "{message:?}");
}

#[test]
fn gset_path_stores_a_value_of_a_document() {
    let document =
        r#"{"id": 7, "who": {"name": "it's", "at": [1.5, null, {"x": true}]}, "a b": 1}"#;
    let text = "A\n\\gset path $.id n_id\n\\gset path $.who.name name\n\\gset path $.who.at[0] half\n\\gset path $.who.at all\n\
                \\gset path $.who.at[2] deep\n\\gset path $.\"a b\" spaced\n\\gset path $.nothing[9] none\n\
                B :n_id, :name, :half, :all, :deep, :spaced, :none;";
    let (seen, ending) = Client::of(text).run_with(|_| one_row(&["d"], &[Some(document)]));
    assert_eq!(ending, Ending::Done);
    let values = "7, 'it's', 1.5, '[1.5,null,{\"x\":true}]', '{\"x\":true}', 1, NULL";
    assert_eq!(seen[1], format!("B ?, ?, ?, ?, ?, ?, ? [{values}]"));
    // `path` alone is a prefix, as in pgbench.
    let reply = |cell| move |_| one_row(&["d"], &[Some(cell)]);
    let (seen, _) = Client::of("A \\gset path\nB :pathd;").run_with(reply("5"));
    assert_eq!(seen[1], "B ? [5]");
    let (_, ending) = Client::of("A\n\\gset path $.a x").run_with(reply("no"));
    let expected = "test.sql:2:1: \\gset path expects a JSON document";
    fails(ending, "expectation", expected);
    for (wrong, place) in
        [("\\gset path $.1 x", 14), ("\\gset path $.a", 15), ("\\gset path $.a x y", 18)]
    {
        let error = try_compile(&format!("A\n{wrong}")).unwrap_err();
        assert_eq!((error.line, error.column), (2, place), "{wrong}: {error}");
    }
}

#[test]
fn gset_gives_a_variable_the_type_of_its_column() {
    use CellType::{Bytes, Date, Decimal, Plain};
    let types: &[CellType] = &[Date, Decimal, Bytes, Plain];
    let cells = ["2011-03-04", "1.50", "ab", "007"];
    let reply = |_| Reply {
        types,
        ..one_row(&["d", "n", "b", "t"], &cells.map(Some))
    };
    let text = "A \\gset\n\\set next date(:d + 1)\nB :next, :n, :b, :t;";
    let seen = Client::of(text).run_with(reply).0;
    let expected = "B ?, ?, ?, ? ['2011-03-05', '1.50', '\\x6162', '007']";
    assert_eq!(seen[1], expected);
}

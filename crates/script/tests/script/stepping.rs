//! A client stepping through its script: branches, loops, answers, endings, variables, streams.
//! Long because each command that moves a client on has its steps here.
use crate::support::{
    Client, compiled, failed, fails, one_row, one_row_reply, refused, source, try_compile_as,
};
use assay_script::{Ending, Machine, Need, NumberOutcome, Options, Reply, Step, Values, compile};
use assay_values::{CellType, Random, Value};
use std::sync::Arc;

#[test]
fn one_branch_of_a_condition_is_taken() {
    let text =
        "\\if :n = 1\nA;\n\\elif :n = 2\nB;\nC;\n\\elif :n IS NULL\nD;\n\\else\nE;\n\\endif\nF;";
    for (value, expected) in [
        (Value::Int(1), vec!["A []", "F []"]),
        (Value::Int(2), vec!["B []", "C []", "F []"]),
        (Value::Null, vec!["D []", "F []"]),
        (Value::Double(7.5), vec!["E []", "F []"]),
    ] {
        let (seen, ending) = Client::with(text, &[("n", value)]).run();
        assert_eq!(seen, expected);
        assert_eq!(ending, Ending::Done);
    }
    let (seen, _) = Client::of("\\if 0\nA;\n\\endif\nB;").run();
    assert_eq!(seen, ["B []"]);
}

#[test]
fn loops_repeat_for_both_bounds_and_nest() {
    let text = "\\for i in 1..:n\n\\for j in :i..2\nA :i, :j;\n\\endfor\n\\endfor\nB;";
    let (seen, _) = Client::with(text, &[("n", Value::Int(3))]).run();
    let expected = ["A ?, ? [1, 1]", "A ?, ? [1, 2]", "A ?, ? [2, 2]", "B []"];
    assert_eq!(seen, expected);
    let (seen, _) = Client::with(text, &[("n", Value::Int(0))]).run();
    assert_eq!(seen, ["B []"]);
    // The body cannot make the loop infinite.
    let (seen, _) = Client::of("\\for i in 1..3\n\\set i 0\nA :i;\n\\endfor").run();
    assert_eq!(seen.len(), 3);
    let top = "\\for i in 9223372036854775806..9223372036854775807\nA :i;\n\\endfor";
    assert_eq!(Client::of(top).run().0.len(), 2);
}

#[test]
fn a_loop_without_statements_is_ended() {
    let text = "\\for i in 1..9223372036854775807\n\\endfor\nA;";
    let expected = "test.sql:2:1: 10000000 repetitions without a statement";
    fails(Client::of(text).run().1, "script", expected);
}

#[test]
fn a_loop_without_statements_lets_the_engine_act() {
    // Much work in few repetitions counts too: each copies a megabyte several times.
    let grows =
        "\\set x text(1000000, 1000000)\n\\for i in 1..100\n\\set y concat(:x, 1)\n\\endfor\nA;";
    let turns = "\\for i in 1..1000000\n\\endfor\nA;";
    for text in [grows, turns] {
        let (seen, ending) = Client::of(text).run();
        assert_eq!(ending, Ending::Done);
        assert_eq!(seen.last().map(String::as_str), Some("A []"));
        let stops = seen.iter().filter(|seen| *seen == "sleep 0").count();
        assert!((2..100).contains(&stops), "{stops}");
    }
    let short = "\\for i in 1..1000\n\\endfor\nA;";
    assert_eq!(Client::of(short).run().0, ["A []"]);
}

#[test]
fn a_value_that_grows_has_a_largest_size() {
    for (first, grows, made_by) in [
        ("'0123456789abcdef'", "concat(:x, :x)", "concat"),
        ("list(1, 2)", "list(:x, :x)", "list"),
        (
            "document('a', 'b')",
            "document('a', :x, 'b', :x)",
            "document",
        ),
        ("'0123456789abcdef'", "format('%s%s', :x, :x)", "format"),
    ] {
        let text = format!("\\set x {first}\n\\for i in 1..100\n  \\set x {grows}\n\\endfor\nA;");
        let (class, message) = failed(Client::of(&text).run().1);
        assert_eq!(class, "script");
        assert!(message.starts_with("test.sql:3:"), "{message}");
        assert!(message.contains("at most 16777216 bytes"), "{message}");
        assert!(message.contains(&format!("by {made_by}()")), "{message}");
    }
}

#[test]
fn lists_inside_each_other_have_a_largest_depth() {
    let text = "\\set x 1\n\\for i in 1..1000000\n  \\set x list(:x)\n\\endfor\nA;";
    let (_, message) = failed(Client::of(text).run().1);
    let expected = "expected at most 100 lists inside each other, found 101, made by list()";
    assert!(message.starts_with("test.sql:3:"), "{message}");
    assert!(message.ends_with(expected), "{message}");
}

#[test]
fn expected_rows_are_those_returned_or_changed() {
    let text = "SELECT 1;\n\\expect rows :n";
    let answer = |rows, affected| Reply {
        rows,
        affected,
        ..Reply::default()
    };
    let ending =
        |expected: Value, reply| Client::with(text, &[("n", expected)]).run_with(|_| reply).1;
    assert_eq!(ending(Value::Int(3), answer(3, 3)), Ending::Done);
    assert_eq!(ending(Value::Int(3), answer(0, 3)), Ending::Done);
    assert_eq!(ending(Value::Int(0), answer(0, 0)), Ending::Done);
    // NULL accepts any answer.
    assert_eq!(ending(Value::Null, answer(17, 0)), Ending::Done);
    let (class, message) = failed(ending(Value::Int(3), answer(4, 3)));
    assert_eq!(class, "expectation");
    assert_eq!(&*message, "test.sql:2:1: expected 3 rows, found 4 rows");
    let changed = ending(Value::Int(3), answer(0, 1));
    fails(changed, "expectation", "found 1 row changed");
}

#[test]
fn an_expected_value_is_compared_by_its_type() {
    let ends = |expected: &str, cell: Option<&str>| {
        let reply = one_row(&["c"], &[cell]);
        let text = format!("SELECT c;\n\\expect value {expected}");
        Client::of(&text).run_with(|_| reply).1
    };
    for (expected, cell) in [
        ("5", "5"),
        ("5", "5.00"),
        ("2 + 3", "5"),
        ("0.5", "0.50"),
        ("'abc'", "abc"),
        ("TRUE", "t"),
        ("FALSE", "0"),
        ("NULL", "whatever"),
        ("9007199254740993", "9007199254740993"),
        ("123456789012345678", "123456789012345678.00"),
        ("123456789012345678.01", "123456789012345678.010"),
        ("0.1 + 0.2", "0.30000000000000004"),
    ] {
        let ending = ends(expected, Some(cell));
        assert_eq!(ending, Ending::Done, "{expected} {cell}");
    }
    #[rustfmt::skip]
    let cases = [
        ("5", Some("6"), "expected 5, found '6'"),
        ("5", Some("five"), "found 'five'"),
        ("5", None, "expected 5, found NULL"),
        ("9007199254740993", Some("9007199254740992"), "found '9007199254740992'"),
        (
            "123456789012345678",
            Some("123456789012345679.00"),
            "expected 123456789012345678, found '123456789012345679.00'",
        ),
        (
            "123456789012345678.01",
            Some("123456789012345678.02"),
            "expected 123456789012345678.01, found '123456789012345678.02'",
        ),
        ("decimal('0.30') - decimal('0.10')", Some("0.19999999999999998"), "expected 0.20"),
        ("'abc'", Some("ABC"), "expected 'abc', found 'ABC'"),
        ("TRUE", Some("0"), "expected TRUE, found '0'"),
    ];
    for (expected, cell, found) in cases {
        fails(ends(expected, cell), "expectation", found);
    }
    let none = Client::of("S;\n\\expect value 1").run_with(|_| Reply::default());
    fails(none.1, "expectation", "expected 1, found no row");
}

#[test]
fn the_amounts_of_a_transfer_are_compared_exactly() {
    const TYPES: &[CellType] = &[CellType::Decimal; 3];
    // As decimals, and as texts, which drivers without types answer.
    for types in [TYPES, &[]] {
        let ending = |cells: [&str; 3]| {
            let reply = Reply {
                types,
                ..one_row(&["a", "b", "c"], &cells.map(Some))
            };
            let text = "SELECT a, b, c \\gset\n\\assert :a - :b = :c";
            Client::of(text).run_with(|_| reply).1
        };
        assert_eq!(ending(["0.30", "0.10", "0.20"]), Ending::Done);
        assert_eq!(ending(["0.30", "0.1", "0.200"]), Ending::Done);
        let (large, rest) = ("10000000000000000000000.01", "10000000000000000000000");
        assert_eq!(ending([large, "0.01", rest]), Ending::Done);
        let differ = ["123456789012345678.02", "0.01", "123456789012345678"];
        fails(ending(differ), "expectation", ":a - :b = :c");
    }
}

#[test]
fn an_error_ends_the_transaction_unless_it_is_expected() {
    let constraint = refused("constraint", "duplicate key");
    let (seen, ending) = Client::of("A;\n\\expect rows 1\nB;").run_with(|_| constraint);
    assert_eq!(seen, ["A []"]);
    let (class, message) = failed(ending);
    assert_eq!(class, "constraint");
    assert_eq!(&*message, "test.sql:1:1: duplicate key");

    let text = "A;\n\\expect error constraint\nB;";
    let first_only = |index| match index {
        0 => constraint,
        _ => Reply::default(),
    };
    let (seen, ending) = Client::of(text).run_with(first_only);
    assert_eq!((seen.len(), ending), (2, Ending::Done));

    let deadlock = refused("deadlock", "try again");
    for (reply, found) in
        [(Reply::default(), "the statement succeeded"), (deadlock, "found deadlock: try again")]
    {
        let expected = format!("2:1: expected an error of the class constraint, {found}");
        let ending = Client::of(text).run_with(|_| reply).1;
        fails(ending, "expectation", &expected);
    }
}

#[test]
fn gset_stores_the_columns_of_one_row_in_variables() {
    let text = "SELECT a, b \\gset p_\nUSE :p_a, :p_B, :p_c;";
    let reply = one_row(&["a", "b", "C"], &[Some("7"), None, Some("007")]);
    let (seen, ending) = Client::of(text).run_with(|_| reply);
    assert_eq!(seen[1].as_str(), "USE ?, ?, ? [7, NULL, '007']");
    assert_eq!(ending, Ending::Done);

    // The value is available to the following commands and to the next transaction.
    let text = "SELECT n;\n\\gset\n\\expect value :n\n\\if :n > 1\nA :n + 1;\n\\endif";
    let (seen, _) = Client::of(text).run_with(|_| one_row(&["n"], &[Some("5")]));
    assert_eq!(seen, ["SELECT n []", "A ? + 1 [5]"]);

    for rows in [0, 2] {
        let reply = Reply {
            rows,
            ..one_row(&["n"], &[Some("5")])
        };
        let expected = format!("2:1: \\gset expects one row, found {rows}");
        fails(
            Client::of(text).run_with(|_| reply).1,
            "expectation",
            &expected,
        );
    }
    let missing = one_row(&["m"], &[Some("5")]);
    let ending = Client::of("S \\gset\nA :n;").run_with(|_| missing).1;
    fails(ending, "script", "2:1: the variable :n has no value");
}

#[test]
fn only_statements_whose_cells_are_used_need_rows() {
    let program =
        compiled("A;\n\\expect rows 1\nB \\gset\nC;\n\\expect value 1\nD;\n\\expect error data");
    let needs: Vec<Need> = program.statements.iter().map(|sent| sent.need).collect();
    assert_eq!(needs, [Need::Count, Need::Rows, Need::Rows, Need::Count]);
    let mut machine = Machine::new(Arc::new(program), 1, 0);
    machine.begin(0);
    assert!(matches!(machine.step(), Step::Execute { statement: 0, .. }));
    assert_eq!(machine.keep(), Need::Count);
    machine.answered(one_row_reply());
    assert!(matches!(machine.step(), Step::Execute { statement: 1, .. }));
    assert_eq!(machine.keep(), Need::Rows);
}

#[test]
fn abort_ends_the_transaction() {
    let text = "A;\n\\if :n\n\\abort\n\\endif\nB;";
    let (seen, ending) = Client::with(text, &[("n", Value::Int(1))]).run();
    assert_eq!((seen.len(), ending), (1, Ending::Aborted));
    let (seen, ending) = Client::with(text, &[("n", Value::Int(0))]).run();
    assert_eq!((seen.len(), ending), (2, Ending::Done));
}

#[test]
fn after_an_abort_only_the_pauses_at_the_end_are_made() {
    let text = "\\keying 1 s\nA;\n\\for i in 1..2\n\\abort\n\\endfor\n\\think 2 s\nB;\n\\think 3 s\n\\keying :n s";
    let mut client = Client::with(text, &[("n", Value::Int(4))]);
    for _ in 0..2 {
        let (seen, ending) = client.run();
        let expected = ["roll back", "rest 3000000000", "rest 4000000000"];
        assert_eq!(seen[2..], expected);
        assert_eq!((seen.len(), ending), (5, Ending::Aborted));
    }
    // The next script that ends as it should is not aborted.
    let text = "\\if :transaction_number = 0\n\\abort\n\\endif\nA;\n\\think 1 s";
    let mut client = Client::with(text, &[]);
    assert_eq!(client.run().1, Ending::Aborted);
    assert_eq!(client.run().1, Ending::Done);
}

#[test]
fn pauses_have_units() {
    let text = "\\sleep 2\n\\sleep 3ms\n\\sleep 1 + 1 us\n\\sleep :half s\n\\sleep 0";
    let (seen, _) = Client::with(text, &[("half", Value::Double(0.5))]).run();
    let expected = ["2000000000", "3000000", "2000", "500000000", "0"];
    assert_eq!(seen, expected.map(|ns| format!("sleep {ns}")));
    for bad in ["-1", "1e300", "NULL", "'soon'"] {
        let text = format!("\\set bad {bad}\n\\sleep :bad");
        fails(Client::of(&text).run().1, "script", "expected a ");
    }
}

#[test]
fn variables_keep_their_values_from_transaction_to_transaction() {
    let text = "\\set n :n + 1\nA :n, :client_id, :random_seed;";
    let mut client = Client::with(text, &[("n", Value::Int(0))]);
    assert_eq!(client.run().0, ["A ?, ?, ? [1, 0, 1]"]);
    assert_eq!(client.run().0, ["A ?, ?, ? [2, 0, 1]"]);
}

#[test]
fn a_failed_transaction_leaves_nothing_behind() {
    let text = "\\for i in 1..2\n\\set x 1 + (2 + 1 / (:i - 1))\n\\endfor\nA;";
    let mut client = Client::of(text);
    for _ in 0..3 {
        assert_eq!(failed(client.run().1).0, "script");
    }
}

#[test]
#[should_panic(expected = "a step needs a transaction that runs")]
fn stepping_past_an_unanswered_statement_panics() {
    let mut machine = Machine::new(Arc::new(compiled("A;")), 1, 0);
    machine.begin(0);
    machine.step();
    machine.step();
}

/// The values that a client draws in a few transactions.
fn drawn(seed: u64, client: u32) -> Vec<Value> {
    let program = Arc::new(compiled("\\set x random(1, 1000000000)\nA :x;"));
    let mut machine = Machine::new(program, seed, client);
    let mut seen = Vec::new();
    for _ in 0..20 {
        machine.begin(0);
        if let Step::Execute { parameters, .. } = machine.step() {
            seen.push(parameters[0].clone());
        }
    }
    seen
}

#[test]
fn the_same_seed_draws_the_same_values_and_each_client_draws_its_own() {
    assert_eq!(drawn(7, 0), drawn(7, 0));
    let mut all: Vec<Vec<Value>> = (0..50).map(|client| drawn(7, client)).collect();
    all.push(drawn(8, 0));
    for (index, values) in all.iter().enumerate() {
        for others in &all[index + 1..] {
            let is_shared = values.iter().any(|value| others.contains(value));
            assert!(!is_shared, "client {index}");
        }
    }
}

#[test]
fn a_branch_depends_on_how_many_rows_the_last_change_changed() {
    let text = "UPDATE t SET a = 1;\nSELECT 1;\n\\if :rows_changed = 0\nINSERT INTO t VALUES (1);\n\\endif\n\
                WITH d AS (DELETE FROM t RETURNING 1) SELECT 2;\n\\if :rows_changed = 3\nSELECT 3;\n\\endif\n";
    let program = Arc::new(compiled(text));
    let changed = |affected: u64| {
        let mut machine = Machine::new(program.clone(), 1, 0);
        machine.begin(0);
        let mut seen = Vec::new();
        loop {
            match machine.step() {
                Step::Execute { text, .. } => {
                    seen.push(text.split(' ').next().unwrap().to_owned());
                    let is_read = text.starts_with("SELECT");
                    let affected = if is_read { 9 } else { affected };
                    machine.answered(Reply {
                        affected,
                        ..Reply::default()
                    });
                }
                Step::End(ending) => {
                    assert_eq!(ending, Ending::Done);
                    return seen.join(" ");
                }
                step => panic!("{step:?}"),
            }
        }
    };
    assert_eq!(changed(0), "UPDATE SELECT INSERT WITH");
    assert_eq!(changed(1), "UPDATE SELECT WITH");
    assert_eq!(changed(3), "UPDATE SELECT WITH SELECT");
}

#[test]
fn only_a_script_that_uses_it_stores_how_many_rows_were_changed() {
    let listed = |text: &str| compiled(text).explain().contains("SettleChanged");
    let uses = "UPDATE t SET a = 1;\n\\if :rows_changed = 0\n\\abort\n\\endif\n";
    assert!(listed(uses));
    assert!(!listed("UPDATE t SET a = 1;\nSELECT 1;\n"));
}

#[test]
fn a_condition_that_does_not_hold_fails_with_its_values() {
    let text = "\\set a 5\n\\set b 'x'\n\\assert :a > 4 and :b = 'x'\nA;\n\\assert :a > \\\n  9 or :b = 'y' or :a = 3\nB;";
    let (seen, ending) = Client::of(text).run();
    assert_eq!(seen, ["A []"]);
    let expected = ":5:1: expected :a > 9 or :b = 'y' or :a = 3, found a = 5, b = 'x'";
    fails(ending, "expectation", expected);
    let (_, ending) = Client::of("\\assert NULL = 1\nA;").run();
    assert_eq!(failed(ending).0, "expectation");
}

/// The numbers that one client's transaction binds in its statement.
fn asked(machine: &mut Machine) -> Vec<Value> {
    match machine.step() {
        Step::Execute { parameters, .. } => parameters.to_vec(),
        step => panic!("{step:?}"),
    }
}

fn ended(machine: &mut Machine) {
    machine.answered(Reply::default());
    assert_eq!(machine.step(), Step::End(Ending::Done));
}

#[test]
fn clients_share_numbers_and_see_which_are_acknowledged() {
    let text = "\\next n\n\\acknowledged many n\nA :n, :many;";
    let program = Arc::new(compiled(text));
    let client = |number| {
        let mut machine = Machine::new(program.clone(), 1, number);
        machine.keep_start(true);
        machine
    };
    let (mut first, mut second) = (client(0), client(1));
    let found = |n, many| vec![Value::Int(n), Value::Int(many)];
    first.begin(0);
    second.begin(0);
    assert_eq!(asked(&mut first), found(0, 0));
    assert_eq!(asked(&mut second), found(1, 0));
    ended(&mut first);
    program.shared_numbers.ended(0, NumberOutcome::Acknowledged);
    // The second one tries again: with its number, and with what is acknowledged meanwhile.
    second.rewind();
    assert_eq!(asked(&mut second), found(1, 1));
    ended(&mut second);
    program.shared_numbers.ended(1, NumberOutcome::Returned);
    first.begin(0);
    // The number that was given back.
    assert_eq!(asked(&mut first), found(1, 1));
}

#[test]
fn a_deferred_script_begins_with_the_values_that_it_was_given_also_when_it_is_retried() {
    let order = "\\set w 5\n\\set day 'Monday'\n\\defer deliver-it w\n\\set w 6\nA :w;";
    let deferred = source("deliver-it", "B :w, :day, :scale;\n\\set w 7");
    let sources = [source("order", order), deferred];
    let given = [("scale", Value::Int(3)), ("day", Value::Null)];
    let given = given.map(|(name, value)| (name.to_owned(), value));
    let options = Options {
        variables: &given,
        ..Options::default()
    };
    let program = Arc::new(compile(&sources, &options).unwrap());
    let mut caller = Machine::new(program.clone(), 1, 0);
    caller.begin(0);
    let Step::Defer(deferred) = caller.step() else {
        panic!("it was to be queued")
    };
    assert_eq!(deferred.script, 1);
    assert_eq!(asked(&mut caller), [Value::Int(6)]);
    let mut other = Machine::new(program, 1, 1);
    other.keep_start(true);
    other.begin_deferred(&deferred, Random::stream(1, 0), 0);
    for _ in 0..2 {
        let expected = [Value::Int(5), Value::Null, Value::Int(3)];
        assert_eq!(asked(&mut other), expected, "only :w was given");
        ended(&mut other);
        other.rewind();
    }
}

// A numbered transaction is the same whichever client runs it, and whatever the client ran before.

const SCRIPT: &str = "\
\\set drawn random(1, 1000000)
\\set sum :sum + :drawn
SELECT :drawn, :sum, :transaction_number;
";

#[test]
fn values_depend_on_the_number_and_not_on_the_client() {
    let given = [("sum", Value::Int(0))];
    let program = try_compile_as(Values::Bound, SCRIPT, &given).expect("the script is valid");
    let program = Arc::new(program);
    let begun = |machine: &mut Machine, number: u64| {
        machine.begin_numbered(0, Random::stream(9, number), number);
        asked(machine)
    };
    let mut first_client = Machine::new(program.clone(), 1, 0);
    let first = (0..5).map(|number| begun(&mut first_client, number));
    let first: Vec<_> = first.collect();
    let mut second_client = Machine::new(program, 1, 7);
    second_client.keep_start(true);
    for number in [3, 0, 4, 1, 2] {
        let expected = &first[usize::try_from(number).expect("it is small")];
        assert_eq!(&begun(&mut second_client, number), expected);
        assert_eq!(expected[0], expected[1], "the sum starts again");
        assert_eq!(expected[2], Value::Int(number.cast_signed()));
        second_client.rewind();
        assert_eq!(&asked(&mut second_client), expected);
    }
    assert_ne!(first[0], first[1]);
}

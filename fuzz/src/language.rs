//! Takes any text; compiles it as a script or as an expression, and executes it. It may be refused, with a place
//! within the text, but it must not panic, and its execution must end.

use assay_script::expression::{self, Origin};
use assay_script::{
    Lexer, Machine, Options, Program, Reply, ScriptError, Source, Step, TextStyle, Values,
    split_statements,
};
use assay_values::{Random, Row, Value};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Returns whether the text is a valid script in any language of statements.
pub fn script(text: &str) -> bool {
    const BRACKETS: TextStyle = TextStyle {
        nests_comments: false,
        bracketed_names: true,
        ..TextStyle::STANDARD
    };
    const STYLES: [TextStyle; 3] = [TextStyle::STANDARD, TextStyle::BACKSLASH, BRACKETS];
    for style in STYLES {
        if let Err(error) = split_statements(&source(text), style) {
            is_in(text, &error);
        }
    }
    let mut is_compiled = false;
    for (_, language) in Lexer::ALL {
        let styles = STYLES.map(|style| language.with_style(style));
        let lexers = if styles[0] == styles[1] {
            &styles[..1]
        } else {
            &styles[..]
        };
        for &lexer in lexers {
            for values in [Values::Pasted, Values::Refused, Values::Bound] {
                is_compiled |= is_script(text, lexer, values);
            }
        }
    }
    is_compiled
}

fn is_script(text: &str, lexer: Lexer, values: Values) -> bool {
    let program = match compiled(text, lexer, values) {
        Ok(program) => program,
        Err(error) => {
            is_in(text, &error);
            return false;
        }
    };
    for warning in &program.warnings {
        is_in(text, warning);
    }
    assert!(program.explain().contains("End"));
    run(Machine::new(Arc::new(program), 1, 0));
    true
}

/// Returns whether the text is a valid expression.
pub fn expression(text: &str) -> bool {
    let origin = Origin {
        path: "fuzzed.toml",
        line: 1,
        column: 1,
    };
    let constants = [("scale".to_owned(), Value::Int(7))];
    let formula = match expression::compile(text, &["row", "name"], &constants, origin) {
        Ok(formula) => formula,
        Err(error) => {
            is_in(text, &error);
            return false;
        }
    };
    let names = ["", "é", "12"].map(|name| Value::Text(name.into()));
    for (number, name) in [0, 1, i64::MAX].into_iter().zip(names) {
        let values = [Value::Int(number), name];
        let mut random = Random::stream(1, 0);
        let evaluated = formula.evaluate(&values, &mut random.clone());
        let (mut written, mut pushed) = (Row::new(), Row::new());
        match (formula.write(&values, &mut random, &mut written), evaluated) {
            (Ok(()), Ok(value)) => {
                pushed.push_value(&value);
                assert_eq!(text_of(&written), text_of(&pushed), "{value:?}");
            }
            (Err(written), Err(evaluated)) => assert_eq!(written, evaluated),
            (written, evaluated) => panic!("written {written:?}, evaluated {evaluated:?}"),
        }
    }
    true
}

fn text_of(row: &Row) -> Option<Vec<u8>> {
    let cell = row.cells().next().expect("one cell was written");
    cell.text_in(&mut Vec::new()).map(<[u8]>::to_vec)
}

fn source(text: &str) -> Source<'_> {
    Source {
        name: "fuzzed",
        path: "fuzzed.sql",
        text,
        is_plain: false,
    }
}

/// Compiles with identifiers and isolation levels, without shell commands.
fn compiled(text: &str, lexer: Lexer, values: Values) -> Result<Program, ScriptError> {
    let list = |name: &str, values: &[&str]| {
        let values = values.iter().map(|&value| value.to_owned()).collect();
        (name.to_owned(), values)
    };
    let options = Options {
        variables: &[("scale".to_owned(), Value::Int(7))],
        identifiers: &BTreeMap::from([list("table", &["a", "b"]), list("column", &["x"])]),
        begins: &BTreeMap::from([list("serializable", &["SET", "BEGIN"])]),
        values,
        lexer,
        allow_shell: false,
        ..Options::default()
    };
    assay_script::compile(&[source(text)], &options)
}

/// The place of an error is within the text, or directly after one of its lines.
fn is_in(text: &str, error: &ScriptError) {
    let line = text.split('\n').nth(error.line as usize - 1);
    let line = line.unwrap_or_else(|| panic!("{error}: no such line\n{text}"));
    let columns = 1..=line.chars().count() + 1;
    assert!(
        columns.contains(&(error.column as usize)),
        "{error}: no such column\n{text}"
    );
    assert!(!error.message.is_empty());
}

/// Executes a few steps of two transactions, with any answers.
fn run(mut machine: Machine) {
    const MOST_STEPS: usize = 200;
    let columns = ["a".to_owned()];
    let cells = [Some(b"1".as_slice().into())];
    machine.keep_start(true);
    for transaction in 0..3 {
        let reply = Reply {
            rows: 1 + transaction / 2,
            affected: 0,
            columns: &columns,
            first_row: Some(&cells),
            last_row: Some(&cells),
            types: &[],
            error: None,
        };
        if transaction == 1 {
            machine.rewind();
        } else {
            machine.begin(0);
        }
        let mut pipeline = Vec::new();
        for _ in 0..MOST_STEPS {
            match machine.step() {
                Step::Execute {
                    statement,
                    is_pipelined: true,
                    ..
                } => {
                    pipeline.push(statement);
                    machine.queued();
                }
                Step::Execute { .. } => machine.answered(reply),
                Step::Sync => pipeline
                    .drain(..)
                    .for_each(|statement| machine.answered_pipelined(statement, reply)),
                Step::Sleep { .. } | Step::Defer(_) => {}
                Step::Run(_) => unreachable!("a script may run no commands here"),
                Step::RollBack => pipeline.clear(),
                Step::End(_) => break,
            }
        }
    }
}

//! What the tests of this crate share: compiling one script, and a client that is told its answers.
#![allow(dead_code, reason = "each test file uses a part")]

use assay_datagen::Value;
use assay_script::{Ending, Machine, Program, Reply, ScriptError, Source, Step, compile};
use std::sync::Arc;

pub fn try_compile(text: &str) -> Result<Program, ScriptError> {
    try_compile_with(text, &[])
}

pub fn try_compile_with(text: &str, given: &[(&str, Value)]) -> Result<Program, ScriptError> {
    let source = Source {
        name: "test",
        path: "test.sql",
        text,
        is_plain: false,
    };
    let given: Vec<(String, Value)> = given
        .iter()
        .map(|(name, value)| ((*name).to_owned(), value.clone()))
        .collect();
    compile(&[source], &given)
}

pub fn compiled(text: &str) -> Program {
    try_compile(text).unwrap_or_else(|error| panic!("{error} ({:?})\n{text}", error.hint))
}

/// A client that runs one script.
pub struct Client {
    pub machine: Machine,
    program: Arc<Program>,
}

impl Client {
    pub fn of(text: &str) -> Self {
        Self::with(text, &[])
    }

    pub fn with(text: &str, given: &[(&str, Value)]) -> Self {
        let program =
            try_compile_with(text, given).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let program = Arc::new(program);
        Self {
            machine: Machine::new(Arc::clone(&program), 1, 0),
            program,
        }
    }

    /// Runs a transaction; every statement is answered by `reply`. Gives what was executed, written
    /// as text and values, and how it ended.
    pub fn run_with(
        &mut self,
        mut reply: impl FnMut(usize) -> Reply<'static>,
    ) -> (Vec<String>, Ending) {
        let mut seen = Vec::new();
        self.machine.begin(0);
        loop {
            match self.machine.step() {
                Step::Execute {
                    statement,
                    parameters,
                } => {
                    let text = &self.program.statements[statement as usize].text;
                    assert_eq!(
                        parameters.len(),
                        self.program.statements[statement as usize].parameter_count as usize
                    );
                    let values: Vec<String> = parameters.iter().map(shown).collect();
                    seen.push(format!("{text} [{}]", values.join(", ")));
                    self.machine.answered(reply(seen.len() - 1));
                }
                Step::Sleep {
                    duration_ns,
                    inside_response_time,
                } => {
                    assert!(inside_response_time);
                    seen.push(format!("sleep {duration_ns}"));
                }
                Step::End(ending) => return (seen, ending),
            }
        }
    }

    /// The same with answers of one row.
    pub fn run(&mut self) -> (Vec<String>, Ending) {
        self.run_with(|_| Reply {
            rows: 1,
            ..Reply::default()
        })
    }
}

/// What `\set x expression` comes to, or the message of the failure.
pub fn value_of(expression: &str, given: &[(&str, Value)]) -> Result<String, String> {
    let text = format!("\\set x {expression}\nS :x;");
    match Client::with(&text, given).run() {
        (seen, Ending::Done) => Ok(seen[0]
            .trim_start_matches("S ? [")
            .trim_end_matches(']')
            .to_owned()),
        (
            _,
            Ending::Failed {
                class: "script",
                message,
            },
        ) => Err(message),
        (_, other) => panic!("{other:?}"),
    }
}

fn shown(value: &Value) -> String {
    match value {
        Value::Null => "NULL".to_owned(),
        Value::Bool(truth) => truth.to_string(),
        Value::Int(number) => number.to_string(),
        Value::Double(number) => format!("{number:?}"),
        Value::Text(text) => format!("'{text}'"),
    }
}

//! Shared by the tests of this crate: compiling one script, and a client with given answers.
#![allow(dead_code, reason = "each test file uses a part")]

use assay_script::{
    Ending, Lexer, Machine, Options, Program, Reply, ScriptError, Source, Statement, Step, Values,
    compile,
};
use assay_values::{Piece, Value};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A script with the name of its file.
pub fn source<'a>(path: &'a str, text: &'a str) -> Source<'a> {
    Source {
        name: path.trim_end_matches(".sql"),
        path,
        text,
        is_plain: false,
    }
}

pub fn try_compile(text: &str) -> Result<Program, ScriptError> {
    try_compile_with(text, &[])
}

/// Compiles with these variables, the identifiers `table` (`a`, `b`, `c`) and `column` (`x`, `y`), the
/// isolation levels that many systems have, and shell commands.
pub fn try_compile_with(text: &str, given: &[(&str, Value)]) -> Result<Program, ScriptError> {
    try_compile_as(Values::Bound, text, given)
}

/// The same with a choice of how values are sent.
pub fn try_compile_as(
    values: Values,
    text: &str,
    given: &[(&str, Value)],
) -> Result<Program, ScriptError> {
    let owned = |(name, value): &(&str, Value)| ((*name).to_owned(), value.clone());
    let given: Vec<(String, Value)> = given.iter().map(owned).collect();
    let options = Options {
        variables: &given,
        identifiers: &lists(&[("table", &["a", "b", "c"]), ("column", &["x", "y"])]),
        begins: &lists(&[
            ("read committed", &["BEGIN"]),
            ("serializable", &["SET LEVEL", "BEGIN"]),
        ]),
        lexer: Lexer::default(),
        values,
        allow_shell: true,
        ..Options::default()
    };
    compile(&[source("test.sql", text)], &options)
}

pub fn lists(of: &[(&str, &[&str])]) -> BTreeMap<String, Vec<String>> {
    let owned = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
    let lists = of
        .iter()
        .map(|&(key, names)| (key.to_owned(), owned(names)));
    lists.collect()
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
        Self::new(program)
    }

    pub fn new(program: Program) -> Self {
        let program = Arc::new(program);
        Self {
            machine: Machine::new(Arc::clone(&program), 1, 0),
            program,
        }
    }

    /// Runs a transaction; every statement is answered by `reply`. Returns what was executed,
    /// as text and values, and how the transaction ended.
    pub fn run_with(
        &mut self,
        mut reply: impl FnMut(usize) -> Reply<'static>,
    ) -> (Vec<String>, Ending) {
        self.machine.begin(0);
        self.run_to_end(&mut reply)
    }

    /// Rewinds and runs the same transaction again.
    pub fn rerun(&mut self) -> (Vec<String>, Ending) {
        self.machine.rewind();
        self.run_to_end(&mut |_| one_row_reply())
    }

    fn run_to_end(
        &mut self,
        reply: &mut dyn FnMut(usize) -> Reply<'static>,
    ) -> (Vec<String>, Ending) {
        let mut seen = Vec::new();
        let mut pipeline = Vec::new();
        loop {
            match self.machine.step() {
                Step::Execute {
                    statement,
                    parameters,
                    is_pipelined,
                    ..
                } => {
                    let sent = &self.program.statements[statement as usize];
                    assert_eq!(parameters.len(), sent.parameter_count as usize);
                    let values: Vec<String> = parameters.iter().map(shown).collect();
                    seen.push(format!("{} [{}]", marked(sent), values.join(", ")));
                    if is_pipelined {
                        pipeline.push((statement, seen.len() - 1));
                        self.machine.queued();
                    } else {
                        self.machine.answered(reply(seen.len() - 1));
                    }
                }
                Step::Sync => {
                    seen.push("sync".to_owned());
                    for (statement, number) in pipeline.drain(..) {
                        self.machine.answered_pipelined(statement, reply(number));
                    }
                }
                Step::Sleep {
                    duration_ns,
                    is_part_of_latency,
                } => {
                    let kind = if is_part_of_latency { "sleep" } else { "rest" };
                    seen.push(format!("{kind} {duration_ns}"));
                }
                Step::RollBack => seen.push("roll back".to_owned()),
                Step::Run(command) => self.machine.ran(command.run(&self.program.children)),
                Step::Defer(deferred) => seen.push(format!("defer {}", deferred.script)),
                Step::End(ending) => return (seen, ending),
            }
        }
    }

    /// Runs a transaction with answers of one row.
    pub fn run(&mut self) -> (Vec<String>, Ending) {
        self.run_with(|_| one_row_reply())
    }
}

/// The text of a statement with `?` for each value; for an operation of the driver, the meta command.
pub fn marked(statement: &Statement) -> String {
    if statement.is_operation {
        return statement.text.clone();
    }
    Piece::join(&statement.pieces, |_, text| text.push('?'))
}

/// An answer of one row.
pub fn one_row_reply() -> Reply<'static> {
    Reply {
        rows: 1,
        ..Reply::default()
    }
}

/// An answer of one row with these columns. The machine borrows its answers; a test may leak a few bytes.
pub fn one_row(columns: &[&str], cells: &[Option<&str>]) -> Reply<'static> {
    let columns: Vec<String> = columns.iter().map(|&name| name.to_owned()).collect();
    let cell = |cell: &Option<&str>| cell.map(|text| text.as_bytes().into());
    let cells: Vec<Option<Box<[u8]>>> = cells.iter().map(cell).collect();
    let cells = &*cells.leak();
    Reply {
        columns: columns.leak(),
        first_row: Some(cells),
        last_row: Some(cells),
        ..one_row_reply()
    }
}

/// An answer with an error.
pub fn refused(class: &'static str, message: &'static str) -> Reply<'static> {
    Reply {
        error: Some((class, message)),
        ..Reply::default()
    }
}

pub fn failed(ending: Ending) -> (&'static str, String) {
    match ending {
        Ending::Failed { class, message } => (class, message),
        other => panic!("expected a failure, found {other:?}"),
    }
}

/// The transaction ended so, with a message that has this part.
pub fn fails(ending: Ending, expected: &str, part: &str) {
    let (class, message) = failed(ending);
    assert_eq!(class, expected, "{message}");
    assert!(message.contains(part), "{message}");
}

pub fn warnings(program: &Program) -> Vec<String> {
    program.warnings.iter().map(ToString::to_string).collect()
}

/// The value of `\set x expression`, or the message of the error or failure.
pub fn value_of(expression: &str, given: &[(&str, Value)]) -> Result<String, String> {
    let text = format!("\\set x {expression}\nS :x;");
    let program = try_compile_with(&text, given).map_err(|error| error.to_string())?;
    match Client::new(program).run() {
        (seen, Ending::Done) => {
            let value = seen[0].trim_start_matches("S ? [");
            Ok(value.trim_end_matches(']').to_owned())
        }
        (_, ending) => {
            let (class, message) = failed(ending);
            assert_eq!(class, "script", "{message}");
            Err(message)
        }
    }
}

fn shown(value: &Value) -> String {
    match value {
        Value::Null => "NULL".to_owned(),
        Value::Bool(truth) => truth.to_string(),
        Value::Int(number) => number.to_string(),
        Value::Double(number) => format!("{number:?}"),
        other => format!("'{}'", other.to_text()),
    }
}

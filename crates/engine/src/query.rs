//! Takes a drive document; runs each of its scripts once in one session and returns the rows of every answer.
//! For queries with bound values, outside the measurement.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use assay_drivers::{Answer, Keep, Request};
use assay_script::{Ending, Machine, Need, Program, Reply, Step};

use crate::EngineError;
use crate::document::DriveDocument;
use crate::drive::{compile, operation};
use crate::session::{CHECK_EVERY, Session};

/// The answer to one statement.
pub struct Answered {
    /// The script that contains it.
    pub transaction: String,
    /// Whether the statement is a query, even one without rows.
    pub is_query: bool,
    /// The names of the columns, in order.
    pub columns: Vec<String>,
    /// In text form, `None` for NULL; none where the script itself looks at them (`\gset`, `\expect value` …).
    pub rows: Vec<Vec<Option<Box<[u8]>>>>,
}

/// Runs every script of `document` once, in order, as client 0; groups and stop conditions of the document
/// are ignored. `go_on` is called ten times a second while it waits.
///
/// # Errors
/// If a script is wrong or fails, the system cannot be reached or rejects a statement, or `go_on` broke. An
/// open transaction of the session is rolled back when it closes.
pub fn query(
    document: &DriveDocument,
    go_on: &mut dyn FnMut() -> ControlFlow<()>,
) -> Result<Vec<Answered>, EngineError> {
    let deployment = document.deployment.as_ref().ok_or_else(|| {
        EngineError::Document(
            "the drive document, key `deployment`: expected a deployment, found none".into(),
        )
    })?;
    let program = Arc::new(compile(document)?);
    let mut session = Session::open_while(deployment, go_on)?;
    let mut is_prepared = vec![false; program.statements.len()];
    let mut machine = Machine::new(Arc::clone(&program), document.seed, 0);
    let mut answers = Vec::new();
    for script in
        0..u32::try_from(program.scripts.len()).expect("there are fewer than 2^32 scripts")
    {
        machine.begin(script);
        loop {
            match machine.step() {
                Step::Execute {
                    statement,
                    parameters,
                    text,
                    is_pipelined: false,
                } => {
                    let planned = &program.statements[statement as usize];
                    // The script stores cells of the answer in variables, or compares them.
                    let is_read = planned.need == Need::Rows;
                    let mut answer = if planned.is_operation {
                        let request = operation(planned.kind);
                        session.request(&request, Keep::Rows, &planned.text, go_on)?
                    } else if parameters.is_empty() {
                        session.query_while(text, Keep::Rows, go_on)?
                    } else {
                        let (id, pieces) = (statement, &planned.pieces);
                        if !std::mem::replace(&mut is_prepared[id as usize], true) {
                            let prepare = Request::Prepare { id, pieces };
                            let prepared =
                                session.request(&prepare, Keep::Count, &planned.text, go_on)?;
                            check(&prepared, &program, statement)?;
                        }
                        let execute = Request::Execute { id, parameters };
                        session.request(&execute, Keep::Rows, &planned.text, go_on)?
                    };
                    check(&answer, &program, statement)?;
                    machine.answered(Reply {
                        rows: answer.rows,
                        affected: answer.affected,
                        columns: &answer.columns,
                        types: &answer.cell_types,
                        first_row: answer.kept.first().map(Vec::as_slice),
                        last_row: answer.kept.last().map(Vec::as_slice),
                        error: None,
                    });
                    if is_read {
                        answer.kept.clear();
                    }
                    answers.push(of(&program, statement, answer));
                }
                Step::Run(command) => machine.ran(command.run(&program.children)),
                Step::Sleep { duration_ns, .. } => {
                    pause(Duration::from_nanos(duration_ns), go_on)?;
                }
                Step::End(Ending::Failed { class, message }) => {
                    return Err(EngineError::Failed { class, message });
                }
                // The session closes, and what is open is rolled back with it: no pause is of use.
                Step::RollBack | Step::End(Ending::Done | Ending::Aborted) => break,
                _ => {
                    let path = &program.scripts[script as usize].path;
                    let why = "a query cannot use pipelines or run programs";
                    return Err(EngineError::Document(format!("{path}: {why}")));
                }
            }
        }
    }
    Ok(answers)
}

/// # Errors
/// If `go_on` broke.
fn pause(
    duration: Duration,
    go_on: &mut dyn FnMut() -> ControlFlow<()>,
) -> Result<(), EngineError> {
    let began = Instant::now();
    loop {
        if go_on().is_break() {
            return Err(EngineError::Interrupted);
        }
        let left = duration.saturating_sub(began.elapsed());
        if left.is_zero() {
            return Ok(());
        }
        std::thread::sleep(left.min(CHECK_EVERY));
    }
}

/// # Errors
/// If the answer is an error, with the place of the statement.
fn check(answer: &Answer, program: &Program, statement: u32) -> Result<(), EngineError> {
    let Some(error) = &answer.error else {
        return Ok(());
    };
    let planned = &program.statements[statement as usize];
    let path = &program.scripts[planned.script as usize].path;
    let place = format!(
        "{path}:{}:{}: {}",
        planned.line, planned.column, planned.text
    );
    Err(EngineError::System(error.clone(), place))
}

fn of(program: &Program, statement: u32, answer: Answer) -> Answered {
    let script = program.statements[statement as usize].script;
    Answered {
        transaction: program.scripts[script as usize].name.clone(),
        is_query: answer.is_query,
        columns: answer.columns,
        rows: answer.kept,
    }
}

//! Takes the texts of all scripts of a run and the run's variables; returns one program, or the
//! first error, with its place.

pub(crate) mod answer;
pub(crate) mod assemble;
pub(crate) mod blocks;
pub(crate) mod emit;
pub(crate) mod open_transaction;
pub(crate) mod options;
pub(crate) mod send;
pub(crate) mod variables;

use crate::compile::assemble::Assembler;
use crate::compile::emit::{Content, items};
use crate::compile::variables::{Position, Variables};
use crate::lexer::StatementKind;
use crate::lexer::language::Values;
use crate::place::{Defect, Lines, Place, Source};
use crate::program::opcode::{DeferralId, Instruction, Slot, short};
use crate::program::{Own, Program, Script, Statement};
use crate::{Options, ScriptError};

/// Compiles `sources` into one program.
///
/// # Errors
/// If a script is invalid: what was expected, what was found, where, and the fix.
pub fn compile(sources: &[Source<'_>], options: &Options<'_>) -> Result<Program, ScriptError> {
    let mut variables = Variables::given(options.variables, options.lexer.counts_changes());
    let mut scripts = Vec::with_capacity(sources.len());
    for (script, source) in sources.iter().enumerate() {
        let lines = Lines::of(source.text);
        let items = items(source, options.lexer, options.values)
            .map_err(|defect| defect.locate(source.path, &lines))?;
        for (item, found) in items.iter().enumerate() {
            if let Content::Command(command) = &found.content {
                variables.note(Position { script, item }, command);
            }
        }
        scripts.push((source, lines, items));
    }
    let names: Vec<&str> = sources.iter().map(|source| source.name).collect();
    let mut program = Program {
        lexer: options.lexer,
        pastes: options.values == Values::Pasted,
        ..Program::default()
    };
    for (script, (source, lines, items)) in scripts.into_iter().enumerate() {
        let instructions = short(program.instructions.len());
        let statements = short(program.statements.len());
        let assembler = Assembler {
            program: &mut program,
            variables: &mut variables,
            lines: &lines,
            position: Position { script, item: 0 },
        };
        let warnings = emit::script(assembler, options, &names, items)
            .map_err(|defect| defect.locate(source.path, &lines))?;
        let located = |defect: Defect| defect.locate(source.path, &lines);
        program.warnings.extend(warnings.into_iter().map(located));
        program.scripts.push(Script {
            name: source.name.to_owned(),
            path: source.path.to_owned(),
            is_plain: source.is_plain,
            statement_ids: statements..short(program.statements.len()),
            instructions: instructions..short(program.instructions.len()),
        });
    }
    // Which variables are used, and so which columns are needed, is known only now.
    for gather in &mut program.gathers {
        *gather = variables.gather(&gather.prefix);
    }
    if let Some(variable) = variables.used_own(Own::RowsChanged) {
        store_rows_changed(&mut program, variable);
    }
    refuse_unknown_statements(&program, options)?;
    if !options.has_transactions {
        refuse_transactions(&program)?;
    }
    program.own = variables.own();
    program.variables = variables.into_slots();
    let with_transactions = program.scripts.iter().filter(|script| !script.is_plain);
    let left_open = with_transactions
        .map(|script| open_transaction::check(&program, script))
        .collect::<Result<Vec<_>, _>>()?;
    let idle = (program.scripts.iter()).filter_map(|script| sends_nothing(&program, script));
    let idle = idle.collect::<Vec<_>>();
    program.warnings.extend(left_open.into_iter().flatten());
    if !options.is_sequence || idle.len() == program.scripts.len() {
        program.warnings.extend(idle);
    }
    Ok(program)
}

/// Refuses a statement that begins or ends a transaction, if every pass of its script executes it.
fn refuse_transactions(program: &Program) -> Result<(), ScriptError> {
    let is_of_transaction = |kind| !matches!(kind, StatementKind::Rows | StatementKind::Other);
    let found = (program.scripts.iter())
        .flat_map(|script| always_executed(program, script))
        .find(|statement| is_of_transaction(statement.kind));
    match found {
        None => Ok(()),
        Some(statement) => Err(ScriptError {
            path: program.scripts[statement.script as usize].path.clone(),
            line: statement.line,
            column: statement.column,
            message: format!("found {}: this system has no transactions", statement.text),
            hint: Some("remove it: each statement commits on its own in this system".to_owned()),
        }),
    }
}

/// The statements of a script that no branch and no loop can leave out.
fn always_executed<'a>(
    program: &'a Program,
    script: &Script,
) -> impl Iterator<Item = &'a Statement> {
    let mut left_out_until = 0;
    script
        .instructions
        .clone()
        .filter_map(move |at| match program.instructions[at as usize] {
            Instruction::Jump { target }
            | Instruction::JumpUnless { target }
            | Instruction::LoopEnter { target, .. } => {
                left_out_until = left_out_until.max(target.0);
                None
            }
            Instruction::Execute { statement } | Instruction::Queue { statement }
                if at >= left_out_until =>
            {
                Some(&program.statements[statement.0 as usize])
            }
            _ => None,
        })
}

fn refuse_unknown_statements(program: &Program, options: &Options<'_>) -> Result<(), ScriptError> {
    for statement in &program.statements {
        let words: Vec<_> = statement.text.split_whitespace().collect();
        let spelled = words.join(" ").to_uppercase();
        if let Some(instead) = options.unknown_statements.get(&spelled) {
            return Err(ScriptError {
                path: program.scripts[statement.script as usize].path.clone(),
                line: statement.line,
                column: statement.column,
                message: format!("found {spelled}, which this system does not know"),
                hint: Some(instead.clone()),
            });
        }
    }
    Ok(())
}

// Takes a program whose scripts are all compiled; completes what only the whole shows (who stores `:rows_changed`), and
// reports what is queued for no client and what asks nothing of any system.

impl Program {
    /// Whether any script queues others.
    pub fn has_deferrals(&self) -> bool {
        !self.deferrals.is_empty()
    }

    /// Compares what is queued with the scripts that clients take from the queue.
    ///
    /// # Errors
    /// If no client would run one of them.
    pub fn check_deferrals(&self, is_run: impl Fn(&str) -> bool) -> Result<(), ScriptError> {
        for (at, instruction) in self.instructions.iter().enumerate() {
            let Instruction::Defer {
                deferral: DeferralId(number),
            } = instruction
            else {
                continue;
            };
            let name = &self.scripts[self.deferrals[*number as usize].script as usize].name;
            if is_run(name) {
                continue;
            }
            let by = (self.scripts.iter()).find(|script| script.instructions.contains(&short(at)));
            let Place { line, column } = self.places[at];
            return Err(ScriptError {
                path: by.map_or_else(String::new, |script| script.path.clone()),
                line,
                column,
                message: format!("found \\defer {name}: no client runs it when it is queued"),
                hint: Some(format!(
                    "name it in the test: deferred = {{ scripts = [\"{name}\"], clients = 1 }}"
                )),
            });
        }
        Ok(())
    }
}

/// Has the statements that change rows store how many in `variable`, when the answer to such a statement is released, or arrives in a pipeline.
pub(crate) fn store_rows_changed(program: &mut Program, variable: Slot) {
    let lexer = program.lexer;
    for statement in &mut program.statements {
        if lexer.changes_rows(&statement.text) {
            statement.rows_changed = Some(variable);
        }
    }
    let mut answered = None;
    for instruction in &mut program.instructions {
        match *instruction {
            Instruction::Execute { statement } => answered = Some(statement),
            Instruction::Settle {} => {
                let changes = |statement: u32| {
                    program.statements[statement as usize]
                        .rows_changed
                        .is_some()
                };
                if answered
                    .take()
                    .is_some_and(|statement| changes(statement.0))
                {
                    *instruction = Instruction::SettleChanged { variable };
                }
            }
            _ => {}
        }
    }
}

/// Returns a warning if the script has no statement, and nothing that works elsewhere: `\shell`, `\defer`.
pub(crate) fn sends_nothing(program: &Program, script: &Script) -> Option<ScriptError> {
    let works = script.instructions.clone().any(|at| {
        matches!(
            program.instructions[at as usize],
            Instruction::Execute { .. }
                | Instruction::Queue { .. }
                | Instruction::Shell { .. }
                | Instruction::Defer { .. }
        )
    });
    (!works).then(|| ScriptError {
        path: script.path.clone(),
        line: 1,
        column: 1,
        message: "the script sends no statement: its rate is that of the client alone".to_owned(),
        hint: Some("add the statement that is to be measured".to_owned()),
    })
}

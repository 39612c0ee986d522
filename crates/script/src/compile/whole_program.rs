//! Takes a program whose scripts are all compiled; completes what only the whole shows (who stores `:rows_changed`), and
//! reports what is queued for no client and what asks nothing of any system.

use crate::ScriptError;
use crate::place::Place;
use crate::program::opcode::Instruction;
use crate::program::operand::{DeferralId, Slot, short};
use crate::program::{Program, Script};

impl Program {
    /// Whether any script queues others.
    #[must_use]
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

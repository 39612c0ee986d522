//! Takes a compiled script; reports whether it asks nothing of any system, so that its rate is the client's own.

use crate::ScriptError;
use crate::opcode::Instruction;
use crate::program::{Program, Script};

/// Returns a warning if the script has no statement, and nothing that works elsewhere: `\shell`, `\defer`.
pub(crate) fn check(program: &Program, script: &Script) -> Option<ScriptError> {
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

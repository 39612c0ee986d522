//! Takes a program; has the statements that change rows store how many, where a script uses `:rows_changed`. Elsewhere
//! nothing is stored.

use crate::opcode::Instruction;
use crate::operand::Slot;
use crate::program::Program;

/// Stores the number of rows in `variable` when the answer to such a statement is released, or arrives in a pipeline.
pub(crate) fn store(program: &mut Program, variable: Slot) {
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

//! Takes a program and the names of the scripts that clients take from the queue; reports what is queued for none.

use crate::ScriptError;
use crate::opcode::Instruction;
use crate::operand::{DeferralId, short};
use crate::place::Place;
use crate::program::Program;

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

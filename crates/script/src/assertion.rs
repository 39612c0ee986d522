//! Takes the condition of an `\assert`; says what was expected and what its variables hold where it does not hold.

use crate::number::shown;
use crate::opcode::Instruction;
use crate::program::{Assertion, Program};
use crate::registers::Registers;

/// Of a value in a message, in characters.
const LONGEST_SHOWN: usize = 120;

/// The condition on one line, with the variables that `instructions` read to compute it, each once.
pub(crate) fn of(spelled: &str, instructions: &[Instruction]) -> Assertion {
    let lines = spelled.split("\\\n");
    let words: Vec<&str> = lines.flat_map(str::split_whitespace).collect();
    let mut reads = Vec::new();
    for instruction in instructions {
        if let Instruction::Load { variable } = *instruction
            && !reads.contains(&variable)
        {
            reads.push(variable);
        }
    }
    Assertion {
        spelled: words.join(" "),
        reads,
    }
}

pub(crate) fn not_met(assertion: &Assertion, registers: &Registers, program: &Program) -> String {
    let found = assertion.reads.iter().map(|&slot| {
        let name = &program.variable(slot).name;
        let value = registers.read(program, slot);
        let value = value.map_or_else(|_| "not set".into(), shown);
        let cut = match value.chars().nth(LONGEST_SHOWN) {
            Some(_) => format!("{}…", value.chars().take(LONGEST_SHOWN).collect::<String>()),
            None => value.into_owned(),
        };
        format!("{name} = {cut}")
    });
    let found: Vec<String> = found.collect();
    let expected = format!("expected {}", assertion.spelled);
    match found.is_empty() {
        true => expected,
        false => format!("{expected}, found {}", found.join(", ")),
    }
}

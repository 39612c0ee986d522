//! Holds the condition of an `\assert`; says what was expected and what its variables held where it does not hold.

use crate::number::shown;
use crate::opcode::Instruction;
use crate::operand::Slot;
use crate::program::Program;
use crate::registers::Registers;

/// Of a value in a message, in characters.
const LONGEST_SHOWN: usize = 120;

#[derive(Debug)]
pub(crate) struct Assertion {
    /// The condition on one line.
    pub spelled: String,
    /// The variables that it reads, each once.
    reads: Vec<Slot>,
}

impl Assertion {
    /// `instructions` compute the condition.
    pub fn new(spelled: &str, instructions: &[Instruction]) -> Self {
        let lines = spelled.split("\\\n");
        let words = lines.flat_map(str::split_whitespace);
        let mut reads = Vec::new();
        for instruction in instructions {
            if let Instruction::Load { variable } = *instruction
                && !reads.contains(&variable)
            {
                reads.push(variable);
            }
        }
        Self {
            spelled: words.collect::<Vec<_>>().join(" "),
            reads,
        }
    }

    pub fn not_met(&self, registers: &Registers, program: &Program) -> String {
        let found = self.reads.iter().map(|&slot| {
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
        let expected = format!("expected {}", self.spelled);
        match found.is_empty() {
            true => expected,
            false => format!("{expected}, found {}", found.join(", ")),
        }
    }
}

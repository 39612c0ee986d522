//! Takes expressions and instructions of one script; appends instructions to the program.

use crate::compile::variables::{Position, Variables};
use crate::expression::fold::folded;
use crate::expression::grammar::{Expression, Node};
use crate::lexer::statement::Name;
use crate::place::{Defect, Lines};
use crate::program::Program;
use crate::program::opcode::{ConstantId, Count, FunctionId, Instruction, Slot, Target, short};

pub(crate) struct Assembler<'p, 'a> {
    pub program: &'p mut Program,
    pub variables: &'p mut Variables<'a>,
    pub lines: &'p Lines<'a>,
    /// The script item being assembled.
    pub position: Position,
}

/// Placeholder in a jump until its target is known.
pub(crate) const UNKNOWN: Target = Target(u32::MAX);

impl Assembler<'_, '_> {
    /// Appends instructions that leave the value of the expression on the stack.
    pub fn expression(&mut self, expression: Expression<'_>) -> Result<(), Defect> {
        let folded = folded(expression, &|name| self.variables.constant(name))?;
        self.part(folded)
    }

    fn part(&mut self, expression: Expression<'_>) -> Result<(), Defect> {
        let Expression { at, node } = expression;
        match node {
            Node::Constant(value) => {
                let constant = ConstantId(short(self.program.constants.len()));
                self.program.constants.push(value);
                self.put(at, Instruction::Constant { constant });
            }
            Node::Variable(name) => {
                let variable = self.resolve(Name { at, name })?;
                self.put(at, Instruction::Load { variable });
            }
            Node::Binary(operator, sides) => {
                let [left, right] = *sides;
                self.part(left)?;
                self.part(right)?;
                self.put(at, Instruction::Binary { operator });
            }
            Node::Test(test, operand) => {
                self.part(*operand)?;
                self.put(at, Instruction::Test { test });
            }
            Node::Connected(connective, sides) => {
                let [left, right] = *sides;
                self.part(left)?;
                let decide = self.put(at, Instruction::Decide { connective, target: UNKNOWN });
                self.part(right)?;
                self.put(at, Instruction::Truth {});
                self.aim(decide);
            }
            Node::Debug(operand) => {
                self.part(*operand)?;
                self.put(at, Instruction::Debug {});
            }
            Node::Call(index, arguments) => {
                let count = Count(short(arguments.len()));
                for argument in arguments {
                    self.part(argument)?;
                }
                let function = FunctionId(short(index));
                self.put(at, Instruction::Call { function, arguments: count });
            }
            Node::Case(branches, otherwise) => self.case(at, branches, *otherwise)?,
        }
        Ok(())
    }

    fn case(
        &mut self,
        at: usize,
        branches: Vec<[Expression<'_>; 2]>,
        otherwise: Expression<'_>,
    ) -> Result<(), Defect> {
        let mut leaves = Vec::new();
        for [when, then] in branches {
            self.part(when)?;
            let skip = self.put(at, Instruction::JumpUnless { target: UNKNOWN });
            self.part(then)?;
            leaves.push(self.put(at, Instruction::Jump { target: UNKNOWN }));
            self.aim(skip);
        }
        self.part(otherwise)?;
        leaves.into_iter().for_each(|leave| self.aim(leave));
        Ok(())
    }

    pub fn resolve(&mut self, name: Name<'_>) -> Result<Slot, Defect> {
        self.variables.resolve(name, self.position)
    }

    /// Appends an instruction and returns its index.
    pub fn put(&mut self, at: usize, instruction: Instruction) -> usize {
        self.program.places.push(self.lines.place(at));
        self.program.instructions.push(instruction);
        self.program.instructions.len() - 1
    }

    /// Sets the target of an earlier jump to the next instruction.
    pub fn aim(&mut self, jump: usize) {
        let here = Target(short(self.program.instructions.len()));
        self.program.instructions[jump].set_target(here);
    }
}

//! Takes the instructions of a program and one client's registers; runs them up to the next point
//! where the engine must act. This is the hot path.

use crate::class::{EXPECTATION, SCRIPT, known};
use crate::expectation;
use crate::function::FUNCTIONS;
use crate::machine::{Ending, Reply};
use crate::number::{Fault, condition, number, shown};
use crate::opcode::Instruction;
use crate::operand::{GatherId, StatementId, Unit};
use crate::operator::Connective;
use crate::program::Program;
use crate::registers::Registers;
use assay_datagen::Value;

/// Why the instructions stopped.
pub(crate) enum Stop {
    Execute(StatementId),
    Sleep {
        duration_ns: u64,
    },
    /// The answer is dealt with.
    Settled,
    End(Ending),
}

/// What ends a transaction as failed, before its place is added.
struct Failure {
    class: &'static str,
    message: String,
}

impl From<Fault> for Failure {
    fn from(Fault(message): Fault) -> Self {
        Self {
            class: SCRIPT,
            message: message.into_owned(),
        }
    }
}

impl Registers {
    /// Takes the answer to the statement under way. An error that the script does not expect ends
    /// the transaction; everything else is up to the instructions that follow.
    pub fn answer(&mut self, program: &Program, reply: &Reply<'_>) -> Stop {
        let follows = program.instructions[self.next as usize];
        match reply.error {
            Some((class, message)) if !matches!(follows, Instruction::ExpectError { .. }) => {
                let failure = Failure {
                    class: known(class),
                    message: message.to_owned(),
                };
                Stop::End(failed(program, self.next - 1, failure))
            }
            _ => self.run(program, Some(reply)),
        }
    }

    /// Runs up to the next stop. `reply` is the answer to the statement under way, if there is one.
    pub fn run(&mut self, program: &Program, reply: Option<&Reply<'_>>) -> Stop {
        loop {
            let at = self.next;
            self.next += 1;
            match self.perform(program, program.instructions[at as usize], reply) {
                Ok(None) => {}
                Ok(Some(stop)) => return stop,
                Err(failure) => return Stop::End(failed(program, at, failure)),
            }
        }
    }

    fn perform(
        &mut self,
        program: &Program,
        instruction: Instruction,
        reply: Option<&Reply<'_>>,
    ) -> Result<Option<Stop>, Failure> {
        match instruction {
            Instruction::Constant { constant } => {
                self.stack.push(program.constant(constant).clone())
            }
            Instruction::Load { variable } => {
                self.stack.push(self.read(program, variable)?.clone())
            }
            Instruction::Store { variable } => {
                let value = self.pop();
                self.write(variable, value);
            }
            Instruction::Binary { operator } => {
                let right = self.pop();
                let left = self.pop();
                self.stack.push(operator.apply(&left, &right)?);
            }
            Instruction::Test { test } => {
                let value = self.pop();
                self.stack.push(test.apply(&value)?);
            }
            Instruction::Decide { connective, target } => {
                let left = self.pop();
                if let Some(decided) = connective.decided_by(&left)? {
                    self.stack.push(decided);
                    self.jump(target);
                }
            }
            Instruction::Truth {} => {
                let right = self.pop();
                self.stack.push(Connective::by_right(&right)?);
            }
            Instruction::Call {
                function,
                arguments,
            } => {
                let first = self.stack.len() - arguments.0 as usize;
                let function = &FUNCTIONS[function.0 as usize];
                let result = function.apply(&self.stack[first..], &mut self.random)?;
                self.stack.truncate(first);
                self.stack.push(result);
            }
            Instruction::Jump { target } => self.jump(target),
            Instruction::JumpUnless { target } => {
                let value = self.pop();
                if !condition(&value)? {
                    self.jump(target);
                }
            }
            Instruction::LoopEnter { variable, target } => self.loop_enter(variable, target)?,
            Instruction::LoopNext { variable, target } => self.loop_next(variable, target)?,
            Instruction::Execute { statement } => {
                self.turns = 0;
                self.bind(program, statement)?;
                return Ok(Some(Stop::Execute(statement)));
            }
            Instruction::ExpectRows {} => {
                let expected = self.pop();
                met(expectation::rows(&expected, answer(reply))?)?;
            }
            Instruction::ExpectValue {} => {
                let expected = self.pop();
                met(expectation::value(&expected, answer(reply)))?;
            }
            Instruction::ExpectError { class } => {
                met(expectation::error(class.0, answer(reply)))?;
            }
            Instruction::Gather { gather } => self.gather(program, gather, answer(reply))?,
            Instruction::Settle {} => return Ok(Some(Stop::Settled)),
            Instruction::Sleep { unit } => {
                self.turns = 0;
                let duration_ns = duration_ns(&self.pop(), unit)?;
                return Ok(Some(Stop::Sleep { duration_ns }));
            }
            Instruction::Abort {} => return Ok(Some(Stop::End(Ending::Aborted))),
            Instruction::End {} => return Ok(Some(Stop::End(Ending::Done))),
        }
        Ok(None)
    }

    fn gather(
        &mut self,
        program: &Program,
        gather: GatherId,
        reply: &Reply<'_>,
    ) -> Result<(), Failure> {
        let Some(cells) = reply.first_row.filter(|_| reply.rows == 1) else {
            return met(Some(format!(
                "\\gset expects one row, found {}",
                reply.rows
            )));
        };
        for (wanted, slot) in &program.gather(gather).targets {
            let exact = reply.columns.iter().position(|column| column == wanted);
            let found = exact.or_else(|| {
                reply
                    .columns
                    .iter()
                    .position(|column| column.eq_ignore_ascii_case(wanted))
            });
            if let Some(cell) = found.and_then(|index| cells.get(index)) {
                self.write(*slot, expectation::cell(cell.as_deref()));
            }
        }
        Ok(())
    }
}

fn answer<'r, 'a>(reply: Option<&'r Reply<'a>>) -> &'r Reply<'a> {
    reply.expect("what speaks of an answer stands between Execute and Settle")
}

fn met(difference: Option<String>) -> Result<(), Failure> {
    difference.map_or(Ok(()), |message| {
        Err(Failure {
            class: EXPECTATION,
            message,
        })
    })
}

fn failed(program: &Program, at: u32, Failure { class, message }: Failure) -> Ending {
    Ending::Failed {
        class,
        message: format!("{}: {message}", program.place_of(at)),
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "the bounds are tested before"
)]
fn duration_ns(value: &Value, unit: Unit) -> Result<u64, Fault> {
    let duration_ns = number(value)?.double() * f64::from(unit.nanoseconds());
    if (0.0..u64::MAX as f64).contains(&duration_ns) {
        Ok(duration_ns as u64)
    } else {
        Err(Fault::of(format!(
            "expected a duration of zero or more, found {}",
            shown(value)
        )))
    }
}

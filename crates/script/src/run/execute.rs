//! Takes the instructions of a program and one client's registers; runs them up to the next point
//! where the engine must act. This is the hot path.

use crate::expression::function::arguments::{check_arguments, check_result, work};
use crate::expression::function::{Arguments, FUNCTIONS};
use crate::expression::number::{Fault, condition, number, plain, shown, typed, whole};
use crate::expression::operator::Connective;
use crate::program::opcode::{Deferred, GatherId, Instruction, StatementId, Unit};
use crate::program::shell::{Shell, ShellCommand, ShellResult};
use crate::program::{Gathering, Program};
use crate::reply::{Ending, Reply, known};
use crate::run::expectation;
use crate::run::expectation::not_met;
use crate::run::registers::Registers;
use assay_values::{ErrorClass, Value};

impl Registers {
    /// Takes the answer to the current statement. An error that the script does not expect ends
    /// the transaction; any other answer is passed to the instructions that follow.
    pub fn answer(&mut self, program: &Program, reply: &Reply<'_>) -> Stop {
        let follows = program.instructions[self.next as usize];
        match reply.error {
            Some((class, message)) if !matches!(follows, Instruction::ExpectError { .. }) => {
                let place = program.place_of(self.next - 1);
                Stop::Failed(Failure::of(known(class), message).at(&place))
            }
            // Until it is settled, no statement is bound.
            _ => self.run(program, Some(reply), &mut Vec::new()),
        }
    }

    /// Takes the end of the command that was run. A failure ends the transaction.
    pub fn ran(&mut self, program: &Program, result: ShellResult) -> Result<(), Box<Failure>> {
        let ShellResult(result) = result;
        let stored = result
            .map_err(|fault| Box::<Failure>::from(fault).at(&program.place_of(self.next - 1)))?;
        if let Some((slot, value)) = stored {
            self.write(slot, value);
        }
        Ok(())
    }

    /// Whether nothing of the script is left.
    pub fn is_at_end(&self, program: &Program) -> bool {
        matches!(program.instructions[self.next as usize], Instruction::End {})
    }

    /// Passes the end of a statement whose answer the script does not look at; returns false where it does.
    #[inline]
    pub fn settle(&mut self, program: &Program) -> bool {
        let follows = program.instructions[self.next as usize];
        let is_settled = matches!(follows, Instruction::Settle {});
        self.next += u32::from(is_settled);
        is_settled
    }

    /// Takes the answer to a statement of a pipeline. An error ends the transaction.
    pub fn answer_of_pipeline(
        &mut self,
        program: &Program,
        statement: u32,
        reply: &Reply<'_>,
    ) -> Result<(), Box<Failure>> {
        let sent = &program.statements[statement as usize];
        if let Some(variable) = sent.rows_changed {
            self.write(variable, changed(reply));
        }
        let dealt_with = match (reply.error, sent.gathering) {
            (Some((class, message)), _) => Err(Failure::of(known(class), message)),
            (None, None) => Ok(()),
            (None, Some(Gathering { gather, is_last })) if is_last => {
                self.gather_last(program, gather, reply);
                Ok(())
            }
            (None, Some(Gathering { gather, .. })) => self.gather(program, gather, reply),
        };
        dealt_with.map_err(|failure| {
            let path = &program.scripts[sent.script as usize].path;
            failure.at(&format!("{path}:{}:{}", sent.line, sent.column))
        })
    }

    /// Runs up to the next stop. `reply` is the answer to the current statement, if there is one; the values of the
    /// next statement are bound in `values`.
    pub fn run(
        &mut self,
        program: &Program,
        reply: Option<&Reply<'_>>,
        values: &mut Vec<Value>,
    ) -> Stop {
        loop {
            let at = self.next;
            self.next += 1;
            let instruction = program.instructions[at as usize];
            if self.compute(program, instruction) {
                continue;
            }
            match self.perform(program, instruction, reply, values) {
                Ok(None) => {}
                Ok(Some(stop)) => return stop,
                Err(failure) => return Stop::Failed(failure.at(&program.place_of(at))),
            }
        }
    }

    /// The fast path of most instructions: integer arithmetic. Returns false, with nothing changed, if the
    /// operands are not integers or there is no result. Integers are unpacked and repacked, because copying a
    /// whole `Value` right after it was written stalls the processor (store forwarding).
    #[inline]
    fn compute(&mut self, program: &Program, instruction: Instruction) -> bool {
        match instruction {
            Instruction::Constant { constant } => match program.constant(constant) {
                Value::Int(number) => self.stack.push(Value::Int(*number)),
                other => self.stack.push(other.clone()),
            },
            Instruction::Load { variable } => match self.whole(variable) {
                Some(number) => self.stack.push(Value::Int(number)),
                None => return false,
            },
            Instruction::Store { variable } => {
                let [.., Value::Int(number)] = self.stack[..] else {
                    return false;
                };
                self.drop_whole(1);
                self.write_whole(variable, number);
            }
            Instruction::Binary { operator } => {
                let [.., Value::Int(left), Value::Int(right)] = self.stack[..] else {
                    return false;
                };
                let Some(number) = operator.whole(left, right) else {
                    return false;
                };
                self.drop_whole(2);
                self.stack.push(Value::Int(number));
            }
            Instruction::Call { function, arguments } => {
                let count = arguments.0 as usize;
                let taken = &self.stack[self.stack.len() - count..];
                let function = &FUNCTIONS[function.0 as usize];
                let Some(number) = function.apply_whole(taken, &mut self.random) else {
                    return false;
                };
                self.drop_whole(count);
                self.stack.push(Value::Int(number));
            }
            _ => return false,
        }
        true
    }

    fn perform(
        &mut self,
        program: &Program,
        instruction: Instruction,
        reply: Option<&Reply<'_>>,
        values: &mut Vec<Value>,
    ) -> Result<Option<Stop>, Box<Failure>> {
        match instruction {
            Instruction::Constant { .. } => unreachable!("`compute` handles these"),
            Instruction::Store { variable } => {
                let value = self.pop();
                self.write(variable, value);
            }
            Instruction::Load { variable } => {
                let value = self.read(program, variable)?.clone();
                self.worked(work(&value));
                self.stack.push(value);
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
            Instruction::Call { function, arguments } => {
                let count = arguments.0 as usize;
                let function = &FUNCTIONS[function.0 as usize];
                let taken = &self.stack[self.stack.len() - count..];
                if function.joins {
                    check_arguments(function.name, taken)?;
                }
                let result = function.apply(Arguments::Values(taken), &mut self.random)?;
                check_result(function.name, &result)?;
                self.worked(work(&result));
                self.replace(count, result);
            }
            Instruction::Jump { target } => self.jump(target),
            Instruction::JumpUnless { target } => {
                let value = self.pop();
                if !condition(&value)? {
                    self.jump(target);
                }
            }
            Instruction::LoopEnter { variable, target } => self.loop_enter(variable, target)?,
            Instruction::LoopNext { variable, target } => {
                if self.loop_next(variable, target)? {
                    return Ok(Some(Stop::Sleep { duration_ns: 0, is_part_of_latency: true }));
                }
            }
            Instruction::Choose { choice } => {
                self.choose(program, &program.choices[choice.0 as usize])?;
            }
            Instruction::Queue { statement } => {
                let statement = self.take_chosen(statement);
                self.bind(program, statement, values)?;
                return Ok(Some(Stop::Queue(statement)));
            }
            Instruction::Sync {} => {
                self.acted();
                return Ok(Some(Stop::Sync));
            }
            Instruction::Execute { statement } => {
                self.acted();
                let statement = self.take_chosen(statement);
                self.bind(program, statement, values)?;
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
            Instruction::Assert { assertion } => {
                let value = self.pop();
                if !condition(&value)? {
                    let asserted = &program.assertions[assertion.0 as usize];
                    let message = not_met(asserted, self, program);
                    return Err(Failure::of(ErrorClass::Expectation.word(), &message));
                }
            }
            Instruction::TakeNumber { variable, numbers } => {
                let number = self.take_number(program, numbers);
                self.write(variable, number);
            }
            Instruction::Acknowledged { variable, numbers } => {
                let count = program.shared_numbers.acknowledged(numbers.0 as usize);
                self.write(variable, whole(count));
            }
            Instruction::BeginAt { place } => program.begun_levels.mark(place.0 as usize),
            Instruction::Defer { deferral } => {
                let deferral = &program.deferrals[deferral.0 as usize];
                let values = deferral.variables.iter().map(|&slot| {
                    let value = self.read(program, slot)?.clone();
                    Ok((slot, value))
                });
                return Ok(Some(Stop::Defer(Deferred {
                    script: deferral.script,
                    values: values.collect::<Result<_, Fault>>()?,
                })));
            }
            Instruction::Gather { gather } => self.gather(program, gather, answer(reply))?,
            Instruction::GatherPath { path } => {
                let path = &program.paths[path.0 as usize];
                let value = path
                    .value(answer(reply))
                    .map_err(|message| Failure::of(ErrorClass::Expectation.word(), &message))?;
                self.write(path.slot, value);
            }
            Instruction::GatherLast { gather } => self.gather_last(program, gather, answer(reply)),
            Instruction::Settle {} => return Ok(Some(Stop::Settled)),
            Instruction::SettleChanged { variable } => {
                self.write(variable, changed(answer(reply)));
                return Ok(Some(Stop::Settled));
            }
            Instruction::Sleep { unit } => {
                self.acted();
                return Ok(Some(Stop::Sleep {
                    duration_ns: duration_ns(&self.pop(), unit)?,
                    is_part_of_latency: true,
                }));
            }
            Instruction::Rest { unit } => {
                self.acted();
                return Ok(Some(Stop::Sleep {
                    duration_ns: duration_ns(&self.pop(), unit)?,
                    is_part_of_latency: false,
                }));
            }
            Instruction::Draw { distribution } => {
                let (_, distribution) = program.distributions[distribution.0 as usize];
                let seconds = distribution.draw(&mut self.random).as_secs_f64();
                self.stack.push(Value::Double(seconds));
            }
            Instruction::Shell { command } => {
                self.acted();
                let shell = &program.shells[command.0 as usize];
                return Ok(Some(Stop::Run(ShellCommand {
                    line: self.command_line(program, shell)?,
                    into: shell.into,
                })));
            }
            Instruction::Debug {} => {
                let shown = self.stack.last().map(typed).unwrap_or_default();
                eprintln!("debug({}): {shown}", program.place_of(self.next - 1));
            }
            Instruction::Abort { target } => {
                self.jump(target);
                return Ok(Some(Stop::Aborted));
            }
            Instruction::End {} => return Ok(Some(Stop::Done)),
        }
        Ok(None)
    }

    /// The words of a shell command, with the values of its variables.
    fn command_line(&self, program: &Program, shell: &Shell) -> Result<String, Fault> {
        let words = shell.words.iter().map(|word| match word {
            Ok(text) => Ok(text.clone()),
            Err(slot) => Ok(plain(self.read(program, *slot)?).into_owned()),
        });
        Ok(words.collect::<Result<Vec<_>, Fault>>()?.join(" "))
    }
}

fn answer<'r, 'a>(reply: Option<&'r Reply<'a>>) -> &'r Reply<'a> {
    reply.expect("instructions that read an answer are between Execute and Settle")
}

fn met(difference: Option<String>) -> Result<(), Box<Failure>> {
    difference.map_or(Ok(()), |message| Err(Failure::of(ErrorClass::Expectation.word(), &message)))
}

/// How many rows a statement changed.
fn changed(reply: &Reply<'_>) -> Value {
    whole(reply.affected)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "the bounds are checked before"
)]
pub(crate) fn duration_ns(value: &Value, unit: Unit) -> Result<u64, Fault> {
    let duration_ns = number(value)?.double() * f64::from(unit.nanoseconds());
    if (0.0..u64::MAX as f64).contains(&duration_ns) {
        Ok(duration_ns as u64)
    } else {
        Err(Fault::of(format!("expected a duration of zero or more, found {}", shown(value))))
    }
}

impl Registers {
    /// Stores the columns of the answer's only row.
    pub(super) fn gather(
        &mut self,
        program: &Program,
        gather: GatherId,
        reply: &Reply<'_>,
    ) -> Result<(), Box<Failure>> {
        let Some(cells) = reply.first_row.filter(|_| reply.rows == 1) else {
            return met(Some(format!("\\gset expects one row, found {}", reply.rows)));
        };
        self.gather_row(program, gather, reply, cells);
        Ok(())
    }

    /// Stores the columns of the last row, if there is one.
    pub(super) fn gather_last(&mut self, program: &Program, gather: GatherId, reply: &Reply<'_>) {
        if let Some(cells) = reply.last_row {
            self.gather_row(program, gather, reply, cells);
        }
    }

    fn gather_row(
        &mut self,
        program: &Program,
        gather: GatherId,
        reply: &Reply<'_>,
        cells: &[Option<Box<[u8]>>],
    ) {
        let columns = reply.columns;
        for (name, slot) in &program.gather(gather).targets {
            let exact = columns.iter().position(|column| column == name);
            let found = exact
                .or_else(|| columns.iter().position(|column| column.eq_ignore_ascii_case(name)));
            if let Some((index, cell)) = found.and_then(|index| Some((index, cells.get(index)?))) {
                let of = reply.types.get(index).copied().unwrap_or_default();
                self.write(*slot, of.value(cell.as_deref()));
            }
        }
    }
}

/// Why the instructions stopped.
pub(crate) enum Stop {
    Execute(StatementId),
    Queue(StatementId),
    Sync,
    Sleep {
        duration_ns: u64,
        is_part_of_latency: bool,
    },
    Defer(Deferred),
    Run(ShellCommand),
    /// The answer has been examined.
    Settled,
    Done,
    Aborted,
    Failed(Box<Failure>),
}

/// Why a transaction failed. Boxed, because it is rare and large, and every instruction
/// could return it.
pub(crate) struct Failure {
    class: &'static str,
    message: String,
}

impl Failure {
    pub fn of(class: &'static str, message: &str) -> Box<Self> {
        let message = message.to_owned();
        Box::new(Self { class, message })
    }

    /// Puts the place of an instruction or of a statement before the message.
    pub fn at(mut self: Box<Self>, place: &str) -> Box<Self> {
        self.message = format!("{place}: {}", self.message);
        self
    }

    pub fn ending(self) -> Ending {
        Ending::Failed { class: self.class, message: self.message }
    }
}

impl From<Fault> for Box<Failure> {
    fn from(Fault(message): Fault) -> Self {
        Failure::of(ErrorClass::Script.word(), &message)
    }
}

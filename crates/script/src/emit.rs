//! Takes the items of one script, one after the other; appends what they come to to the program.

use crate::assemble::{Assembler, UNKNOWN};
use crate::blocks::Blocks;
use crate::command::Command;
use crate::compile::short;
use crate::items::{Content, Item};
use crate::opcode::Instruction;
use crate::operand::{Class, GatherId, Slot, StatementId, Target};
use crate::place::Defect;
use crate::program::{Gather, Need, Statement};
use crate::statement::Bound;

/// Appends a whole script: its items, then the end of the transaction.
pub(crate) fn script<'a>(assembler: Assembler<'_, 'a>, items: Vec<Item<'a>>) -> Result<(), Defect> {
    let mut emitter = Emitter {
        blocks: Blocks::new(assembler.lines),
        first_statement: short(assembler.program.statements.len()),
        under_answer: None,
        assembler,
    };
    let end = items.last().map_or(0, |item| item.at);
    for (number, item) in items.into_iter().enumerate() {
        emitter.assembler.position.item = number;
        emitter.item(item)?;
    }
    emitter.blocks.all_closed()?;
    emitter.settle();
    emitter.assembler.put(end, Instruction::End {});
    Ok(())
}

struct Emitter<'p, 'a> {
    assembler: Assembler<'p, 'a>,
    blocks: Blocks<'p, 'a>,
    first_statement: u32,
    /// The statement whose answer may still be spoken of.
    under_answer: Option<UnderAnswer>,
}

struct UnderAnswer {
    at: usize,
    must_be_error: bool,
    must_have_rows: bool,
}

impl<'a> Emitter<'_, 'a> {
    fn item(&mut self, item: Item<'a>) -> Result<(), Defect> {
        let at = item.at;
        match item.content {
            Content::Statement(bound) => {
                self.settle();
                self.statement(at, bound)
            }
            Content::Command(command) if command.follows_statement() => self.of_answer(at, command),
            Content::Command(command) => {
                self.settle();
                self.command(at, command)
            }
        }
    }

    /// Ends what is said of the answer to the last statement.
    fn settle(&mut self) {
        if let Some(UnderAnswer { at, .. }) = self.under_answer.take() {
            self.assembler.put(at, Instruction::Settle {});
        }
    }

    fn statement(&mut self, at: usize, bound: Bound<'a>) -> Result<(), Defect> {
        let resolve = |&name| self.assembler.resolve(name);
        let parameters: Vec<Slot> = bound.names.iter().map(resolve).collect::<Result<_, _>>()?;
        let place = self.assembler.lines.place(at);
        let statements = &mut self.assembler.program.statements;
        let id = short(statements.len());
        statements.push(Statement {
            script: short(self.assembler.position.script),
            index_in_script: id - self.first_statement,
            text: bound.text,
            parameter_count: short(parameters.len()),
            line: place.line,
            column: place.column,
            need: Need::Count,
            parameters,
        });
        self.assembler.put(
            at,
            Instruction::Execute {
                statement: StatementId(id),
            },
        );
        self.under_answer = Some(UnderAnswer {
            at,
            must_be_error: false,
            must_have_rows: false,
        });
        Ok(())
    }

    fn of_answer(&mut self, at: usize, command: Command<'a>) -> Result<(), Defect> {
        let Some(answer) = &mut self.under_answer else {
            return Err(
                Defect::new(at, "expected a statement right before this line")
                    .hint("\\gset and \\expect speak of the answer to the statement before them"),
            );
        };
        let is_error = matches!(command, Command::ExpectError(_));
        if answer.must_be_error || (is_error && answer.must_have_rows) {
            return Err(Defect::new(
                at,
                "expected no further \\gset or \\expect for this statement",
            )
            .hint("an answer is one error, or it has rows"));
        }
        if is_error {
            answer.must_be_error = true;
        } else {
            answer.must_have_rows = true;
        }
        if matches!(command, Command::Gset { .. } | Command::ExpectValue(_)) {
            let statement = self.assembler.program.statements.last_mut();
            statement.expect("an answer belongs to a statement").need = Need::Rows;
        }
        let instruction = match command {
            Command::Gset { prefix } => {
                let gathers = &mut self.assembler.program.gathers;
                let known = gathers.iter().position(|gather| gather.prefix == prefix);
                let index = known.unwrap_or_else(|| {
                    gathers.push(Gather {
                        prefix: prefix.to_owned(),
                        targets: Vec::new(),
                    });
                    gathers.len() - 1
                });
                Instruction::Gather {
                    gather: GatherId(short(index)),
                }
            }
            Command::ExpectRows(expected) => {
                self.assembler.expression(expected)?;
                Instruction::ExpectRows {}
            }
            Command::ExpectValue(expected) => {
                self.assembler.expression(expected)?;
                Instruction::ExpectValue {}
            }
            Command::ExpectError(class) => Instruction::ExpectError {
                class: Class(class),
            },
            other => unreachable!("{other:?} does not follow a statement"),
        };
        self.assembler.put(at, instruction);
        Ok(())
    }

    fn command(&mut self, at: usize, command: Command<'a>) -> Result<(), Defect> {
        let Self {
            assembler, blocks, ..
        } = self;
        match command {
            Command::Set { name, value } => {
                assembler.expression(value)?;
                let variable = assembler.variables.slot(name.name);
                assembler.put(at, Instruction::Store { variable });
            }
            Command::If(condition) => {
                assembler.expression(condition)?;
                let skip = assembler.put(at, Instruction::JumpUnless { target: UNKNOWN });
                blocks.open_if(at, skip);
            }
            Command::Elif(condition) => {
                let leave = assembler.put(at, Instruction::Jump { target: UNKNOWN });
                assembler.aim(blocks.next_branch(at, "\\elif", leave)?);
                assembler.expression(condition)?;
                blocks.skip_with(assembler.put(at, Instruction::JumpUnless { target: UNKNOWN }));
            }
            Command::Else => {
                let leave = assembler.put(at, Instruction::Jump { target: UNKNOWN });
                assembler.aim(blocks.next_branch(at, "\\else", leave)?);
            }
            Command::Endif => {
                blocks
                    .close_if(at)?
                    .into_iter()
                    .for_each(|jump| assembler.aim(jump));
            }
            Command::For { name, from, to } => {
                assembler.expression(from)?;
                assembler.expression(to)?;
                let variable = assembler.variables.slot(name.name);
                let enter = Instruction::LoopEnter {
                    variable,
                    target: UNKNOWN,
                };
                blocks.open_for(at, assembler.put(at, enter), variable);
            }
            Command::Endfor => {
                let (enter, variable) = blocks.close_for(at)?;
                let target = Target(short(enter + 1));
                assembler.put(at, Instruction::LoopNext { variable, target });
                assembler.aim(enter);
            }
            Command::Sleep { duration, unit } => {
                assembler.expression(duration)?;
                assembler.put(at, Instruction::Sleep { unit });
            }
            Command::Abort => _ = assembler.put(at, Instruction::Abort {}),
            other => unreachable!("{other:?} follows a statement"),
        }
        Ok(())
    }
}

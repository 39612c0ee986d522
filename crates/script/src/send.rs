//! Takes statements and what is said of their answers; appends the instructions that send them.
//!
//! A statement on its own is executed, its answer examined and settled. One of a pipeline, or of several
//! that `\;` combines, is queued; its answer is dealt with when it comes out of the pipeline.

use crate::choices::Chosen;
use crate::command::Command;
use crate::compile::short;
use crate::emit::Emitter;
use crate::nearest::nearest;
use crate::opcode::Instruction;
use crate::operand::{Class, GatherId, Slot, StatementId};
use crate::place::Defect;
use crate::program::{Gather, Gathering, Need, Statement};
use crate::statement::Bound;
use std::ops::Range;

/// What was sent last and is not settled yet.
pub(crate) struct UnderAnswer {
    at: usize,
    /// In the list of statements, for each statement as it is written: all its choices.
    sent: Vec<Range<usize>>,
    must_be_error: bool,
    must_have_rows: bool,
}

impl UnderAnswer {
    fn is_combined(&self) -> bool {
        self.sent.len() > 1
    }
}

impl<'a> Emitter<'_, 'a> {
    /// Ends what is said of the answer to what was sent last.
    pub fn settle(&mut self) {
        if let Some(answer) = self.under_answer.take() {
            let end = match answer.is_combined() {
                true => Instruction::Sync {},
                false => Instruction::Settle {},
            };
            self.assembler.put(answer.at, end);
        }
    }

    /// One statement, or several that are combined.
    pub fn statements(&mut self, at: usize, bounds: Vec<Bound<'a>>) -> Result<(), Defect> {
        let is_in_pipeline = self.blocks.pipeline().is_some();
        let is_queued = is_in_pipeline || bounds.len() > 1;
        let send = |bound: &Bound<'a>| self.send(bound, is_queued);
        let sent = bounds.iter().map(send).collect::<Result<_, _>>()?;
        if !is_in_pipeline {
            self.under_answer = Some(UnderAnswer {
                at,
                sent,
                must_be_error: false,
                must_have_rows: false,
            });
        }
        Ok(())
    }

    /// `\begin`: the statements of the system for it.
    pub fn begin(&mut self, at: usize, level: &str) -> Result<(), Defect> {
        let known = self.options.begins;
        let Some(texts) = known.get(level) else {
            let levels = known.keys().filter(|level| !level.is_empty());
            let levels: Vec<&str> = levels.map(String::as_str).collect();
            let message = match level {
                "" => "no statement is known here that begins a transaction".to_owned(),
                _ => format!("expected an isolation level, found {level}"),
            };
            let hint = match levels.is_empty() {
                true => "write the statement that begins a transaction as the system has it".into(),
                false => format!("the levels known here are {}", levels.join(", ")),
            };
            let meant = nearest(level, levels).filter(|_| !level.is_empty());
            return Err(Defect::new(at, message)
                .hint(hint)
                .perhaps(meant.map(str::to_owned)));
        };
        for text in texts {
            let mut bound = Bound::plain(text);
            bound.at = at;
            self.statements(at, vec![bound])?;
            self.settle();
        }
        Ok(())
    }

    /// Appends the statement with all its choices, and the instructions that send the chosen one.
    fn send(&mut self, bound: &Bound<'a>, is_queued: bool) -> Result<Range<usize>, Defect> {
        let resolve = |&name| self.assembler.resolve(name);
        let parameters: Vec<Slot> = bound.names.iter().map(resolve).collect::<Result<_, _>>()?;
        let Chosen { texts, choice } = self.choices(bound)?;
        let place = self.assembler.lines.place(bound.at);
        let script = short(self.assembler.position.script);
        let program = &mut *self.assembler.program;
        let first = program.statements.len();
        let binding = program.bindings;
        program.bindings += 1;
        for text in texts {
            program.statements.push(Statement {
                script,
                index_in_script: short(program.statements.len()) - self.first_statement,
                text,
                parameter_count: short(parameters.len()),
                line: place.line,
                column: place.column,
                need: Need::Count,
                parameters: parameters.clone(),
                binding,
                gathering: None,
            });
        }
        let sent = first..program.statements.len();
        if let Some(choice) = choice {
            self.assembler.put(bound.at, Instruction::Choose { choice });
        }
        let statement = StatementId(short(first));
        let instruction = match is_queued {
            true => Instruction::Queue { statement },
            false => Instruction::Execute { statement },
        };
        self.assembler.put(bound.at, instruction);
        Ok(sent)
    }

    pub fn of_answer(&mut self, at: usize, command: Command<'a>) -> Result<(), Defect> {
        if self.blocks.pipeline().is_some() {
            let message = "expected no \\gset, \\aset or \\expect within a pipeline";
            return Err(Defect::new(at, message)
                .hint("the answers come only after \\endpipeline: put the statement behind it"));
        }
        let Some(answer) = &mut self.under_answer else {
            return Err(
                Defect::new(at, "expected a statement right before this line").hint(
                    "\\gset, \\aset and \\expect speak of the answer to the statement before them",
                ),
            );
        };
        let is_error = matches!(command, Command::ExpectError(_));
        if answer.must_be_error || (is_error && answer.must_have_rows) {
            return Err(Defect::new(
                at,
                "expected no further \\gset, \\aset or \\expect for this statement",
            )
            .hint("an answer is one error, or it has rows"));
        }
        answer.must_be_error |= is_error;
        answer.must_have_rows |= !is_error;
        if answer.is_combined() {
            return self.of_combined_answers(at, &command);
        }
        let needs_cells = !matches!(command, Command::ExpectRows(_) | Command::ExpectError(_));
        if needs_cells {
            let statements = answer.sent[0].clone();
            for statement in &mut self.assembler.program.statements[statements] {
                statement.need = Need::Rows;
            }
        }
        let instruction = match command {
            Command::Gset { prefix } => Instruction::Gather {
                gather: self.gather(prefix),
            },
            Command::Aset { prefix } => Instruction::GatherLast {
                gather: self.gather(prefix),
            },
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

    /// `\gset` speaks of the last of them, `\aset` of all.
    fn of_combined_answers(&mut self, at: usize, command: &Command<'a>) -> Result<(), Defect> {
        let (prefix, is_last) = match command {
            Command::Gset { prefix } => (prefix, false),
            Command::Aset { prefix } => (prefix, true),
            _ => {
                return Err(
                    Defect::new(at, "expected no \\expect for statements combined by \\;")
                        .hint("end the statement of which it speaks, and the one before, with ;"),
                );
            }
        };
        let gather = self.gather(prefix);
        let answer = self.under_answer.as_ref();
        let sent = &answer.expect("the caller has seen it").sent;
        let first = if is_last { 0 } else { sent.len() - 1 };
        for statement in sent[first..].iter().cloned().flatten() {
            let statement = &mut self.assembler.program.statements[statement];
            statement.need = Need::Rows;
            statement.gathering = Some(Gathering { gather, is_last });
        }
        Ok(())
    }

    fn gather(&mut self, prefix: &str) -> GatherId {
        let gathers = &mut self.assembler.program.gathers;
        let known = gathers.iter().position(|gather| gather.prefix == prefix);
        let index = known.unwrap_or_else(|| {
            gathers.push(Gather {
                prefix: prefix.to_owned(),
                targets: Vec::new(),
            });
            gathers.len() - 1
        });
        GatherId(short(index))
    }
}

//! Takes a command that applies to the statement before it (`\gset`, `\aset`, `\expect`, `\atomic`); appends
//! the instructions that examine the answer.

use crate::commands::Command;
use crate::compile::emit::Emitter;
use crate::lexer::Effect;
use crate::place::Defect;
use crate::program::document_path::DocumentPath;
use crate::program::opcode::{Class, GatherId, Instruction, PathId, short};
use crate::program::{Gather, Gathering, Need};

impl<'a> Emitter<'_, 'a> {
    pub fn of_answer(&mut self, at: usize, command: Command<'a>) -> Result<(), Defect> {
        if self.blocks.pipeline().is_some() {
            let message = "expected no \\gset, \\aset, \\expect or \\atomic within a pipeline";
            return Err(Defect::new(at, message)
                .hint("the answers arrive only after \\endpipeline: move the statement after it"));
        }
        let Some(answer) = &mut self.pending_statement else {
            return Err(
                Defect::new(at, "expected a statement right before this line").hint(
                    "\\gset, \\aset and \\expect apply to the answer to the statement before them, \\atomic to the statement",
                ),
            );
        };
        if matches!(command, Command::Atomic) {
            for statement in answer.sent.iter().cloned().flatten() {
                let effect = &mut self.assembler.program.statements[statement].effect;
                if *effect == Effect::CommitsItself {
                    *effect = Effect::Atomic;
                }
            }
            return Ok(());
        }
        let is_error = matches!(command, Command::ExpectError(_));
        if answer.must_be_error || (is_error && answer.must_have_rows) {
            return Err(Defect::new(
                at,
                "expected no further \\gset, \\aset or \\expect for this statement",
            )
            .hint("an answer is either one error, or it has rows"));
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
            Command::Gset { prefix } => Instruction::Gather { gather: self.gather(prefix) },
            Command::GsetPath { name, spelled, steps } => {
                let slot = self.assembler.variables.slot(name.name);
                let paths = &mut self.assembler.program.paths;
                let path = PathId(short(paths.len()));
                paths.push(DocumentPath { spelled: spelled.to_owned(), steps, slot });
                Instruction::GatherPath { path }
            }
            Command::Aset { prefix } => Instruction::GatherLast { gather: self.gather(prefix) },
            Command::ExpectRows(expected) => {
                self.assembler.expression(expected)?;
                Instruction::ExpectRows {}
            }
            Command::ExpectValue(expected) => {
                self.assembler.expression(expected)?;
                Instruction::ExpectValue {}
            }
            Command::ExpectError(class) => Instruction::ExpectError { class: Class(class) },
            other => unreachable!("{other:?} does not follow a statement"),
        };
        self.assembler.put(at, instruction);
        Ok(())
    }

    /// `\gset` applies to the last of the combined statements, `\aset` to all.
    fn of_combined_answers(&mut self, at: usize, command: &Command<'a>) -> Result<(), Defect> {
        let (prefix, is_last) = match command {
            Command::Gset { prefix } => (prefix, false),
            Command::Aset { prefix } => (prefix, true),
            other => {
                let command_name = match other {
                    Command::GsetPath { .. } => "\\gset path",
                    _ => "\\expect",
                };
                let message = format!("expected no {command_name} for statements combined by \\;");
                return Err(Defect::new(at, message)
                    .hint("end its statement, and the statement before, with ;"));
            }
        };
        let gather = self.gather(prefix);
        let answer = self.pending_statement.as_ref();
        let sent = &answer.expect("the caller has checked it").sent;
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
            gathers.push(Gather { prefix: prefix.to_owned(), targets: Vec::new() });
            gathers.len() - 1
        });
        GatherId(short(index))
    }
}

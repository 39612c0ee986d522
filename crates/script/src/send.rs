//! Takes statements and what is said of their answers; appends the instructions that send them.
//!
//! A statement on its own is executed, its answer examined and settled. One of a pipeline, or of several
//! that `\;` combines, is queued; its answer is dealt with when it comes out of the pipeline.

use crate::command::Command;
use crate::document_path::DocumentPath;
use crate::emit::Emitter;
use crate::lexer::{Lexer, StatementKind};
use crate::nearest::nearest;
use crate::opcode::Instruction;
use crate::operand::{Class, GatherId, PathId, StatementId, short};
use crate::place::Defect;
use crate::program::{Gather, Gathering, Need, Parameter, Statement};
use crate::statement::{Name, Part, Written};
use crate::under_answer::UnderAnswer;
use crate::values::Values;
use assay_values::Piece;
use std::ops::Range;

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
    pub fn statements(&mut self, at: usize, written: Vec<Written<'a>>) -> Result<(), Defect> {
        let is_queued = self.blocks.pipeline().is_some() || written.len() > 1;
        let send = |written: Written<'a>| self.send(written, None, is_queued);
        let sent = written.into_iter().map(send).collect::<Result<_, _>>()?;
        self.await_answer(at, sent);
        Ok(())
    }

    /// What is done by the driver: it begins a transaction, or commits one.
    pub fn operation(&mut self, at: usize, kind: StatementKind, text: &str) -> Result<(), Defect> {
        let mut written = Written::plain(text);
        written.at = at;
        let is_queued = self.blocks.pipeline().is_some();
        let sent = self.send(written, Some(kind), is_queued)?;
        self.await_answer(at, vec![sent]);
        Ok(())
    }

    /// What follows may speak of the answer; that of a pipeline comes only at its end.
    fn await_answer(&mut self, at: usize, sent: Vec<Range<usize>>) {
        if self.blocks.pipeline().is_none() {
            self.under_answer = Some(UnderAnswer {
                at,
                sent,
                must_be_error: false,
                must_have_rows: false,
            });
        }
    }

    /// `\begin`: the driver begins, or at a level the statements that the system has for it.
    pub fn begin(&mut self, at: usize, level: &str) -> Result<(), Defect> {
        if level.is_empty() {
            self.operation(at, StatementKind::Begin, "\\begin")?;
            self.settle();
            return Ok(());
        }
        let known = self.options.begins;
        let Some(texts) = known.get(level) else {
            let levels: Vec<&str> = known.keys().map(String::as_str).collect();
            let message = format!("expected an isolation level, found {level}");
            let hint = match levels.is_empty() {
                true => "write the statement that begins a transaction as the system has it".into(),
                false => format!("the levels known here are {}", levels.join(", ")),
            };
            let meant = nearest(level, levels);
            return Err(Defect::new(at, message)
                .hint(hint)
                .perhaps(meant.map(str::to_owned)));
        };
        for text in texts {
            let mut written = Written::plain(text);
            written.at = at;
            self.statements(at, vec![written])?;
            self.settle();
        }
        Ok(())
    }

    /// Appends the statement with all its choices, and the instructions that send the chosen one. An
    /// `operation` of the driver is of that kind, and its text is for people.
    fn send(
        &mut self,
        written: Written<'a>,
        operation: Option<StatementKind>,
        is_queued: bool,
    ) -> Result<Range<usize>, Defect> {
        let at = written.at;
        let choices = self.choices(&written)?;
        let (parts, parameters) = self.values(written)?;
        let place = self.assembler.lines.place(at);
        let script = short(self.assembler.position.script);
        let program = &mut *self.assembler.program;
        let first = program.statements.len();
        let binding = program.bindings;
        program.bindings += 1;
        for number in 0..choices.count {
            let identifier = |name: &str| choices.identifier(number, name);
            let (mut pieces, text) = chosen(&parts, self.options.lexer, identifier);
            if operation.is_some() {
                pieces.clear();
            }
            program.statements.push(Statement {
                script,
                index_in_script: short(program.statements.len()) - self.first_statement,
                kind: operation.unwrap_or_else(|| self.options.lexer.kind(&text)),
                is_operation: operation.is_some(),
                pieces,
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
        if let Some(choice) = choices.choice {
            self.assembler.put(at, Instruction::Choose { choice });
        }
        let statement = StatementId(short(first));
        let instruction = match is_queued {
            true => Instruction::Queue { statement },
            false => Instruction::Execute { statement },
        };
        self.assembler.put(at, instruction);
        Ok(sent)
    }

    /// Decides for each `:name` whether it is a value: the parts without those that are text, and the
    /// variables in order.
    fn values(&mut self, written: Written<'a>) -> Result<(Vec<Part<'a>>, Vec<Parameter>), Defect> {
        let mut parts = Vec::with_capacity(written.parts.len());
        let mut parameters = Vec::new();
        for part in written.parts {
            let (name, may_be_text) = match part {
                Part::Value(name) => (name, false),
                Part::Perhaps { name, is_quoted } => match self.is_value(name, is_quoted) {
                    true => (name, true),
                    false => {
                        parts.push(Part::Text(format!(":{}", name.name)));
                        continue;
                    }
                },
                other => {
                    parts.push(other);
                    continue;
                }
            };
            let slot = self.assembler.resolve(name)?;
            if self.options.values == Values::Refused {
                let message = format!("the protocol simple binds no values, found :{}", name.name);
                return Err(Defect::new(name.at, message).hint(
                    "run this test with the protocol prepared or extended: --protocol prepared, or \
                     protocol = \"prepared\" in the workload",
                ));
            }
            parts.push(Part::Value(name));
            parameters.push(Parameter {
                slot,
                may_be_text,
                is_of_answers: self.assembler.variables.is_of_answers(name.name),
            });
        }
        Ok((parts, parameters))
    }

    /// Whether a `:name` that may be mere text is a value. One within quotes is where values are pasted;
    /// elsewhere nothing can be bound there, which is a warning.
    fn is_value(&mut self, name: Name<'a>, is_quoted: bool) -> bool {
        let position = self.assembler.position;
        if !is_quoted || self.options.values == Values::Pasted {
            return self.assembler.variables.find(name.name, position).is_some();
        }
        if self.assembler.variables.is_surely_set(name.name, position) {
            let message = format!(
                ":{} stands within quotes: it is sent as it is written, no value is bound there",
                name.name
            );
            self.warnings
                .push(Defect::new(name.at, message).hint(format!(
                    "write :{} without the quotes, or run with --protocol simple",
                    name.name
                )));
        }
        false
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
            Command::GsetPath {
                name,
                spelled,
                steps,
            } => {
                let slot = self.assembler.variables.slot(name.name);
                let paths = &mut self.assembler.program.paths;
                let path = PathId(short(paths.len()));
                paths.push(DocumentPath {
                    spelled: spelled.to_owned(),
                    steps,
                    slot,
                });
                Instruction::GatherPath { path }
            }
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
            other => {
                let what = match other {
                    Command::GsetPath { .. } => "\\gset path",
                    _ => "\\expect",
                };
                let message = format!("expected no {what} for statements combined by \\;");
                return Err(Defect::new(at, message)
                    .hint("end the statement of which it speaks, and the one before, with ;"));
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

/// The pieces of one choice, and its text with the names of its values.
fn chosen<'i>(
    parts: &[Part<'_>],
    lexer: Lexer,
    identifier: impl Fn(&str) -> &'i str,
) -> (Vec<Piece>, String) {
    let (mut pieces, mut whole) = (Vec::with_capacity(parts.len()), String::new());
    for part in parts {
        match part {
            Part::Text(text) => {
                whole.push_str(text);
                match pieces.last_mut() {
                    // A `:name` that is text after all stands beside other text.
                    Some(Piece::Text(last)) => *last = format!("{last}{text}").into(),
                    _ => pieces.push(Piece::Text(text.as_str().into())),
                }
            }
            Part::Identifier(name) => {
                let name = identifier(name.name);
                lexer.identifier(name, &mut whole);
                pieces.push(Piece::Identifier(name.into()));
            }
            Part::Value(name) | Part::Perhaps { name, .. } => {
                whole.push(':');
                whole.push_str(name.name);
                pieces.push(Piece::Value);
            }
        }
    }
    (pieces, whole)
}

//! Takes statements; appends the instructions that send them and settle their answers.
//!
//! A single statement is executed, its answer examined and settled. A statement of a pipeline, or of several
//! combined by `\;`, is queued; its answer is handled when the pipeline has been sent.

use crate::compile::emit::{Emitter, PendingStatement};
use crate::lexer::language::Values;
use crate::lexer::statement::{Name, Part, Written};
use crate::lexer::{Effect, Lexer, StatementKind};
use crate::nearest::nearest;
use crate::place::Defect;
use crate::program::opcode::{BeginId, ChoiceId, Instruction, StatementId, short};
use crate::program::{Choice, Need, Parameter, Statement};
use assay_values::Piece;
use std::collections::BTreeMap;
use std::ops::Range;

impl<'a> Emitter<'_, 'a> {
    /// Appends the end of the examination of the last answer.
    pub fn settle(&mut self) {
        if let Some(answer) = self.pending_statement.take() {
            let end = match answer.is_combined() {
                true => Instruction::Sync {},
                false => Instruction::Settle {},
            };
            self.assembler.put(answer.at, end);
        }
    }

    /// Appends one statement, or several combined statements.
    pub fn statements(&mut self, at: usize, written: Vec<Written<'a>>) -> Result<(), Defect> {
        let is_queued = self.blocks.pipeline().is_some() || written.len() > 1;
        let send = |written: Written<'a>| self.send(written, None, is_queued);
        let sent = written.into_iter().map(send).collect::<Result<_, _>>()?;
        self.await_answer(at, sent);
        Ok(())
    }

    /// Appends an operation of the driver: it begins or commits a transaction.
    pub fn operation(&mut self, at: usize, kind: StatementKind, text: &str) -> Result<(), Defect> {
        let mut written = Written::plain(text);
        written.at = at;
        let is_queued = self.blocks.pipeline().is_some();
        let sent = self.send(written, Some(kind), is_queued)?;
        self.await_answer(at, vec![sent]);
        Ok(())
    }

    /// Following commands may apply to the answer; in a pipeline the answers come only at its end.
    fn await_answer(&mut self, at: usize, sent: Vec<Range<usize>>) {
        if self.blocks.pipeline().is_none() {
            self.pending_statement =
                Some(PendingStatement { at, sent, must_be_error: false, must_have_rows: false });
        }
    }

    /// `\begin`: an operation of the driver, or the system's statements for an isolation level.
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
                true => "write the statement with which the system begins a transaction".into(),
                false => format!("the levels known here are {}", levels.join(", ")),
            };
            let meant = nearest(level, levels);
            return Err(Defect::new(at, message).hint(hint).perhaps(meant.map(str::to_owned)));
        };
        let levels = &mut self.assembler.program.begun_levels;
        let place = levels.place(short(self.assembler.position.script), level);
        let place = BeginId(short(place));
        self.assembler.put(at, Instruction::BeginAt { place });
        for text in texts {
            let mut written = Written::plain(text);
            written.at = at;
            self.statements(at, vec![written])?;
            self.settle();
        }
        Ok(())
    }

    /// Appends the statement with all its choices, and the instructions that send the selected choice. An
    /// `operation` of the driver has that kind, and its text is only for messages.
    fn send(
        &mut self,
        written: Written<'a>,
        operation: Option<StatementKind>,
        is_queued: bool,
    ) -> Result<Range<usize>, Defect> {
        let at = written.at;
        let choices = self.choices(&written)?;
        let (parts, parameters, changes_values) = self.values(written)?;
        let place = self.assembler.lines.place(at);
        let script = short(self.assembler.position.script);
        let program = &mut *self.assembler.program;
        let first = program.statements.len();
        let binding = program.bound_values;
        program.bound_values += short(parameters.len());
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
                effect: match operation {
                    Some(_) => Effect::Atomic,
                    None => self.options.lexer.effect(&text),
                },
                is_operation: operation.is_some(),
                pieces,
                text,
                parameter_count: short(parameters.len()),
                changes_values,
                line: place.line,
                column: place.column,
                need: Need::Count,
                parameters: parameters.clone(),
                binding,
                gathering: None,
                rows_changed: None,
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

    /// Decides for each `:name` whether it is a value or text; returns the parts, the variables in order, and
    /// whether one of them may change in the run.
    fn values(
        &mut self,
        written: Written<'a>,
    ) -> Result<(Vec<Part<'a>>, Vec<Parameter>, bool), Defect> {
        let mut parts = Vec::with_capacity(written.parts.len());
        let mut parameters = Vec::new();
        let mut changes_values = false;
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
            let constant = self.assembler.variables.constant(name.name);
            changes_values |= constant.is_none();
            if self.options.values == Values::Refused {
                if let Some(value) = constant {
                    let mut literal = String::new();
                    self.options.lexer.literal(&value, &mut literal);
                    parts.push(Part::Text(literal));
                    continue;
                }
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
        Ok((parts, parameters, changes_values))
    }

    /// Whether a `:name` that may be plain text is a value. Within quotes it is a value if values are substituted
    /// into the text; otherwise no value can be bound there, which is a warning.
    fn is_value(&mut self, name: Name<'a>, is_quoted: bool) -> bool {
        let position = self.assembler.position;
        if !is_quoted || self.options.values == Values::Pasted {
            return self.assembler.variables.find(name.name, position).is_some();
        }
        if self.assembler.variables.is_surely_set(name.name, position) {
            let message = format!(
                ":{} is within quotes: it is sent as written, no value is bound there",
                name.name
            );
            self.warnings.push(Defect::new(name.at, message).hint(format!(
                "write :{} without the quotes, or run with --protocol simple",
                name.name
            )));
        }
        false
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
                    // A `:name` that turned out to be text joins the text around it.
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

/// The choices of a statement, numbered from 0; the last identifier changes fastest.
pub(crate) struct Choices<'o, 'a> {
    pub count: usize,
    /// `None` if the statement has no such identifiers.
    pub choice: Option<ChoiceId>,
    /// Each name once, with the list it chooses from.
    lists: Vec<(&'a str, &'o [String])>,
}

impl<'o> Choices<'o, '_> {
    /// The identifier that replaces a name in the choice of this number.
    pub fn identifier(&self, number: usize, name: &str) -> &'o str {
        let mut rest = number;
        let digits = self.lists.iter().rev().map(|&(known, list)| {
            let digit = rest % list.len();
            rest /= list.len();
            (known, list[digit].as_str())
        });
        let found = digits.into_iter().find(|&(known, _)| known == name);
        found.expect("every name was given its list").1
    }
}

/// Every client prepares every choice.
const MOST_CHOICES: usize = 10_000;

impl<'p, 'a> Emitter<'p, 'a> {
    pub fn choices(&mut self, written: &Written<'a>) -> Result<Choices<'p, 'a>, Defect> {
        // A name used twice has the same choice in both places.
        let mut lists: Vec<(&str, &[String])> = Vec::new();
        let mut by = Vec::new();
        for name in written.identifiers() {
            if lists.iter().any(|&(known, _)| known == name.name) {
                continue;
            }
            let list = list(self.options.identifiers, name)?;
            lists.push((name.name, list));
            by.push((self.assembler.resolve(name)?, short(list.len())));
        }
        let Some(Name { at, .. }) = written.identifiers().next() else {
            return Ok(Choices { count: 1, choice: None, lists });
        };
        let count = lists
            .iter()
            .try_fold(1_usize, |count, (_, list)| count.checked_mul(list.len()))
            .filter(|&count| count <= MOST_CHOICES);
        let Some(count) = count else {
            let message = "this statement has too many choices of identifiers";
            return Err(Defect::new(at, message).hint(format!(
                "every client prepares each of them; at most {MOST_CHOICES} are accepted"
            )));
        };
        let choices = &mut self.assembler.program.choices;
        choices.push(Choice { by });
        Ok(Choices { count, choice: Some(ChoiceId(short(choices.len() - 1))), lists })
    }
}

fn list<'o>(
    known: &'o BTreeMap<String, Vec<String>>,
    Name { at, name }: Name<'_>,
) -> Result<&'o [String], Defect> {
    if let Some(list) = known.get(name).filter(|list| !list.is_empty()) {
        return Ok(list);
    }
    let names: Vec<String> = known.keys().map(|name| format!(":{{{name}}}")).collect();
    let hint = match names.is_empty() {
        true => "the workload declares no [identifiers]; a value is written :name".to_owned(),
        false => format!("the identifiers of the workload are {}", names.join(", ")),
    };
    let meant = nearest(name, known.keys().map(String::as_str));
    let defect = Defect::new(at, format!("nothing declares the identifier :{{{name}}}"));
    Err(defect.hint(hint).perhaps(meant.map(|meant| format!(":{{{meant}}}"))))
}

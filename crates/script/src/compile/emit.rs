//! Takes the items of one script, in order; appends their instructions to the program.

use crate::commands::forms::command;
use crate::commands::{Command, Duration};
use crate::compile::assemble::{Assembler, UNKNOWN};
use crate::compile::blocks::Blocks;
use crate::expression::grammar::Expression;
use crate::expression::number::Fault;
use crate::lexer::language::Values;
use crate::lexer::statement::{Name, Written};
use crate::lexer::{Lexer, Part, StatementKind};
use crate::nearest::nearest;
use crate::place::Defect;
use crate::program::Assertion;
use crate::program::opcode::{
    AssertionId, Deferral, DeferralId, DistributionId, Instruction, NumbersId, ShellId, Target,
    Unit, short,
};
use crate::program::shell::{Shell, Word, Words};
use crate::run::execute::duration_ns;
use crate::{Options, Source};
use std::ops::Range;

/// Appends a whole script: its items, then the end of the transaction. Returns warnings.
pub(crate) fn script<'a>(
    assembler: Assembler<'_, 'a>,
    options: &Options<'_>,
    names: &[&'a str],
    items: Vec<Item<'a>>,
) -> Result<Vec<Defect>, Defect> {
    let mut emitter = Emitter {
        blocks: Blocks::new(assembler.lines),
        first_statement: short(assembler.program.statements.len()),
        pending_statement: None,
        aborts: Vec::new(),
        warnings: Vec::new(),
        options,
        names,
        assembler,
    };
    let end = items.last().map_or(0, |item| item.at);
    let last_action = items.iter().rposition(|item| !is_rest(item));
    let first_rest = last_action.map_or(0, |last| last + 1);
    for (number, item) in items.into_iter().enumerate() {
        if number == first_rest {
            emitter.rest_begins();
        }
        emitter.assembler.position.item = number;
        emitter.item(item)?;
    }
    emitter.blocks.all_closed()?;
    emitter.rest_begins();
    emitter.assembler.put(end, Instruction::End {});
    Ok(emitter.warnings)
}

/// A pause that is not part of the latency.
fn is_rest(item: &Item<'_>) -> bool {
    let is_part_of_latency = match &item.content {
        Content::Command(Command::Pause {
            is_part_of_latency, ..
        }) => *is_part_of_latency,
        _ => true,
    };
    !is_part_of_latency
}

pub(crate) struct Emitter<'p, 'a> {
    pub assembler: Assembler<'p, 'a>,
    pub options: &'p Options<'p>,
    /// The names of all scripts of the run, in their order.
    pub names: &'p [&'a str],
    pub blocks: Blocks<'p, 'a>,
    pub first_statement: u32,
    /// The statement to which a following `\gset`, `\aset` or `\expect` applies.
    pub pending_statement: Option<PendingStatement>,
    /// The `\abort`s: they jump to the pauses that end the script.
    pub aborts: Vec<usize>,
    pub warnings: Vec<Defect>,
}

impl<'a> Emitter<'_, 'a> {
    /// Only pauses follow, or the end of the script.
    fn rest_begins(&mut self) {
        self.settle();
        let aborts = std::mem::take(&mut self.aborts);
        aborts
            .into_iter()
            .for_each(|abort| self.assembler.aim(abort));
    }

    fn item(&mut self, item: Item<'a>) -> Result<(), Defect> {
        let at = item.at;
        match item.content {
            Content::Statement(written) => {
                self.settle();
                self.statements(at, written)
            }
            Content::Command(command) if command.follows_statement() => self.of_answer(at, command),
            Content::Command(command) => {
                self.settle();
                self.command(at, command)
            }
        }
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
            Command::Assert(spelled, condition) => self.assert(at, spelled, condition)?,
            Command::Next { name } => {
                let numbers = assembler.program.shared_numbers.counter(name.name);
                let numbers = NumbersId(short(numbers));
                let variable = assembler.variables.slot(name.name);
                assembler.put(at, Instruction::TakeNumber { variable, numbers });
            }
            Command::Acknowledged { name, of } => {
                let numbers = assembler.program.shared_numbers.counter(of.name);
                let numbers = NumbersId(short(numbers));
                let variable = assembler.variables.slot(name.name);
                assembler.put(at, Instruction::Acknowledged { variable, numbers });
            }
            Command::Defer { script, variables } => self.defer(at, script, &variables)?,
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
            Command::Pause {
                duration,
                is_part_of_latency,
            } => {
                self.pause(at, duration, is_part_of_latency)?;
            }
            Command::Begin { level } => self.begin(at, &level)?,
            Command::Commit => self.operation(at, StatementKind::Commit, "\\commit")?,
            Command::StartPipeline if self.options.values != Values::Bound => {
                let message = "found \\startpipeline, which the protocol simple does not have";
                return Err(Defect::new(at, message)
                    .hint("run the script with --protocol extended or --protocol prepared"));
            }
            Command::StartPipeline => blocks.open_pipeline(at)?,
            Command::SyncPipeline => {
                if blocks.pipeline().is_none() {
                    return Err(Defect::new(at, "found \\syncpipeline outside a pipeline")
                        .hint("a pipeline begins with \\startpipeline"));
                }
                assembler.put(at, Instruction::Sync {});
            }
            Command::EndPipeline => {
                blocks.close_pipeline(at)?;
                assembler.put(at, Instruction::Sync {});
            }
            Command::Shell(words) => self.shell(at, &words)?,
            Command::Abort => {
                let abort = assembler.put(at, Instruction::Abort { target: UNKNOWN });
                self.aborts.push(abort);
            }
            other => unreachable!("{other:?} follows a statement"),
        }
        Ok(())
    }

    fn defer(&mut self, at: usize, script: Name<'_>, variables: &[Name<'_>]) -> Result<(), Defect> {
        let Some(number) = self.names.iter().position(|name| *name == script.name) else {
            let message = format!("expected the name of a script, found {}", script.name);
            let meant = nearest(script.name, self.names.iter().copied());
            return Err(Defect::new(script.at, message)
                .hint(format!("the scripts are {}", self.names.join(", ")))
                .perhaps(meant.map(str::to_owned)));
        };
        let slots = variables.iter().map(|&name| self.assembler.resolve(name));
        let slots = slots.collect::<Result<_, _>>()?;
        let deferral = DeferralId(short(self.assembler.program.deferrals.len()));
        self.assembler.program.deferrals.push(Deferral {
            script: short(number),
            variables: slots,
        });
        self.assembler.put(at, Instruction::Defer { deferral });
        Ok(())
    }

    fn assert(
        &mut self,
        at: usize,
        spelled: &str,
        condition: Expression<'a>,
    ) -> Result<(), Defect> {
        let before = self.assembler.program.instructions.len();
        self.assembler.expression(condition)?;
        let program = &mut self.assembler.program;
        let id = AssertionId(short(program.assertions.len()));
        let read = &program.instructions[before..];
        let asserted = assertion(spelled, read);
        program.assertions.push(asserted);
        self.assembler
            .put(at, Instruction::Assert { assertion: id });
        Ok(())
    }

    fn pause(
        &mut self,
        at: usize,
        duration: Duration<'a>,
        is_part_of_latency: bool,
    ) -> Result<(), Defect> {
        let unit = match duration {
            Duration::Computed(expression, unit) => {
                let expression_at = expression.at;
                let before = self.assembler.program.instructions.len();
                self.assembler.expression(expression)?;
                let program = &self.assembler.program;
                if let [Instruction::Constant { constant }] = program.instructions[before..] {
                    duration_ns(program.constant(constant), unit)
                        .map_err(|Fault(message)| Defect::new(expression_at, message))?;
                }
                unit
            }
            Duration::Drawn(spelled, drawn) => {
                let distributions = &mut self.assembler.program.distributions;
                let distribution = DistributionId(short(distributions.len()));
                distributions.push((spelled.to_owned(), drawn));
                self.assembler.put(at, Instruction::Draw { distribution });
                Unit::Seconds
            }
        };
        let wait = match is_part_of_latency {
            true => Instruction::Sleep { unit },
            false => Instruction::Rest { unit },
        };
        self.assembler.put(at, wait);
        Ok(())
    }

    fn shell(&mut self, at: usize, shell: &Words<'a>) -> Result<(), Defect> {
        if !self.options.allow_shell {
            let message = "found a shell command, which is not allowed here";
            return Err(Defect::new(at, message)
                .hint("if you trust the script, allow it with --allow-shell"));
        }
        let resolve = |word: &Word<'a>| match word {
            Word::Text(text) => Ok(Ok((*text).to_owned())),
            Word::Variable(name) => self.assembler.resolve(*name).map(Err),
        };
        let words = shell.words.iter().map(resolve).collect::<Result<_, _>>()?;
        let into = shell
            .into
            .map(|name| self.assembler.variables.slot(name.name));
        let shells = &mut self.assembler.program.shells;
        let command = ShellId(short(shells.len()));
        shells.push(Shell { into, words });
        self.assembler.put(at, Instruction::Shell { command });
        Ok(())
    }
}

/// The statement sent last, not settled yet.
pub(crate) struct PendingStatement {
    pub at: usize,
    /// For each statement of the source: the range of its choices in the list of statements.
    pub sent: Vec<Range<usize>>,
    pub must_be_error: bool,
    pub must_have_rows: bool,
}

impl PendingStatement {
    pub fn is_combined(&self) -> bool {
        self.sent.len() > 1
    }
}

/// The condition of an `\assert` on one line, with the variables that `instructions` read to compute it, each once.
fn assertion(spelled: &str, instructions: &[Instruction]) -> Assertion {
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

// Takes one source; returns its statements and meta commands, parsed, with names not yet resolved.

/// One statement or meta command, and where it begins.
#[derive(Debug)]
pub(crate) struct Item<'a> {
    pub at: usize,
    pub content: Content<'a>,
}

#[derive(Debug)]
pub(crate) enum Content<'a> {
    /// Several if they are combined by `\\;`.
    Statement(Vec<Written<'a>>),
    Command(Command<'a>),
}

/// Larger texts are data: data are loaded, not run as a script.
const MOST_BYTES: usize = 16 << 20;

pub(crate) fn items<'a>(
    source: &Source<'a>,
    lexer: Lexer,
    values: Values,
) -> Result<Vec<Item<'a>>, Defect> {
    let text = source.text;
    if text.len() > MOST_BYTES {
        return Err(
            Defect::new(0, format!("found {} bytes of script", text.len())).hint(format!(
                "a script has at most {MOST_BYTES} bytes; data are loaded, not run"
            )),
        );
    }
    if source.is_plain {
        let written = Written::plain(text);
        return Ok(vec![Item {
            at: 0,
            content: Content::Statement(vec![written]),
        }]);
    }
    let mut found = Vec::new();
    let mut combined = Vec::new();
    for part in lexer.parts(text)? {
        match part {
            Part::Statement { range, is_joined } => {
                combined.push(lexer.cut(text, range, values)?);
                if !is_joined {
                    found.extend(statement(&mut combined));
                }
            }
            Part::Command { name, arguments } => {
                found.extend(statement(&mut combined));
                let at = name.start - 1;
                let read = command(at, &text[name], text, arguments)?;
                let content = Content::Command(read);
                found.push(Item { at, content });
            }
        }
    }
    found.extend(statement(&mut combined));
    if found.is_empty() {
        return Err(Defect::new(
            0,
            "found no statement and no meta command in this script",
        ));
    }
    Ok(found)
}

fn statement<'a>(combined: &mut Vec<Written<'a>>) -> Option<Item<'a>> {
    let at = combined.first()?.at;
    let content = Content::Statement(std::mem::take(combined));
    Some(Item { at, content })
}

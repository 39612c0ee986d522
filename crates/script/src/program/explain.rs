//! Takes a program; returns a listing of its instructions and statements.

use crate::expression::function::FUNCTIONS;
use crate::expression::number::shown;
use crate::program::opcode::{Instruction, Opcode, Operand, Slot};
use crate::program::{Gathering, Need, Program, Script};
use std::fmt::Write as _;

/// Operands longer than this move only their own line's meaning to the right.
const WIDEST_OPERANDS: usize = 24;

impl Program {
    /// Lists every script with its instructions, one per line (number, place, opcode, operands, meaning), and
    /// the text of its statements as they are sent.
    pub fn explain(&self) -> String {
        let mut out = String::new();
        for (index, script) in self.scripts.iter().enumerate() {
            let gap = if index == 0 { "" } else { "\n" };
            put(
                &mut out,
                format_args!("{gap}script {} ({})\n", script.name, script.path),
            );
            self.explain_instructions(script, &mut out);
            self.explain_statements(script, &mut out);
        }
        out
    }

    fn explain_instructions(&self, script: &Script, out: &mut String) {
        let lines: Vec<_> = script
            .instructions
            .clone()
            .map(|number| {
                let instruction = self.instructions[number as usize];
                let place = self.places[number as usize];
                let place = format!("{}:{}", place.line, place.column);
                (
                    number,
                    place,
                    instruction.opcode(),
                    operands(instruction, self),
                )
            })
            .collect();
        let width = |of: fn(&(u32, String, &'static Opcode, String)) -> usize| {
            lines.iter().map(of).max().unwrap_or(0)
        };
        let places = width(|line| line.1.len());
        let names = width(|line| line.2.name.len());
        let operands = width(|line| line.3.chars().count()).min(WIDEST_OPERANDS);
        for (number, place, opcode, shown) in &lines {
            put(
                out,
                format_args!(
                    "{number:4}  {place:places$}  {:names$}  {shown:operands$}  {}\n",
                    opcode.name, opcode.synopsis
                ),
            );
        }
    }

    fn explain_statements(&self, script: &Script, out: &mut String) {
        for id in script.statement_ids.clone() {
            let statement = &self.statements[id as usize];
            let wants = match (statement.gathering, statement.need) {
                (None, Need::Count) => String::new(),
                (None, Need::Rows) => ", its cells wanted".to_owned(),
                (Some(Gathering { gather, is_last }), _) => {
                    let row = if is_last { "last" } else { "only" };
                    format!(", its {row} row into {}", show(gather, self))
                }
            };
            put(
                out,
                format_args!(
                    "statement #{id} at {}:{}, parameters {}{wants}\n",
                    statement.line, statement.column, statement.parameter_count
                ),
            );
            for line in statement.text.lines() {
                put(out, format_args!("      {}\n", line.trim_end()));
            }
        }
    }
}

fn put(out: &mut String, arguments: std::fmt::Arguments<'_>) {
    out.write_fmt(arguments)
        .expect("writing to memory is infallible");
}

/// The operands of an instruction: names, values, places.
pub(crate) fn operands(instruction: Instruction, program: &Program) -> String {
    let shown = instruction.operands().into_iter();
    let shown: Vec<String> = shown.map(|operand| show(operand, program)).collect();
    shown.join(" ")
}

fn variable(slot: Slot, program: &Program) -> String {
    format!(":{}", program.variable(slot).name)
}

fn joined(parts: impl Iterator<Item = String>, separator: &str) -> String {
    parts.collect::<Vec<_>>().join(separator)
}

pub(crate) fn show(operand: impl Into<Operand>, program: &Program) -> String {
    match operand.into() {
        Operand::ConstantId(id) => shown(program.constant(id)).into_owned(),
        Operand::Slot(slot) => variable(slot, program),
        Operand::StatementId(id) => {
            let statement = &program.statements[id.0 as usize];
            let names = statement.parameters.iter();
            let names = joined(
                names.map(|parameter| variable(parameter.slot, program)),
                ", ",
            );
            format!("#{} ({names})", id.0)
        }
        // Only the variables that some script uses.
        Operand::GatherId(id) => {
            let targets = program.gather(id).targets.iter();
            joined(targets.map(|(_, slot)| variable(*slot, program)), ", ")
        }
        Operand::PathId(id) => {
            let path = &program.paths[id.0 as usize];
            format!("{} {}", path.spelled, variable(path.slot, program))
        }
        Operand::ChoiceId(id) => {
            let by = program.choices[id.0 as usize].by.iter();
            joined(
                by.map(|&(slot, count)| format!("{} of {count}", variable(slot, program))),
                ", ",
            )
        }
        Operand::ShellId(id) => {
            let shell = &program.shells[id.0 as usize];
            let into = shell
                .into
                .map(|slot| format!("{} = ", variable(slot, program)));
            let words = shell.words.iter().map(|word| match word {
                Ok(text) => text.clone(),
                Err(slot) => variable(*slot, program),
            });
            into.unwrap_or_default() + &joined(words, " ")
        }
        Operand::DistributionId(id) => program.distributions[id.0 as usize].0.clone(),
        Operand::AssertionId(id) => program.assertions[id.0 as usize].spelled.clone(),
        Operand::NumbersId(id) => format!("of {}", program.shared_numbers.name(id.0 as usize)),
        Operand::BeginId(id) => program.begun_levels.level(id.0 as usize).to_owned(),
        Operand::DeferralId(id) => {
            let deferral = &program.deferrals[id.0 as usize];
            // The scripts after this one are not compiled yet where only a part of the program is shown.
            let script = program.scripts.get(deferral.script as usize);
            let name = script.map_or("", |script| &script.name);
            let variables = deferral.variables.iter();
            let values = joined(variables.map(|slot| variable(*slot, program)), ", ");
            format!("{name} ({values})")
        }
        Operand::Target(target) => format!("-> {}", target.0),
        Operand::FunctionId(id) => FUNCTIONS[id.0 as usize].name.to_owned(),
        Operand::Count(count) => format!("({})", count.0),
        Operand::Class(class) => class.0.to_owned(),
        Operand::Unit(unit) => unit.symbol().to_owned(),
        Operand::Operator(operator) => operator.symbol().to_owned(),
        Operand::Test(test) => test.symbol().to_owned(),
        Operand::Connective(connective) => connective.symbol().to_owned(),
    }
}

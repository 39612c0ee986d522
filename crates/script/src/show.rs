//! Takes an operand of an instruction and its program; returns it as text for `explain`.

use crate::function::FUNCTIONS;
use crate::number::shown;
use crate::opcode::Instruction;
use crate::operand::{Operand, Slot};
use crate::program::Program;

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

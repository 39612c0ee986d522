//! Takes nothing; names what instructions work on, and how `explain` shows it.

use crate::function::FUNCTIONS;
use crate::number::shown;
use crate::operator::{Connective, Operator, Test};
use crate::program::Program;

/// An index into [`Program::constants`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ConstantId(pub u32);

/// An index into [`Program::variables`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slot(pub u32);

/// An index into [`Program::statements`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StatementId(pub u32);

/// An index into [`Program::gathers`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct GatherId(pub u32);

/// An index into [`Program::paths`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PathId(pub u32);

/// An index into [`Program::choices`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ChoiceId(pub u32);

/// An index into [`Program::shells`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ShellId(pub u32);

/// An index into [`Program::distributions`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DistributionId(pub u32);

/// An index into [`Program::instructions`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Target(pub u32);

/// An index into the table of functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FunctionId(pub u32);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Count(pub u32);

/// A word of the list of error classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Class(pub &'static str);

/// The unit in which a script gives a duration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    Microseconds,
    Milliseconds,
    Seconds,
}

impl Unit {
    pub const ALL: [Self; 3] = [Self::Microseconds, Self::Milliseconds, Self::Seconds];

    pub fn symbol(self) -> &'static str {
        match self {
            Self::Microseconds => "us",
            Self::Milliseconds => "ms",
            Self::Seconds => "s",
        }
    }

    pub fn nanoseconds(self) -> u32 {
        match self {
            Self::Microseconds => 1_000,
            Self::Milliseconds => 1_000_000,
            Self::Seconds => 1_000_000_000,
        }
    }
}

/// What `explain` prints for an operand.
pub(crate) trait Operand {
    fn show(self, program: &Program) -> String;
}

impl Operand for ConstantId {
    fn show(self, program: &Program) -> String {
        shown(program.constant(self)).into_owned()
    }
}

impl Operand for Slot {
    fn show(self, program: &Program) -> String {
        format!(":{}", program.variable(self).name)
    }
}

impl Operand for StatementId {
    fn show(self, program: &Program) -> String {
        let statement = &program.statements[self.0 as usize];
        let names = statement
            .parameters
            .iter()
            .map(|parameter| parameter.slot.show(program));
        format!("#{} ({})", self.0, names.collect::<Vec<_>>().join(", "))
    }
}

impl Operand for GatherId {
    /// The variables that anybody uses of those that the columns may go into.
    fn show(self, program: &Program) -> String {
        let targets = program
            .gather(self)
            .targets
            .iter()
            .map(|(_, slot)| slot.show(program));
        targets.collect::<Vec<_>>().join(", ")
    }
}

impl Operand for PathId {
    fn show(self, program: &Program) -> String {
        let path = &program.paths[self.0 as usize];
        format!("{} {}", path.spelled, path.slot.show(program))
    }
}

impl Operand for ChoiceId {
    fn show(self, program: &Program) -> String {
        let by = program.choices[self.0 as usize]
            .by
            .iter()
            .map(|&(slot, count)| format!("{} of {count}", slot.show(program)));
        by.collect::<Vec<_>>().join(", ")
    }
}

impl Operand for ShellId {
    fn show(self, program: &Program) -> String {
        let shell = &program.shells[self.0 as usize];
        let into = shell.into.map(|slot| format!("{} = ", slot.show(program)));
        into.unwrap_or_default() + &shell.spelled(program)
    }
}

impl Operand for DistributionId {
    fn show(self, program: &Program) -> String {
        program.distributions[self.0 as usize].0.clone()
    }
}

impl Operand for Target {
    fn show(self, _: &Program) -> String {
        format!("-> {}", self.0)
    }
}

impl Operand for FunctionId {
    fn show(self, _: &Program) -> String {
        FUNCTIONS[self.0 as usize].name.to_owned()
    }
}

impl Operand for Count {
    fn show(self, _: &Program) -> String {
        format!("({})", self.0)
    }
}

impl Operand for Class {
    fn show(self, _: &Program) -> String {
        self.0.to_owned()
    }
}

impl Operand for Unit {
    fn show(self, _: &Program) -> String {
        self.symbol().to_owned()
    }
}

impl Operand for Operator {
    fn show(self, _: &Program) -> String {
        self.symbol().to_owned()
    }
}

impl Operand for Test {
    fn show(self, _: &Program) -> String {
        self.symbol().to_owned()
    }
}

impl Operand for Connective {
    fn show(self, _: &Program) -> String {
        self.symbol().to_owned()
    }
}

//! Defines the operands of instructions: indexes into the lists of a program, and a few names.

use crate::expression::operator::{Connective, Operator, Test};

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

/// An index into [`Program::assertions`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AssertionId(pub u32);

/// The number of a counter in [`Program::shared_numbers`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NumbersId(pub u32);

/// An index into the places of [`Program::begun_levels`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BeginId(pub u32);

/// An index into [`Program::deferrals`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DeferralId(pub u32);

/// An index into [`Program::instructions`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Target(pub u32);

/// An index into the table of functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FunctionId(pub u32);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Count(pub u32);

/// The name of an error class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Class(pub &'static str);

/// The unit of a duration in a script.
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

macro_rules! operands {
    ($($kind:ident,)*) => {
        /// Any operand.
        #[derive(Clone, Copy, Debug)]
        pub(crate) enum Operand {
            $($kind($kind),)*
        }

        $(impl From<$kind> for Operand {
            fn from(operand: $kind) -> Self {
                Self::$kind(operand)
            }
        })*
    };
}

operands! {
    ConstantId,
    Slot,
    StatementId,
    GatherId,
    PathId,
    ChoiceId,
    ShellId,
    DistributionId,
    AssertionId,
    NumbersId,
    BeginId,
    DeferralId,
    Target,
    FunctionId,
    Count,
    Class,
    Unit,
    Operator,
    Test,
    Connective,
}

/// A count in a program; the bound on the size of scripts keeps it far below 2^32.
pub(crate) fn short(number: usize) -> u32 {
    u32::try_from(number).expect("the size of scripts is bounded")
}

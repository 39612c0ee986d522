//! Declares every instruction once: its name, its operands, its meaning. The type, the list of opcodes for the reference, and
//! the output of `explain` are generated from this list. What `\defer` queues stands below it.

use crate::expression::operator::{Connective, Operator, Test};
use assay_values::Value;

/// One kind of instruction, as the reference shows it.
pub(crate) struct Opcode {
    pub name: &'static str,
    pub operands: &'static [&'static str],
    pub synopsis: &'static str,
}

macro_rules! instructions {
    ($( #[doc = $synopsis:literal] $name:ident { $($operand:ident: $kind:ty),* } )*) => {
        /// One step of a script. Values are on a stack; a statement's answer is available from
        /// `Execute` to `Settle`.
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub(crate) enum Instruction {
            $( #[doc = $synopsis] $name { $($operand: $kind),* }, )*
        }

        pub(crate) const OPCODES: &[Opcode] = &[
            $( Opcode {
                name: stringify!($name),
                operands: &[$(stringify!($operand)),*],
                synopsis: $synopsis.trim_ascii(),
            }, )*
        ];

        impl Instruction {
            pub fn opcode(&self) -> &'static Opcode {
                let name = match self { $( Self::$name { .. } => stringify!($name), )* };
                let listed = OPCODES.iter().find(|opcode| opcode.name == name);
                listed.expect("the list and the type are generated from the same lines")
            }

            pub fn operands(&self) -> Vec<Operand> {
                match *self {
                    $( Self::$name { $($operand),* } => vec![$($operand.into()),*], )*
                }
            }
        }
    };
}

instructions! {
    /// pushes a constant
    Constant { constant: ConstantId }
    /// pushes the value of a variable
    Load { variable: Slot }
    /// pops a value and stores it in a variable
    Store { variable: Slot }
    /// replaces the two topmost values by the result of the operator
    Binary { operator: Operator }
    /// replaces the topmost value by the result of the test
    Test { test: Test }
    /// jumps to the target with the result if the topmost value decides it, otherwise pops that value
    Decide { connective: Connective, target: Target }
    /// fails unless the topmost value is TRUE, FALSE or NULL
    Truth {}
    /// replaces the arguments by the result of a function
    Call { function: FunctionId, arguments: Count }
    /// jumps to the target
    Jump { target: Target }
    /// pops a value and jumps to the target unless it is true
    JumpUnless { target: Target }
    /// pops two bounds and begins a loop, or jumps to the target if the range is empty
    LoopEnter { variable: Slot, target: Target }
    /// jumps to the target with the next integer, or ends the loop
    LoopNext { variable: Slot, target: Target }
    /// selects the statement of the next instruction by the values of these variables
    Choose { choice: ChoiceId }
    /// binds the variables and stops for the engine to execute a statement
    Execute { statement: StatementId }
    /// binds the variables and stops for the engine to put a statement into the pipeline
    Queue { statement: StatementId }
    /// stops for the engine to send the pipeline and to return all its answers
    Sync {}
    /// pops a value and fails unless the answer has that number of rows
    ExpectRows {}
    /// pops a value and fails unless it equals the first cell of the answer
    ExpectValue {}
    /// fails unless the answer is an error of this class
    ExpectError { class: Class }
    /// pops a value and fails unless it is true
    Assert { assertion: AssertionId }
    /// stores the next number of those that all clients share in a variable
    TakeNumber { variable: Slot, numbers: NumbersId }
    /// stores how many of these numbers are acknowledged in a variable
    Acknowledged { variable: Slot, numbers: NumbersId }
    /// notes that a transaction is begun here at the isolation level that the script names
    BeginAt { place: BeginId }
    /// stops for the engine to queue a script, with the values of variables
    Defer { deferral: DeferralId }
    /// stores the columns of a one-row answer in variables
    Gather { gather: GatherId }
    /// stores the value at a path of a one-row answer's document in a variable
    GatherPath { path: PathId }
    /// stores the columns of the last row of an answer in variables, if it has rows
    GatherLast { gather: GatherId }
    /// releases the answer
    Settle {}
    /// the same, and stores how many rows were changed in a variable
    SettleChanged { variable: Slot }
    /// pops a duration and stops for the engine to wait
    Sleep { unit: Unit }
    /// the same, with a wait that is not part of the latency
    Rest { unit: Unit }
    /// draws a duration in seconds and pushes it
    Draw { distribution: DistributionId }
    /// runs a shell command on the client machine
    Shell { command: ShellId }
    /// prints the topmost value
    Debug {}
    /// ends the transaction as aborted, then jumps to the pauses that end the script
    Abort { target: Target }
    /// ends the transaction
    End {}
}

impl Instruction {
    /// Sets the target of a jump that was appended before its target was known.
    pub fn set_target(&mut self, to: Target) {
        match self {
            Self::Decide { target, .. }
            | Self::Jump { target }
            | Self::JumpUnless { target }
            | Self::LoopEnter { target, .. }
            | Self::LoopNext { target, .. }
            | Self::Abort { target } => *target = to,
            other => unreachable!("{other:?} does not jump"),
        }
    }
}

const _: () = assert!(OPCODES.len() <= 256, "an opcode fits into a byte");

/// One `\defer` of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Deferral {
    /// The script that is queued, an index into `Program::scripts`.
    pub script: u32,
    /// The variables whose values it takes along.
    pub variables: Vec<Slot>,
}

/// A script that was queued.
#[derive(Clone, Debug, PartialEq)]
pub struct Deferred {
    /// Index into `Program::scripts`.
    pub script: u32,
    pub(crate) values: Vec<(Slot, Value)>,
}

// Defines the operands of instructions: indexes into the lists of a program, and a few names.

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

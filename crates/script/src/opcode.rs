//! Takes nothing; names every instruction there is, once: its name, its operands, its meaning. From
//! this list come the type, the list of opcodes for the reference, and what `explain` prints.

use crate::operand::{
    ChoiceId, Class, ConstantId, Count, DistributionId, FunctionId, GatherId, Operand, PathId,
    ShellId, Slot, StatementId, Target, Unit,
};
use crate::operator::{Connective, Operator, Test};

/// One kind of instruction, as the reference shows it.
pub(crate) struct Opcode {
    pub name: &'static str,
    pub operands: &'static [&'static str],
    pub synopsis: &'static str,
}

macro_rules! instructions {
    ($( #[doc = $synopsis:literal] $name:ident { $($operand:ident: $kind:ty),* } )*) => {
        /// One step of a script. Values are on a stack; a statement's answer is at hand from
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
                listed.expect("the list and the type come from the same lines")
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
    /// puts a constant on the stack
    Constant { constant: ConstantId }
    /// puts the value of a variable on the stack
    Load { variable: Slot }
    /// takes a value off the stack and puts it into a variable
    Store { variable: Slot }
    /// replaces the two topmost values by what the operator makes of them
    Binary { operator: Operator }
    /// replaces the topmost value by whether the test holds for it
    Test { test: Test }
    /// goes to the target with the result if the topmost value decides it, or takes that off
    Decide { connective: Connective, target: Target }
    /// refuses a topmost value that is neither TRUE, FALSE nor NULL
    Truth {}
    /// replaces the arguments by the value of a function
    Call { function: FunctionId, arguments: Count }
    /// goes to the target
    Jump { target: Target }
    /// takes a value off the stack and goes to the target unless it is true
    JumpUnless { target: Target }
    /// takes two bounds off the stack and begins a loop, or goes to the target if it is empty
    LoopEnter { variable: Slot, target: Target }
    /// goes to the target with the next integer, or ends the loop
    LoopNext { variable: Slot, target: Target }
    /// finds which of the statements that follow each other in the list the next instruction means
    Choose { choice: ChoiceId }
    /// binds the variables and stops for the engine to execute a statement
    Execute { statement: StatementId }
    /// binds the variables and stops for the engine to put a statement into the pipeline
    Queue { statement: StatementId }
    /// stops for the engine to send the pipeline and to hand in all its answers
    Sync {}
    /// fails unless the answer has as many rows as the value taken off the stack says
    ExpectRows {}
    /// fails unless the first cell of the answer is the value taken off the stack
    ExpectValue {}
    /// fails unless the answer is an error of this class
    ExpectError { class: Class }
    /// puts the columns of a one-row answer into variables
    Gather { gather: GatherId }
    /// puts what stands at a path of a one-row answer's document into a variable
    GatherPath { path: PathId }
    /// puts the columns of the last row of an answer into variables, if it has a row
    GatherLast { gather: GatherId }
    /// is done with the answer
    Settle {}
    /// takes a duration off the stack and stops for the engine to wait
    Sleep { unit: Unit }
    /// the same, with a wait that is no part of the latency
    Rest { unit: Unit }
    /// draws a duration in seconds and puts it on the stack
    Draw { distribution: DistributionId }
    /// runs a command of this machine
    Shell { command: ShellId }
    /// prints the topmost value
    Debug {}
    /// ends the transaction as aborted
    Abort {}
    /// ends the transaction
    End {}
}

impl Instruction {
    /// Completes a jump whose target was not known when it was put into the list.
    pub fn set_target(&mut self, to: Target) {
        match self {
            Self::Decide { target, .. }
            | Self::Jump { target }
            | Self::JumpUnless { target }
            | Self::LoopEnter { target, .. }
            | Self::LoopNext { target, .. } => *target = to,
            other => unreachable!("{other:?} does not jump"),
        }
    }
}

const _: () = assert!(OPCODES.len() <= 256, "an opcode fits into a byte");

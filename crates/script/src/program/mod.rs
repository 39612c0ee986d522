//! Holds the compiled form of all scripts of a run, shared by all its clients.

pub(crate) mod document_path;
pub(crate) mod explain;
pub(crate) mod opcode;
pub(crate) mod shell;

use crate::ScriptError;
use crate::lexer::{Effect, Lexer, StatementKind};
use crate::place::Place;
use crate::program::document_path::DocumentPath;
use crate::program::opcode::{ConstantId, Deferral, GatherId, Instruction, Slot};
use crate::program::shell::Shell;
use crate::shared::{BegunLevels, Children, SharedNumbers};
use assay_values::{Distribution, Piece, Value};
use std::ops::Range;

/// The compiled scripts of one run.
#[derive(Debug, Default)]
pub struct Program {
    /// The statements of all scripts, in their order.
    pub statements: Vec<Statement>,
    /// The scripts, in the order of their sources.
    pub scripts: Vec<Script>,
    /// Warnings: what is allowed but probably a mistake.
    pub warnings: Vec<ScriptError>,
    pub(crate) instructions: Vec<Instruction>,
    /// The language of the statements.
    pub(crate) lexer: Lexer,
    /// Whether values are substituted into the text of statements.
    pub(crate) pastes: bool,
    /// The position in the source of each instruction.
    pub(crate) places: Vec<Place>,
    pub(crate) constants: Vec<Value>,
    pub(crate) variables: Vec<Variable>,
    pub(crate) gathers: Vec<Gather>,
    pub(crate) paths: Vec<DocumentPath>,
    pub(crate) choices: Vec<Choice>,
    pub(crate) shells: Vec<Shell>,
    /// The shell commands running now.
    pub children: Children,
    /// The numbers that `\next` takes.
    pub shared_numbers: SharedNumbers,
    /// Which `\begin`s with an isolation level were executed.
    pub begun_levels: BegunLevels,
    pub(crate) assertions: Vec<Assertion>,
    /// The scripts that `\defer` queues.
    pub(crate) deferrals: Vec<Deferral>,
    /// The distributions as spelled in the scripts, and parsed.
    pub(crate) distributions: Vec<(String, Distribution)>,
    /// How many values the statements have, without counting choices of identifiers.
    pub(crate) bound_values: u32,
    /// The built-in variables, which every client sets.
    pub(crate) own: Vec<(Slot, Own)>,
}

/// One transaction type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Script {
    /// The name of the transaction type.
    pub name: String,
    /// The path of its file, for messages.
    pub path: String,
    /// Whether it is one statement of a plain file: a transaction may begin in it and end in another.
    pub is_plain: bool,
    /// Its statements in [`Program::statements`].
    pub statement_ids: Range<u32>,
    /// Its range in the list of instructions.
    pub(crate) instructions: Range<u32>,
}

/// One statement as it is sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    /// Index into [`Program::scripts`].
    pub script: u32,
    /// Its number among the statements of its script, from 0.
    pub index_in_script: u32,
    /// Its text without the closing `;` and without comments, in pieces: the driver writes the placeholders.
    pub pieces: Vec<Piece>,
    /// The same with its values as `:name`.
    pub text: String,
    /// How many values it has.
    pub parameter_count: u32,
    /// Whether one of its values may change in the run: it is not that of a variable which the run gives and no
    /// script changes.
    pub changes_values: bool,
    /// What it does to the current transaction.
    pub kind: StatementKind,
    /// What it may leave in the data.
    pub effect: Effect,
    /// The operation of the driver (begin, commit or roll back), which has no text of its own.
    pub is_operation: bool,
    /// The line at which it begins, from 1.
    pub line: u32,
    /// The column at which it begins, from 1, in characters.
    pub column: u32,
    /// What its script needs of its answer.
    pub need: Need,
    /// The variables of its parameters, in order.
    pub(crate) parameters: Vec<Parameter>,
    /// Where its values begin among those that a client has bound: choices share them.
    pub(crate) binding: u32,
    /// What is stored in variables when its answer arrives in a pipeline.
    pub(crate) gathering: Option<Gathering>,
    /// The variable that gets how many rows it changed, if a script uses that.
    pub(crate) rows_changed: Option<Slot>,
}

impl Statement {
    /// The places of its values among those that a client has bound.
    #[inline]
    pub(crate) fn bound(&self) -> Range<usize> {
        let start = self.binding as usize;
        start..start + self.parameters.len()
    }
}

/// A variable used in a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Parameter {
    pub slot: Slot,
    /// Whether its name stays in the text if it has no value.
    pub may_be_text: bool,
    /// Whether only answers set it: then a NULL is substituted as an empty text.
    pub is_of_answers: bool,
}

/// Which row of an answer is stored in which variables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Gathering {
    pub gather: GatherId,
    /// Whether it is the last row, if there is one; otherwise it is the only row.
    pub is_last: bool,
}

/// Selects one of several consecutive statements: an offset from the first, whose digits are these
/// variables, each below its count.
#[derive(Clone, Debug)]
pub(crate) struct Choice {
    pub by: Vec<(Slot, u32)>,
}

/// A built-in variable, which every client sets unless the run gives its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Own {
    ClientId,
    RandomSeed,
    DefaultSeed,
    /// How many transactions the client began before this one.
    TransactionNumber,
    /// How many rows the last statement that changes rows has changed; NULL before the first.
    RowsChanged,
}

impl Own {
    pub const ALL: [(&str, Self); 5] = [
        ("client_id", Self::ClientId),
        ("random_seed", Self::RandomSeed),
        ("default_seed", Self::DefaultSeed),
        ("transaction_number", Self::TransactionNumber),
        ("rows_changed", Self::RowsChanged),
    ];
}

/// What a script needs of a statement's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// Only the number of rows.
    Count,
    /// Also the cells: of the first row (`\gset`, `\expect value`), or of the last row (`\aset`).
    Rows,
}

/// A variable and its initial value, if any.
#[derive(Clone, Debug)]
pub(crate) struct Variable {
    pub name: String,
    pub initial: Option<Value>,
}

/// One `\assert`: its condition on one line, and the variables that it reads.
#[derive(Clone, Debug)]
pub(crate) struct Assertion {
    pub spelled: String,
    pub reads: Vec<Slot>,
}

/// One `\gset`: which column is stored in which variable.
#[derive(Clone, Debug)]
pub(crate) struct Gather {
    pub prefix: String,
    pub targets: Vec<(String, Slot)>,
}

impl Program {
    /// Whether a script runs commands of the client machine.
    pub fn runs_commands(&self) -> bool {
        !self.shells.is_empty()
    }

    pub(crate) fn constant(&self, id: ConstantId) -> &Value {
        &self.constants[id.0 as usize]
    }

    pub(crate) fn variable(&self, slot: Slot) -> &Variable {
        &self.variables[slot.0 as usize]
    }

    pub(crate) fn gather(&self, id: GatherId) -> &Gather {
        &self.gathers[id.0 as usize]
    }

    /// The place of an instruction as messages show it: `path:line:column`.
    pub(crate) fn place_of(&self, instruction: u32) -> String {
        let script = self
            .scripts
            .iter()
            .find(|script| script.instructions.contains(&instruction));
        let path = script.map_or("", |script| &script.path);
        let Place { line, column } = self.places[instruction as usize];
        format!("{path}:{line}:{column}")
    }

    /// What a system says of a statement that it does not understand, with the statement and its place.
    pub fn said_of_statement(&self, statement: u32, message: &str) -> String {
        let Statement {
            script, line, text, ..
        } = &self.statements[statement as usize];
        let path = &self.scripts[*script as usize].path;
        // A statement can have 200 MB.
        let mut shown: String = text.chars().take(LONGEST_SHOWN + 1).collect();
        if let Some((cut, _)) = shown.char_indices().nth(LONGEST_SHOWN) {
            shown.replace_range(cut.., "…");
        }
        let shown = shown.split_whitespace().collect::<Vec<_>>().join(" ");
        format!("{path}, line {line}: {message}; statement: {shown}")
    }
}

/// Of a statement in a message, in characters.
const LONGEST_SHOWN: usize = 60;

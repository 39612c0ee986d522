//! Takes nothing; holds what the compiler made of all scripts of a run, shared by all its clients.

use crate::ScriptError;
use crate::children::Children;
use crate::document_path::DocumentPath;
use crate::lexer::{Lexer, StatementKind};
use crate::opcode::Instruction;
use crate::operand::{ConstantId, GatherId, Slot};
use crate::place::Place;
use crate::shell::Shell;
use assay_values::{Distribution, Piece, Value};
use std::ops::Range;

/// The compiled scripts of one run.
#[derive(Debug, Default)]
pub struct Program {
    /// The statements of all scripts, in their order.
    pub statements: Vec<Statement>,
    /// The scripts, in the order of their sources.
    pub scripts: Vec<Script>,
    /// What is allowed and probably not meant.
    pub warnings: Vec<ScriptError>,
    pub(crate) instructions: Vec<Instruction>,
    /// The language of the statements.
    pub(crate) lexer: Lexer,
    /// Whether values are pasted into the text of statements.
    pub(crate) pastes: bool,
    /// Where each instruction comes from.
    pub(crate) places: Vec<Place>,
    pub(crate) constants: Vec<Value>,
    pub(crate) variables: Vec<Variable>,
    pub(crate) gathers: Vec<Gather>,
    pub(crate) paths: Vec<DocumentPath>,
    pub(crate) choices: Vec<Choice>,
    pub(crate) shells: Vec<Shell>,
    /// The commands that run now.
    pub children: Children,
    /// As they are spelled, and as they are.
    pub(crate) distributions: Vec<(String, Distribution)>,
    /// How many statements the scripts have as they are written, each choice of an identifier aside.
    pub(crate) bindings: u32,
    /// The variables that every client fills by itself.
    pub(crate) own: Vec<(Slot, Own)>,
}

/// One transaction type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Script {
    /// The name of the transaction type.
    pub name: String,
    /// The path of its file, for messages.
    pub path: String,
    /// One statement of a plain file: a transaction may begin in it and end in another one.
    pub is_plain: bool,
    /// Its statements in [`Program::statements`].
    pub statement_ids: Range<u32>,
    /// Its instructions in the list of all.
    pub(crate) instructions: Range<u32>,
}

/// One statement as it is sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    /// Index into [`Program::scripts`].
    pub script: u32,
    /// Its number among the statements of its script, from 0.
    pub index_in_script: u32,
    /// Without the closing `;` and without comments: it is the driver that spells places of values.
    pub pieces: Vec<Piece>,
    /// The same with its values as the script names them.
    pub text: String,
    /// How many values it has.
    pub parameter_count: u32,
    /// What it does to the transaction.
    pub kind: StatementKind,
    /// Begin, commit or roll back, as the driver does it: it has no pieces.
    pub is_operation: bool,
    /// Where it begins; both count from 1, columns in characters.
    pub line: u32,
    /// The column at which it begins, from 1.
    pub column: u32,
    /// What its script wants of its answer.
    pub need: Need,
    /// The variables whose values it has, in order.
    pub(crate) parameters: Vec<Parameter>,
    /// Which of the statements as they are written it comes from: choices share their parameters.
    pub(crate) binding: u32,
    /// What is put into variables when its answer comes out of a pipeline.
    pub(crate) gathering: Option<Gathering>,
}

/// A variable whose value stands in a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Parameter {
    pub slot: Slot,
    /// Where it has no value, its name stays in the text.
    pub may_be_text: bool,
    /// Only answers fill it, and a NULL among them is an empty text where values are pasted.
    pub is_of_answers: bool,
}

/// The columns of which row of an answer go into which variables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Gathering {
    pub gather: GatherId,
    /// The last row, if there is one; otherwise the only row.
    pub is_last: bool,
}

/// Which of the statements that follow each other in the list is meant: the first, counted on by these
/// variables as by digits, each below its count.
#[derive(Clone, Debug)]
pub(crate) struct Choice {
    pub by: Vec<(Slot, u32)>,
}

/// A variable that every client fills by itself, unless it is given from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Own {
    ClientId,
    RandomSeed,
    DefaultSeed,
    /// How many transactions the client began before this one.
    TransactionNumber,
}

impl Own {
    pub const ALL: [(&str, Self); 4] = [
        ("client_id", Self::ClientId),
        ("random_seed", Self::RandomSeed),
        ("default_seed", Self::DefaultSeed),
        ("transaction_number", Self::TransactionNumber),
    ];
}

/// What a script wants of a statement's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// How many rows there were.
    Count,
    /// Cells too: of the first row (`\gset`, `\expect value`), or of the last one (`\aset`).
    Rows,
}

/// A variable and the value it has before anybody sets it, if any.
#[derive(Clone, Debug)]
pub(crate) struct Variable {
    pub name: String,
    pub initial: Option<Value>,
}

/// One `\gset`: which column goes into which variable.
#[derive(Clone, Debug)]
pub(crate) struct Gather {
    pub prefix: String,
    pub targets: Vec<(String, Slot)>,
}

impl Program {
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
}

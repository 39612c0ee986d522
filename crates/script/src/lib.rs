//! Takes the texts of workload scripts; returns one [`Program`] that all clients share, and the
//! [`Machine`] with which each client steps through it.
//!
//! The language is that of pgbench scripts with a few additions ([`reference()`] describes it). All of
//! a script is compiled before Assay connects to a server: names are resolved to slots, constants folded,
//! branches resolved to places in one list of instructions; errors are reported with path, line,
//! column and the fix. Running the program does not need the text: a client is an
//! instruction pointer, its variables and its random stream, and stops wherever the engine must act.
//!
//! ```text
//! text ─ lexer ─► parts ─┬─ lexer ──────────────────────────► pieces, kind ─┬─ emit ─► Program ─ Machine
//!                        └─ token ─ command, grammar ─ fold ─► expressions ─┘           explain
//! ```

mod assemble;
mod assertion;
mod begun_levels;
mod blocks;
mod check_deferrals;
mod children;
mod choices;
mod class;
mod command;
mod command_arguments;
mod command_forms;
mod compile;
mod deferral;
mod document_path;
mod emit;
mod error;
mod execute;
mod expectation;
mod explain;
pub mod expression;
mod fold;
mod formula;
mod function;
mod grammar;
mod items;
mod lexer;
mod machine;
mod member;
mod names;
mod nearest;
mod number;
mod of_answer;
mod opcode;
mod open_transaction;
mod operand;
mod operator;
mod options;
mod pasted;
mod pending_statement;
mod place;
mod program;
mod quoted_names;
mod reader;
mod reference;
mod registers;
mod reply;
mod rows_changed;
mod send;
mod sends_nothing;
mod shared_numbers;
mod shell;
mod show;
mod size;
mod source;
mod split;
mod statement;
mod stop;
mod term;
mod token;
mod tree;
mod values;
mod variables;

pub use begun_levels::{BegunLevel, BegunLevels};
pub use children::Children;
pub use class::{FURTHER_CLASSES, STATEMENT_CLASSES};
pub use compile::compile;
pub use deferral::Deferred;
pub use error::ScriptError;
pub use lexer::{Effect, Lexer, LiteralStyle, StatementKind};
pub use machine::{Machine, Step};
pub use options::Options;
pub use program::{Need, Program, Script, Statement};
pub use quoted_names::cut_at_names;
pub use reference::reference;
pub use reply::{Ending, Reply};
pub use shared_numbers::{NumberOutcome, Reached, SharedNumbers};
pub use source::Source;
pub use split::{FileStatement, split_statements};
pub use values::Values;

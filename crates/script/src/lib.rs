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

mod commands;
mod compile;
pub mod expression;
mod lexer;
mod nearest;
mod place;
mod program;
mod reference;
mod reply;
mod run;
mod shared;

pub use compile::compile;
pub use compile::options::Options;
pub use lexer::language::Values;
pub use lexer::scan::{FileStatement, cut_at_names, split_statements};
pub use lexer::{Effect, Lexer, StatementKind, TextStyle};
pub use place::{ScriptError, Source};
pub use program::opcode::Deferred;
pub use program::shell::{ShellCommand, ShellResult};
pub use program::{Need, Program, Script, Statement};
pub use reference::reference;
pub use reply::{Ending, Reply, STATEMENT_CLASSES};
pub use run::machine::{Machine, Step};
pub use shared::{BegunLevel, BegunLevels, Children, NumberOutcome, Reached, SharedNumbers};

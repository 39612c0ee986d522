//! Defines what each meta command means once it is parsed.

pub(crate) mod arguments;
pub(crate) mod forms;

use crate::expression::grammar::Expression;
use crate::lexer::statement::Name;
use crate::program::document_path::Step;
use crate::program::opcode::Unit;
use crate::program::shell::Words;
use assay_values::Distribution;

#[derive(Debug)]
pub(crate) enum Command<'a> {
    Set {
        name: Name<'a>,
        value: Expression<'a>,
    },
    If(Expression<'a>),
    Elif(Expression<'a>),
    Else,
    Endif,
    For {
        name: Name<'a>,
        from: Expression<'a>,
        to: Expression<'a>,
    },
    Endfor,
    Gset {
        prefix: &'a str,
    },
    GsetPath {
        name: Name<'a>,
        spelled: &'a str,
        steps: Vec<Step>,
    },
    ExpectRows(Expression<'a>),
    ExpectValue(Expression<'a>),
    ExpectError(&'static str),
    /// The condition as spelled in the script, and parsed.
    Assert(&'a str, Expression<'a>),
    /// The next number of those that all clients share under this name.
    Next {
        name: Name<'a>,
    },
    /// Up to which one the numbers of `\next` are acknowledged.
    Acknowledged {
        name: Name<'a>,
        of: Name<'a>,
    },
    Aset {
        prefix: &'a str,
    },
    /// Where its statement fails, nothing of it stays.
    Atomic,
    /// Queues a script, with the values of these variables.
    Defer {
        script: Name<'a>,
        variables: Vec<Name<'a>>,
    },
    Pause {
        duration: Duration<'a>,
        is_part_of_latency: bool,
    },
    Begin {
        level: String,
    },
    Commit,
    StartPipeline,
    SyncPipeline,
    EndPipeline,
    Shell(Words<'a>),
    Abort,
}

/// How long a pause is.
#[derive(Debug)]
pub(crate) enum Duration<'a> {
    Computed(Expression<'a>, Unit),
    /// The distribution as spelled in the script, and parsed.
    Drawn(&'a str, Distribution),
}

impl Command<'_> {
    /// Whether it applies to the answer to the statement before it.
    pub fn follows_statement(&self) -> bool {
        use Command::{Aset, Atomic, ExpectError, ExpectRows, ExpectValue, Gset, GsetPath};
        matches!(
            self,
            Gset { .. }
                | GsetPath { .. }
                | Aset { .. }
                | Atomic
                | ExpectRows(_)
                | ExpectValue(_)
                | ExpectError(_)
        )
    }
}

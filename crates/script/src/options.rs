//! Takes what a workload gives to its scripts from outside; holds it for the compiler.

use crate::lexer::Lexer;
use crate::values::Values;
use assay_values::Value;
use std::collections::BTreeMap;

/// What scripts are compiled with.
#[derive(Clone, Copy, Debug)]
pub struct Options<'a> {
    /// Variables given from outside (`NULL` stands for what is not known for these data); scripts may
    /// set them again.
    pub variables: &'a [(String, Value)],
    /// The identifiers that `:{name}` may stand for, in the order in which `:name` counts them from 0.
    pub identifiers: &'a BTreeMap<String, Vec<String>>,
    /// The statements with which `\begin` begins a transaction at a level, by isolation level in lower case.
    /// Where none is named it is the driver that begins.
    pub begins: &'a BTreeMap<String, Vec<String>>,
    /// Statements that the system does not know, as one word or two in upper case, and what to write
    /// in their place.
    pub unknown_statements: &'a BTreeMap<String, String>,
    /// The language of the statements.
    pub lexer: Lexer,
    /// How values reach the statements.
    pub values: Values,
    /// Whether `\shell` and `\setshell` are allowed: they run whatever a script says on this machine.
    pub allow_shell: bool,
}

static NO_STATEMENTS: BTreeMap<String, String> = BTreeMap::new();
static NONE: BTreeMap<String, Vec<String>> = BTreeMap::new();

impl Default for Options<'_> {
    fn default() -> Self {
        Self {
            variables: &[],
            identifiers: &NONE,
            begins: &NONE,
            unknown_statements: &NO_STATEMENTS,
            lexer: Lexer::default(),
            values: Values::default(),
            allow_shell: false,
        }
    }
}

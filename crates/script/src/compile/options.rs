//! Holds the options of the compiler: variables, identifiers, isolation levels, how values are sent.

use crate::lexer::Lexer;
use crate::lexer::language::Values;
use assay_values::Value;
use std::collections::BTreeMap;

/// What scripts are compiled with.
#[derive(Clone, Copy, Debug)]
pub struct Options<'a> {
    /// Variables of the run (`NULL` means not known for this data set); scripts may
    /// set them again.
    pub variables: &'a [(String, Value)],
    /// The identifiers that can replace `:{name}`, in the order in which `:name` counts them from 0.
    pub identifiers: &'a BTreeMap<String, Vec<String>>,
    /// The statements with which `\begin` begins a transaction, by isolation level in lower case.
    /// Without a level the driver begins the transaction.
    pub begins: &'a BTreeMap<String, Vec<String>>,
    /// Statements that the system does not support, as one word or two in upper case, and what to write
    /// instead.
    pub unknown_statements: &'a BTreeMap<String, String>,
    /// The language of the statements.
    pub lexer: Lexer,
    /// How values are sent with the statements.
    pub values: Values,
    /// Whether a script may begin transactions.
    pub has_transactions: bool,
    /// Whether the scripts follow one another, so that one without statements may be a step that this system does not need.
    pub is_sequence: bool,
    /// Whether `\shell` and `\setshell` are allowed: they run any command of a script on this machine.
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
            has_transactions: true,
            is_sequence: false,
            allow_shell: false,
        }
    }
}

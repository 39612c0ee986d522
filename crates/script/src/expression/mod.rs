//! Takes the text of one expression outside scripts (a column's generator, a number of rows)
//! and the names that it may use; returns a [`Formula`] that computes or writes its value.

pub(crate) mod fold;
pub(crate) mod formula;
pub(crate) mod function;
pub(crate) mod grammar;
pub(crate) mod number;
pub(crate) mod operator;
pub(crate) mod token;

pub use crate::expression::formula::Formula;
pub use crate::expression::number::Fault;

use crate::ScriptError;
use crate::expression::fold::folded;
use crate::expression::grammar::Reader;
use crate::expression::token::tokens;
use crate::place::{Defect, Lines};
use assay_values::Value;

/// The position of an expression's first character; lines and columns begin at 1.
#[derive(Clone, Copy, Debug)]
pub struct Origin<'a> {
    /// The path of the file, for messages.
    pub path: &'a str,
    /// The line at which the expression begins, from 1.
    pub line: u32,
    /// The column at which the expression begins, from 1.
    pub column: u32,
}

/// Compiles an expression. `names` are the variables whose values are passed to each evaluation, by
/// position; `constants` are known now and are folded.
///
/// # Errors
/// If the text is not an expression, or uses an unknown name: what was expected, what was found,
/// where, and the fix.
pub fn compile(
    text: &str,
    names: &[&str],
    constants: &[(String, Value)],
    origin: Origin<'_>,
) -> Result<Formula, ScriptError> {
    let place = |defect: Defect| {
        let mut error = defect.locate(origin.path, &Lines::of(text));
        if error.line == 1 {
            error.column += origin.column.max(1) - 1;
        }
        error.line += origin.line.max(1) - 1;
        error
    };
    let constant = |given: &str| {
        let found = constants.iter().find(|(name, _)| name == given);
        let is_given = names.contains(&given);
        found.map(|(_, value)| value.clone()).filter(|_| !is_given)
    };
    let read = || {
        let mut reader = Reader::new(tokens(text, 0..text.len())?);
        let expression = reader.expression()?;
        reader.end()?;
        let known = constants.iter().map(|(name, _)| name.as_str());
        Formula::new(folded(expression, &constant)?, names, known)
    };
    read().map_err(place)
}

//! Takes the text of one expression that stands outside scripts (a column's generator, a number of rows)
//! and the names that it may use; gives a [`Formula`] that computes or writes its value.

pub use crate::formula::Formula;
pub use crate::number::Fault;

use crate::ScriptError;
use crate::fold::folded;
use crate::place::{Defect, Lines};
use crate::reader::Reader;
use crate::token::tokens;
use assay_values::Value;

/// Where the first character of an expression stands; lines and columns begin at 1.
#[derive(Clone, Copy, Debug)]
pub struct Origin<'a> {
    /// The path of the file, for messages.
    pub path: &'a str,
    /// The line at which the expression begins, from 1.
    pub line: u32,
    /// The column at which the expression begins, from 1.
    pub column: u32,
}

/// Compiles an expression. `names` are the variables that it is given with each evaluation, by their
/// position; `constants` are known now and are folded away.
///
/// # Errors
/// Where the text is no expression, or uses what there is not: what was expected, what was found,
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
    let constant = |wanted: &str| {
        let found = constants.iter().find(|(name, _)| name == wanted);
        let is_given = names.contains(&wanted);
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

//! Takes the arguments of a function, on the stack or borrowed; returns each by its index, refuses a value that would be too large
//! or too deep, and says how much work it was to make it.

use crate::expression::number::Fault;
use assay_values::Value;
use std::ops::Index;

/// A machine passes a slice of its stack; a formula passes a reference to each value.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Arguments<'a> {
    Values(&'a [Value]),
    Borrowed(&'a [&'a Value]),
}

impl<'a> Arguments<'a> {
    pub fn len(self) -> usize {
        match self {
            Self::Values(values) => values.len(),
            Self::Borrowed(values) => values.len(),
        }
    }

    pub fn at(self, index: usize) -> &'a Value {
        match self {
            Self::Values(values) => &values[index],
            Self::Borrowed(values) => values[index],
        }
    }

    pub fn iter(self) -> impl Iterator<Item = &'a Value> {
        (0..self.len()).map(move |index| self.at(index))
    }
}

impl Index<usize> for Arguments<'_> {
    type Output = Value;

    fn index(&self, index: usize) -> &Value {
        self.at(index)
    }
}

/// The largest value of a client in bytes: larger values of many clients would take the memory of the
/// client machine.
pub(crate) const LARGEST_BYTES: u32 = 16 << 20;

/// More lists inside each other would take the stack where a value is copied or written.
const MOST_DEPTH: usize = 100;

/// Memory that is copied in about the time of one instruction.
const BYTES_OF_AN_INSTRUCTION: usize = 64;

/// # Errors
/// If the value that the function makes of the texts of all these arguments would be too large.
pub(crate) fn check_arguments(made_by: &str, arguments: &[Value]) -> Result<(), Fault> {
    check(made_by, arguments.iter().map(Value::size_bytes).sum())
}

/// # Errors
/// If the function has returned a value that is too large or too deep.
pub(crate) fn check_result(made_by: &str, result: &Value) -> Result<(), Fault> {
    check(made_by, result.size_bytes())?;
    match result.depth() {
        0..=MOST_DEPTH => Ok(()),
        depth => Err(Fault::of(format!(
            "expected at most {MOST_DEPTH} lists inside each other, found {depth}, made by {made_by}()"
        ))),
    }
}

fn check(made_by: &str, size_bytes: usize) -> Result<(), Fault> {
    if size_bytes <= LARGEST_BYTES as usize {
        return Ok(());
    }
    Err(Fault::of(format!(
        "expected a value of at most {LARGEST_BYTES} bytes, found one of {size_bytes} bytes, made by {made_by}()"
    )))
}

/// The work of copying a value, in instructions.
pub(crate) fn work(value: &Value) -> u32 {
    u32::try_from(value.size_bytes() / BYTES_OF_AN_INSTRUCTION).unwrap_or(u32::MAX)
}

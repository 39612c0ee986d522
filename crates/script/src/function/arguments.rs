//! Takes the arguments of a function, on the stack or borrowed; returns each by its index.

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

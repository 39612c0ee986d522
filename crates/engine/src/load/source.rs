//! What the rows of a load come from.

use assay_values::RowSource;

/// A source of rows that may run on another thread.
pub type Source<'s> = &'s mut (dyn RowSource + Send);

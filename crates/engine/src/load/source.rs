//! The type of a source of rows for a load.

use assay_values::RowSource;

/// A source of rows that may run on another thread.
pub type LoadSource<'s> = &'s mut (dyn RowSource + Send);

//! Takes nothing from outside; gives values, rows and the interface of everything that makes rows.

mod row;
mod value;

pub use row::{Row, RowSource, SourceError};
pub use value::Value;

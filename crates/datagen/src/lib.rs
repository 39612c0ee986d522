//! Takes nothing from outside; gives values, rows, random streams and the interface of everything that makes rows.

mod random;
mod row;
mod value;

pub use random::Random;
pub use row::{Row, RowSource, SourceError};
pub use value::Value;

//! Values, rows, random streams, and the interface of row sources.

mod array_text;
pub mod calendar;
mod cell_type;
mod column_type;
mod comparable;
mod decimal;
mod digest;
mod distribution;
mod error_class;
pub mod json;
mod literal;
mod number_text;
mod piece;
mod random;
mod row;
mod value;

pub use array_text::{BracedElement, braced_of_json, json_of_braced, write_array};
pub use cell_type::{CellType, from_hex};
pub use column_type::{ColumnType, ElementType, UnknownType};
pub use decimal::Decimal;
pub use digest::{RowHash, RowsDigest, row_sum};
pub use distribution::{Distribution, duration};
pub use error_class::ErrorClass;
pub use literal::{LiteralStyle, write_csv_text};
pub use number_text::{write_double, write_hex, write_int, write_unsigned, write_uuid};
pub use piece::Piece;
pub use random::Random;
pub use row::{Cell, Row, RowSource, SourceError};
pub use value::{Value, write_json_string};

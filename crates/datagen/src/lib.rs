//! Takes a source document of the kind `generated`; returns the rows of its tables, in any part and on any
//! number of machines.
//!
//! Row *i* of a table is a function of (seed, table, *i*), and child row *j* of parent row *i* one of (seed,
//! table, *i*, *j*): rows share no state. So any part can be generated anywhere, and all parts concatenated
//! equal the whole, byte for byte.
//!
//! ```text
//!   document ── compile ──► Dataset ─┬─ source  (rows for a loader)
//!               scope                ├─ export  (CSV or SQL text)
//!               stream               ├─ count   (exact numbers of rows)
//!                                    └─ measure (rows, bytes, checksums)
//!                        row by row: cursor ── fit ──► Row
//! ```

mod compile;
mod cursor;
mod dataset;
mod document;
mod export;
mod fit;
mod measure;
mod part;
mod table;

pub use cursor::GeneratedSource;
pub use dataset::Dataset;
pub use document::{GeneratedColumn, GeneratedDocument, GeneratedTable, Scalar};
pub use export::{ExportDocument, ExportError, ExportReport, Form, export};
pub use measure::{Measure, TableMeasure, measure};
pub use part::Part;

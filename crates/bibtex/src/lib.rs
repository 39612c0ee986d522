//! Takes BibTeX files or a stream of them; returns rows of three tables, SQL text, or more BibTeX.
//!
//! The tables are those of bibtosql 0.01 (N. H. F. Beebe, "BibTeX meets relational databases",
//! TUGboat 30(2), 2009): `bibtab`, one row an entry with 49 columns; `strtab`, the `@String`
//! definitions; `namtab`, authors and editors with the number of their occurrences.
//!
//! How the data flow, in the order in which to read the files:
//!
//! ```text
//! input ─► chunks ─► splitter ─► entry ─► reader ─► row ─► source (RowSource) · sql (text)
//! a file    a window   one item    its       dupli-   49     └ replicate: the same, edited
//! or stream of bytes   verbatim    fields    cates,   columns
//!                                            macros
//! ```
//!
//! Memory is bounded by one entry ([`MAX_ENTRY_BYTES`]), a window, the names and macros found, and 12
//! bytes for every citation key of the current file.

mod chance;
mod columns;
mod cursor;
mod dates;
mod enlarge;
mod entry;
mod examine;
mod heads;
mod input;
mod item;
mod keys;
mod names;
mod pages;
mod problems;
mod reader;
mod replicate;
mod row;
mod scan;
mod source;
mod splitter;
mod sql;
mod synthesize;
mod tex;

pub use assay_values::LiteralStyle;
pub use columns::COLUMNS;
pub use enlarge::{Replicated, write_replicated};
pub use input::{Encoding, STANDARD_INPUT};
pub use item::MAX_ENTRY_BYTES;
pub use problems::{Problem, Problems, Severity};
pub use replicate::{Replicas, Variant};
pub use scan::{Scan, ScanOptions, ScannedFile, scan};
pub use source::{BibSource, SourceOptions};
pub use sql::{SqlOptions, TableName, WriteError, WriteSqlReport, write_sql, write_sql_from};
pub use synthesize::{Synthesized, synthesize};

/// Columns of `strtab`.
pub const STRING_COLUMNS: [&str; 3] = ["key", "value", "entry"];
/// Columns of `namtab`.
pub const NAME_COLUMNS: [&str; 2] = ["name", "count"];

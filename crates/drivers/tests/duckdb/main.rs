//! The DuckDB driver on the real library, where `ASSAY_TEST_DUCKDB` names it: a shared library, or the
//! extension module of DuckDB's Python package.

mod bulk;
mod errors;
#[path = "../pieces/mod.rs"]
mod pieces;
mod sessions;
mod support;
mod values;

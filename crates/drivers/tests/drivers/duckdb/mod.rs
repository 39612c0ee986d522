//! The DuckDB driver on the real library, where `ASSAY_TEST_DUCKDB` names it: a shared library, or the
//! extension module of DuckDB's Python package.

mod bulk;
mod errors;
mod sessions;
mod support;
mod values;

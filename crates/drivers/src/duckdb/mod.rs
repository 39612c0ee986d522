//! DuckDB in this process: takes requests and calls the library, on the client's thread.
//!
//! The library is not compiled in, because that takes many minutes: it is loaded when the first session
//! opens, from the path in the option `library`. A plain `libduckdb.so` will do, and so will the extension
//! module of DuckDB's Python package, which exports the same C interface.

mod appender;
mod bind;
mod column;
mod connection;
mod data_chunk;
mod database;
mod interface;
mod interval;
mod json;
mod library;
mod list_text;
mod refusal;
mod result;
mod scalar;
mod statement;

pub use connection::DuckdbConnection;

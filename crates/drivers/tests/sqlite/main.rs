//! Tests the driver with the library, on real files.

mod bulk;
mod counters;
mod errors;
#[path = "../pieces/mod.rs"]
mod pieces;
mod support;
mod values;

//! The driver against the library itself, on real files.

mod bulk;
mod counters;
mod errors;
#[path = "../pieces/mod.rs"]
mod pieces;
mod support;
mod values;

//! Runs the inputs of the fuzz targets, one file for each subject. The tests of the crates include
//! the same files, so that every `cargo test` includes a short run.

pub mod language;
pub mod wire;

//! What the fuzz targets do with their input, a file for each subject. The tests of the crates include
//! the same files, so that every `cargo test` has a short run.

pub mod language;
pub mod wire;

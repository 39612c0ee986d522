//! What the fuzz targets do with their input, a file for each of what is fuzzed. The tests of the crates take
//! the same files, so that a short run belongs to every `cargo test`.

pub mod language;
pub mod wire;

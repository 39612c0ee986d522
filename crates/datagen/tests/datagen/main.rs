//! Tests of the crate: generated rows, and their text.

mod rows;
mod texts;

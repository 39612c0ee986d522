//! The driver against the library itself, on real files.

mod bulk;
mod counters;
mod errors;
mod support;
mod values;

//! The driver against the library itself, on real files.

mod bulk;
mod errors;
mod support;
mod values;

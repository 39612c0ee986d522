//! Tests the driver with the library, on real files.

mod bulk;
mod confinement;
mod counters;
mod errors;
mod support;
mod values;

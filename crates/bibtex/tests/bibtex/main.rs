//! Tests of the crate's public functions.

mod bad_input;
mod field_rules;
mod reading;
mod recovery;
mod replicas;
mod script;

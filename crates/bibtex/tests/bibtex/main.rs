//! Tests of the crate's public functions.

mod bad_input;
mod damage;
mod field_rules;
mod golden;
mod large;
mod reading;
mod recovery;
mod replicas;
mod script;
mod streaming;

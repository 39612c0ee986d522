//! Tests of the whole crate: what is compiled from a script, and what the machine does that steps through it.

#![expect(clippy::unwrap_used, reason = "in a test a panic is the message")]

mod bad_scripts;
mod documents;
mod explain;
mod expressions;
mod functions;
mod pgbench;
mod pgbench_scripts;
mod random_scripts;
mod sending;
mod statements;
mod stepping;
mod support;
mod values;

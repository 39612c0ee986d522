//! Takes requests; writes the bytes of PostgreSQL's protocol, version 3, and reads the answers.
//!
//! The client's own cost limits what can be measured, so an execution does little work: bytes made at
//! Prepare are appended, the parameters are patched into them (`statement`), and sent at once; the answer
//! is scanned in the receive buffer (`exchange`, `rows`), without allocating or copying. What happens once
//! per session uses the `postgres-protocol` crate.
//!
//! Protocol: PostgreSQL manual, chapter "Frontend/Backend Protocol". Text is UTF-8, answers are in the
//! protocol's text format.

mod client;
mod message;
mod server;

pub use client::PostgresqlWire;
pub use server::PostgresqlServer;

//! Takes requests; writes the bytes of PostgreSQL's protocol, version 3, and reads the answers.
//!
//! The client's own cost limits what can be measured, so an execution does little work: bytes made at
//! Prepare are appended, the parameters are patched into them (`statement`), and sent at once; the answer
//! is scanned in the receive buffer (`exchange`, `rows`), without allocating or copying. What happens once
//! per session uses the `postgres-protocol` crate.
//!
//! Protocol: PostgreSQL manual, chapter "Frontend/Backend Protocol". Text is UTF-8, answers are in the
//! protocol's text format.

mod authentication;
mod command_tag;
mod copy_binary;
mod copy_data;
mod copy_text;
mod direct;
mod exchange;
mod exchange_rare;
mod frontend_messages;
mod message;
mod parameter;
mod parameter_text;
mod refusal;
mod rows;
mod server;
mod server_copy;
mod server_errors;
mod server_load;
mod server_portal;
mod server_reply;
mod server_request;
mod server_startup;
mod server_tag;
mod session;
mod session_state;
mod startup;
mod statement;
mod wire;

pub use server::PostgresqlServer;
pub use session::PostgresqlWire;

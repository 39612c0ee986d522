//! Takes requests; gives the bytes of PostgreSQL's protocol, version 3, and reads the answers.
//!
//! The road of an execution is kept short, because the client's cost is what Assay measures itself by:
//! one append of bytes made at Prepare, the parameters patched between them (`statement`), one send; the
//! answer is scanned in the receive buffer (`exchange`, `rows`), without an allocation or a copy.
//! Everything that happens once a session goes through the `postgres-protocol` crate.
//!
//! Protocol: PostgreSQL manual, chapter "Frontend/Backend Protocol". Texts are UTF-8, answers are in the
//! protocol's text format.

mod authentication;
mod copy_binary;
mod copy_data;
mod copy_text;
mod direct;
mod exchange;
mod exchange_rare;
mod kept;
mod message;
mod outgoing;
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
mod startup;
mod statement;
mod wire;

pub use server::PostgresqlServer;
pub use session::PostgresqlWire;

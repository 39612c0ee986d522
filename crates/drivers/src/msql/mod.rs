//! Takes requests; returns the packets of the mSQL protocol, and the answers.
//!
//! A packet is a length of four bytes, the lowest first, and text. The server speaks first:
//! `0:PROTOCOL:VERSION`. The client then sends its name and a newline. Its commands are `1:` (quit),
//! `2:NAME` (choose a database) and `3:STATEMENT`. The server answers each with `-1:MESSAGE`, `1`, or
//! `1:FIELDS`, after which a packet follows for each row and `-100` ends them; then the same with a
//! description of each column. Within a row each value is `LENGTH:BYTES`.
//!
//! mSQL has no transactions, no prepared statements and no counts of changed rows. Values are written into
//! the text of the statement. Its errors have no codes; their class comes from their words.
//!
//! Written from a description of the protocol (version 4), and not verified against a server.

mod client;
pub(crate) mod packet;
pub(crate) mod refusal;
mod server;

pub use client::MsqlWire;
pub use server::MsqlServer;

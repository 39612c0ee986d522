//! Takes requests; returns the bytes of the client/server protocol of MySQL and MariaDB, and the
//! answers.
//!
//! The client's own cost limits what can be measured, so an execution does little work: parameters
//! are written directly into the send buffer, their types only if the server does not know them yet;
//! rows are scanned in the receive buffer, and if their cells are not needed only the packet headers.
//! A MariaDB server sends a statement's column definitions once (`MARIADB_CLIENT_CACHE_METADATA`).
//!
//! This driver needs few packets, so it has its own codec: `mysql_common` 0.38 depends on fifty
//! crates, and panics if a server's public key is empty.
//!
//! Protocol: "Client/Server Protocol" of the MariaDB documentation, and the chapter of that name in the
//! source documentation of the MySQL server.

mod authentication;
mod binary_cell;
mod column;
mod constants;
mod escape;
mod file_load;
mod float_text;
mod greeting;
mod insert_load;
mod own_statement;
mod packet;
mod prepare;
mod public_key;
mod refusal;
mod results;
mod rows;
mod scan;
mod scramble;
mod server;
mod server_command;
mod server_errors;
mod server_greeting;
mod server_ok;
mod server_reply;
mod session;
mod signature;
mod statement;
mod statements;
mod typed_value;
mod wire;
mod wire_packets;

pub use server::MysqlServer;
pub use wire::MysqlWire;

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

mod client;
pub(crate) mod constants;
pub(crate) mod float_text;
pub(crate) mod greeting;
pub(crate) mod packet;
pub(crate) mod refusal;
pub(crate) mod results;
pub(crate) mod rows;
mod server;

pub use client::MysqlWire;
pub use server::MysqlServer;

//! Takes requests; gives the bytes of the client/server protocol of MySQL and MariaDB, and the answers
//! that came back.
//!
//! The road of an execution is kept short, because the client's cost is what Assay measures itself by:
//! parameters go straight into the send buffer, their types only where the server does not know them;
//! rows are scanned in the receive buffer, and where nobody wants their cells only their headers are.
//! A MariaDB server sends a statement's column definitions once (`MARIADB_CLIENT_CACHE_METADATA`).
//!
//! The packets this driver needs are few, so they are written out here: `mysql_common` 0.38 brings
//! fifty crates for them, and panics where a server's public key is empty.
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
mod statement;
mod statements;
mod typed_value;
mod wire;
mod wire_packets;

pub use server::MysqlServer;
pub use wire::MysqlWire;

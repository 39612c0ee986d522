//! The PostgreSQL driver against recorded conversations, broken ones, and a server of today.
//!
//! A conversation (`conversations/*.txt`) says what is asked, what the driver sends, what a server sent
//! back, and what that means. It is replayed without a server, whole and byte by byte; and where this
//! machine has a PostgreSQL, asked again of a private server, which must mean the same.

mod conversation;
mod fuzz;
mod live;
#[path = "../pieces/mod.rs"]
mod pieces;
mod pump;
mod recorded;
mod scram;
mod server;

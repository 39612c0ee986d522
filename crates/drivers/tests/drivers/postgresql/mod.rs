//! Tests the PostgreSQL driver with recorded conversations, mutated recordings, and an installed server.
//!
//! A conversation (`conversations/*.txt`) contains each request, the bytes that the driver sends, the bytes that
//! a server returned, and the result. It is replayed without a server, whole and byte by byte; and if
//! PostgreSQL is installed, it is run on a private server, with the same results.

mod conversation;
mod fuzz;
mod live;
mod pump;
mod recorded;
mod scram;
mod server;

//! Shared by the tests of the MySQL driver.

pub mod client;
pub mod conversation;
pub mod server;

//! Shared by the tests of the MySQL driver.

mod client;
mod conversation;
mod live;
mod recorded;
mod server;
mod statements;

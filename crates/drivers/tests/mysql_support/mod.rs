//! Shared by the tests of the MySQL driver.
#![allow(dead_code)] // each test program uses its part

pub mod client;
pub mod conversation;
#[path = "../pieces/mod.rs"]
pub mod pieces;
pub mod server;

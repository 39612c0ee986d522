//! Tests of the whole crate: each driver on recorded conversations, on servers that violate its protocol, and on real
//! servers and libraries where there are some; each pair of sides with one another.

mod both_sides;
mod cassandra;
mod duckdb;
mod fuzz;
mod mongodb;
mod msql;
mod mysql;
mod null;
mod postgresql;
mod server;
mod sqlite;
mod support;

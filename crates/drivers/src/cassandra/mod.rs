//! Takes requests; gives the messages of the CQL binary protocol of Cassandra, versions 4 and 5, and the answers
//! that came back.
//!
//! The road of an execution is kept short, because the client's cost is what Assay measures itself by: values
//! go into memory that is used again, their bytes once more into the send buffer; answers are scanned in the
//! receive buffer, and rows whose cells are not kept are only counted. With version 5 the server describes the
//! rows of a prepared statement once.
//!
//! A pipeline, and the rows of a load, are many requests under way on one connection: the server executes them
//! side by side and answers in any order.
//!
//! The messages that this driver needs are few, so they are written out here: `scylla-cql` ends at version 4,
//! and allocates for each request and for each row.
//!
//! Protocol: `doc/native_protocol_v4.spec` and `doc/native_protocol_v5.spec` in Cassandra's sources.

mod client;
pub(crate) mod cql_type;
pub(crate) mod frame_reader;
pub(crate) mod frame_writer;
pub(crate) mod notation;
pub(crate) mod refusal;
pub(crate) mod segment;
mod server;

pub use client::CassandraWire;
pub use server::CassandraServer;

//! Tests of the whole engine: against a system with known delays and failures, and against a real server if
//! this machine has one.

#![expect(clippy::unwrap_used, reason = "in a test a panic is the message")]

mod support;

mod closed_loop;
mod deferred;
mod delay_proxy;
mod document_server;
mod document_system;
mod documents;
mod failures;
mod groups;
mod load;
mod load_generated;
mod open_loop;
mod own_time;
mod pipelines;
mod prepared_again;
mod retries;
mod ride_through;
mod serve;
mod server;
mod server_end;
mod server_load;
mod server_tls;
mod service;
mod slices;
mod transactions;
mod truth;

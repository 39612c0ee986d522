//! The driver of Cassandra: on conversations recorded from a real server, on servers that speak against the
//! protocol, and on a real server where there is one.
//!
//! `ASSAY_TEST_CASSANDRA=HOST:PORT` names a server with user and password `cassandra`; with
//! `ASSAY_TEST_RECORD=1` its conversations are written down again.

mod conversation;
mod hostile;
mod null_server;
mod peer;
mod recorded;
mod scripted;

//! The driver of MongoDB's protocol: on a conversation recorded from a server, on servers that violate the
//! protocol, on scripted answers, and on a real server where there is one.
//!
//! `ASSAY_TEST_MONGODB=HOST:PORT` names a server without users; with `ASSAY_TEST_RECORD=NAME` the conversation with
//! it is written down under that name.

mod conversation;
mod hostile;
mod null_server;
mod peer;
mod recorded;
mod scripted;

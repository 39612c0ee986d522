//! Takes requests; gives the messages of MongoDB's wire protocol (OP_MSG), and the answers that came back.
//!
//! A statement is one command as relaxed JSON. It is compiled once to the bytes of its document, with places for
//! the values: an execution copies bytes and writes values by their own types, and reads the answer in the receive
//! buffer; documents whose fields are not kept are only counted.
//!
//! Documents are rows: the first names the columns. What belongs to the session (its id, its transaction, write
//! and read concern, the database) is added to each command. A transaction begins with its first command: to begin
//! one, nothing is sent.
//!
//! Writing a template and reading in place are not what the `bson` crate is for (it builds documents, and checks
//! them as a whole), and the types that are needed are few, so they are written out here.
//!
//! Protocol: <https://www.mongodb.com/docs/manual/reference/mongodb-wire-protocol/>; BSON: <https://bsonspec.org>.

mod client;
pub(crate) mod decimal128;
pub(crate) mod message;
pub(crate) mod scan;
mod server;
pub(crate) mod settings;
pub(crate) mod write;

pub use client::MongodbWire;
pub use server::MongodbServer;

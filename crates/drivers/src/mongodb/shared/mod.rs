//! What both sides of a connection read and write: messages and BSON.

pub(crate) mod constants;
pub(crate) mod decimal128;
pub(crate) mod message;
pub(crate) mod scan;
pub(crate) mod settings;
pub(crate) mod write;

//! What both sides of a connection read and write: packets, fields, errors.

pub(crate) mod fields;
pub(crate) mod packet;
pub(crate) mod refusal;

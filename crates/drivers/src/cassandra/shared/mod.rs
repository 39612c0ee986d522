//! What both sides of a connection read and write: frames, segments, types, errors.

pub(crate) mod constants;
pub(crate) mod cql_type;
pub(crate) mod frame_reader;
pub(crate) mod frame_writer;
pub(crate) mod refusal;
pub(crate) mod scan;
pub(crate) mod segment;

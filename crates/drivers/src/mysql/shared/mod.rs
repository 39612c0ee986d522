//! What both sides of a connection read and write: packets, the greeting, columns, results, errors.

pub(crate) mod column;
pub(crate) mod constants;
pub(crate) mod float_text;
pub(crate) mod greeting;
pub(crate) mod packet;
pub(crate) mod refusal;
pub(crate) mod results;
pub(crate) mod rows;
pub(crate) mod scan;

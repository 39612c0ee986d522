//! Takes requests with their arrival; returns when each ends, in virtual time.
//!
//! A model does no I/O, reads no clock and draws its random numbers from a seed: the same requests at the
//! same times always end at the same times. As queues reorder, the end of a request is not known when it
//! arrives: a model is asked for the time of its next event and then advanced to it.

mod array;
mod dirty;
mod disk;
mod geometry;
pub mod parameters;
pub(crate) mod parse;
pub mod profiles;
pub mod random;
mod read_ahead;
pub mod rotating;
mod seek;
pub mod solid_state;
mod stripe;

pub use disk::{Disk, Event, Operation, Request};
pub use parameters::Parameters;

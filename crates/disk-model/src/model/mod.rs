//! Takes requests with their arrival; returns when each ends, in virtual time.
//!
//! A model does no I/O, reads no clock and draws its random numbers from a seed: the same requests at the
//! same times always end at the same times. As queues reorder, the end of a request is not known when it
//! arrives: a model is asked for the time of its next event and then advanced to it.

mod array;
mod disk;
mod geometry;
pub mod parameters;
pub mod rotating;
pub mod solid_state;

pub(crate) use disk::Random;
pub use disk::{Disk, Event, Operation, Request};
pub use parameters::Parameters;

//! Takes the parameters of a disk; serves an image file that answers as that disk would.
//!
//! * `model`: the disks themselves, in virtual time: requests with arrivals to ends. No I/O, no clock.

mod error;
pub mod model;

pub use error::DiskError;

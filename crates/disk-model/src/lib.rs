//! Takes the parameters of a disk; serves an image file that answers as that disk would.
//!
//! * `model`: the disks themselves, in virtual time: requests with arrivals to ends. No I/O, no clock.
//! * `device`: a model in real time, with its data: what is durable, what a power cut leaves, which requests fail.
//! * `account`: every request with its times, in a file; `counters`: sums at any time.
//! * `serve`: the device as one file of a FUSE mount, and a socket for commands; `calibration`: what the way to it costs.
//! * `program`: all of it behind a command line, for the binary and for the Python package.

pub mod account;
mod calibration;
mod clock;
pub mod command_line;
mod control;
mod counters;
pub mod device;
mod error;
mod faults;
mod fuse;
mod image;
pub mod model;
pub mod program;
pub mod serve;
mod volatile;

pub use calibration::PathCosts;
pub use clock::monotonic_ns;
pub use counters::Counts;
pub use error::DiskError;
pub use faults::Rule;
pub use image::Image;
pub use volatile::{Keep, Lost, PowerCut, Torn};

//! Tests of the crate: the models in virtual time, the device with its data, and a disk that is served.

mod device;
mod model;
mod served;

//! Watches over a run from outside its clients: its beginning and end, its progress, calls that do not return, a suspended process.

pub(crate) mod call_timeout;
pub(crate) mod start_barrier;
pub(crate) mod supervisor;
pub(crate) mod suspension_detector;

//! Takes the document's rate and times; says when each client begins what: the schedule, arrivals, the queue of deferred scripts.

pub(crate) mod arrivals;
pub(crate) mod deferred_queue;
pub(crate) mod open_loop;
pub(crate) mod schedule;

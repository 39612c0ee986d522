//! Takes the instant at which a client is free; gives the instant at which its next transaction is due.

/// How transactions arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pacer {
    /// A client's next transaction starts when its last one has ended. There is no schedule: the start
    /// that a transaction is timed from is the actual one, and a stall of the system also holds back the
    /// transactions that would have met it. An observation of a closed loop says no more than that.
    Closed,
}

impl Pacer {
    /// When the next transaction of a client that is free at `free_ns` is intended to start.
    #[must_use]
    #[inline]
    pub fn intended_ns(self, free_ns: u64) -> u64 {
        match self {
            Self::Closed => free_ns,
        }
    }
}

//! Takes a client's number; returns its pauses between transactions, and between its attempts to reconnect
//! after a lost session.

use std::time::Duration;

use assay_values::{Distribution, Random};

use crate::drive::plan::group::Group;

/// The random stream of pauses, separate from the client's others: different pauses leave the values of its
/// scripts unchanged.
const PAUSES: u64 = 0x7468_696e_6b69_6e67;

/// The pause before the first attempt to reconnect; it doubles with each attempt, …
const FIRST_TRY_NS: u64 = 10_000_000;
/// … up to this.
const SLOWEST_TRY_NS: u64 = 1_000_000_000;
/// How long a client waits for its next transaction after its connection was refused.
pub const REFUSED_PAUSE_NS: u64 = 10_000_000;

#[derive(Debug)]
pub struct ThinkTime {
    random: Random,
    next_try_ns: u64,
}

impl ThinkTime {
    #[must_use]
    pub fn new(seed: u64, client: u32) -> Self {
        Self {
            random: Random::stream(seed ^ PAUSES, client.into()),
            next_try_ns: FIRST_TRY_NS,
        }
    }

    /// The pause before a client's first transaction.
    pub fn first_ns(&mut self, group: &Group) -> u64 {
        self.draw(group.keying_time)
    }

    /// The pause between two transactions.
    #[inline]
    pub fn between_ns(&mut self, group: &Group) -> u64 {
        self.draw(group.think_time) + self.draw(group.keying_time)
    }

    /// The pause before the next attempt to reconnect: longer each time, and randomly up to half as much
    /// more, so that clients that were lost together do not reconnect at once.
    pub fn back_off_ns(&mut self) -> u64 {
        let least_ns = self.next_try_ns;
        self.next_try_ns = (2 * least_ns).min(SLOWEST_TRY_NS);
        let spread = Distribution::Uniform(Duration::ZERO, Duration::from_nanos(least_ns / 2));
        least_ns + self.draw(Some(spread))
    }

    /// The client has reconnected.
    pub fn reset_back_off(&mut self) {
        self.next_try_ns = FIRST_TRY_NS;
    }

    #[inline]
    fn draw(&mut self, pause: Option<Distribution>) -> u64 {
        let Some(pause) = pause else {
            return 0;
        };
        let drawn = pause.draw(&mut self.random);
        u64::try_from(drawn.as_nanos()).unwrap_or(u64::MAX)
    }
}

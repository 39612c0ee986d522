//! Takes a client's number; gives how long it pauses between its transactions, and between its tries to
//! come back after it has lost its session.

use std::time::Duration;

use assay_values::{Distribution, Random};

use super::group::Group;

/// Keeps pauses apart from the other random numbers of a client: with others its scripts still compute
/// the same values.
const PAUSES: u64 = 0x7468_696e_6b69_6e67;

/// After a loss a client tries again after this time, and then after twice as much each time, …
const FIRST_TRY_NS: u64 = 10_000_000;
/// … but at least this often.
const SLOWEST_TRY_NS: u64 = 1_000_000_000;
/// How long a client that was not let in for one transaction waits before the next.
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

    /// Before a client's first transaction.
    pub fn first_ns(&mut self, group: &Group) -> u64 {
        self.draw(group.keying_time)
    }

    /// After one transaction and before the next.
    #[inline]
    pub fn between_ns(&mut self, group: &Group) -> u64 {
        self.draw(group.think_time) + self.draw(group.keying_time)
    }

    /// Before the next try to come back: longer each time, and by chance up to half as much, so that
    /// clients that were lost together do not all come at once.
    pub fn back_off_ns(&mut self) -> u64 {
        let least_ns = self.next_try_ns;
        self.next_try_ns = (2 * least_ns).min(SLOWEST_TRY_NS);
        let spread = Distribution::Uniform(Duration::ZERO, Duration::from_nanos(least_ns / 2));
        least_ns + self.draw(Some(spread))
    }

    /// The client is back.
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

//! Takes the times of single passes; keeps those that ended first, in memory that is there from the beginning.

use crate::observation::PassTime;

/// More are not kept: these take half a megabyte of a record.
const MOST: usize = 10_000;

/// Of the groups that keep them.
#[derive(Debug, Default)]
pub struct PassTimes {
    kept: Vec<PassTime>,
}

impl PassTimes {
    /// With room for all that will be kept.
    #[must_use]
    pub fn new(are_kept: bool) -> Self {
        let kept = Vec::with_capacity(if are_kept { MOST } else { 0 });
        Self { kept }
    }

    pub fn add(&mut self, time: PassTime) {
        if self.kept.len() < MOST {
            self.kept.push(time);
        }
    }

    /// Adds those of other clients, of the same measurement.
    pub fn merge(&mut self, other: &Self) {
        self.kept.extend(&other.kept);
    }

    /// In the order of their ends.
    #[must_use]
    pub fn finish(&self) -> Vec<PassTime> {
        let mut times = self.kept.clone();
        times.sort_unstable_by_key(|time| (time.end_ns, time.client));
        times.truncate(MOST);
        times
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ending(first: u64, step: usize) -> PassTimes {
        let mut times = PassTimes::new(true);
        for end_ns in (first..).step_by(step).take(MOST + 5) {
            let client = u32::try_from(first).expect("a small number");
            times.add(PassTime {
                client,
                end_ns,
                latency_ns: 1,
            });
        }
        times
    }

    #[test]
    fn the_first_of_all_clients_are_kept_without_growing() {
        let mut times = ending(0, 2);
        assert_eq!((times.kept.len(), times.kept.capacity()), (MOST, MOST));
        times.merge(&ending(1, 2));
        let ends: Vec<_> = times.finish().iter().map(|time| time.end_ns).collect();
        assert_eq!(ends, (0..10_000).collect::<Vec<_>>());
    }
}

//! Takes the times in which no transaction ended, and those in which clients waited for an answer; returns
//! the stalls: times in which clients waited and none got an answer.
//!
//! A stall lasts at least a second, and ten times the median latency of the waiting transactions' type: a
//! system whose queries take a minute does not stall for a minute.

use crate::account::completion_gaps::{LEAST_NS, TimeSpan};

const TIMES_MEDIAN: u64 = 10;

/// Long waits of one thread's clients, by transaction type.
#[derive(Clone, Debug, Default)]
pub struct Waits {
    /// On the run's clock. Overlapping waits are merged.
    by_type: Vec<Vec<TimeSpan>>,
}

impl Waits {
    pub fn new(types: usize) -> Self {
        Self {
            by_type: vec![Vec::new(); types],
        }
    }

    /// A client has waited for an answer; to be called in the order in which waits end.
    #[inline]
    pub fn waited(&mut self, transaction_type: u32, from_ns: u64, to_ns: u64) {
        if to_ns.saturating_sub(from_ns) >= LEAST_NS {
            self.add(transaction_type, TimeSpan { from_ns, to_ns });
        }
    }

    #[cold]
    fn add(&mut self, transaction_type: u32, mut wait: TimeSpan) {
        let waits = &mut self.by_type[transaction_type as usize];
        while let Some(last) = waits.pop_if(|last| wait.from_ns <= last.to_ns) {
            wait.from_ns = wait.from_ns.min(last.from_ns);
            wait.to_ns = wait.to_ns.max(last.to_ns);
        }
        waits.push(wait);
    }

    pub fn merge(&mut self, other: Self) {
        for (mine, theirs) in self.by_type.iter_mut().zip(other.by_type) {
            mine.extend(theirs);
        }
    }

    /// The stalls among `gaps` of a measurement that began at `began_ns`; `median_ns` returns the median
    /// latency of a type. Times in which this process was suspended (`suspensions`) are not stalls of the
    /// system.
    pub fn stalls(
        self,
        gaps: &[TimeSpan],
        suspensions: &[TimeSpan],
        began_ns: u64,
        median_ns: impl Fn(u32) -> u64,
    ) -> Vec<TimeSpan> {
        let mut found = Vec::new();
        for (transaction_type, waits) in (0u32..).zip(self.by_type) {
            if waits.is_empty() {
                continue;
            }
            let least_ns = LEAST_NS.max(TIMES_MEDIAN.saturating_mul(median_ns(transaction_type)));
            let waits = union(waits.into_iter().map(|wait| TimeSpan {
                from_ns: wait.from_ns.saturating_sub(began_ns),
                to_ns: wait.to_ns.saturating_sub(began_ns),
            }));
            for gap in gaps {
                let stalls = waits.iter().filter_map(|wait| wait.common(gap));
                found.extend(stalls.filter(|stall| stall.length_ns() >= least_ns));
            }
        }
        let mut left = union(found.into_iter());
        for suspension in suspensions {
            left = left
                .iter()
                .flat_map(|stall| stall.without(suspension))
                .collect();
        }
        left.retain(|stall| stall.length_ns() >= LEAST_NS);
        left
    }
}

/// The same times, merged and in order.
fn union(spans: impl Iterator<Item = TimeSpan>) -> Vec<TimeSpan> {
    let mut sorted: Vec<_> = spans.collect();
    sorted.sort_by_key(|span| span.from_ns);
    let mut merged: Vec<TimeSpan> = Vec::new();
    for span in sorted {
        match merged.last_mut() {
            Some(last) if span.from_ns <= last.to_ns => {
                last.to_ns = last.to_ns.max(span.to_ns);
            }
            _ => merged.push(span),
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: u64 = 1_000_000_000;

    fn s(from_s: u64, to_s: u64) -> TimeSpan {
        TimeSpan {
            from_ns: from_s * S,
            to_ns: to_s * S,
        }
    }

    /// Clients waited from 12 s to 20 s on the run's clock; the measurement began at 10 s.
    fn waits() -> Waits {
        let mut waits = Waits::new(2);
        waits.waited(1, 12 * S, 19 * S);
        waits.waited(1, 13 * S, 20 * S);
        waits.waited(1, 25 * S, 25 * S + 1);
        waits
    }

    #[test]
    fn a_stall_is_a_gap_in_which_clients_waited() {
        let stalls = waits().stalls(&[s(1, 4), s(7, 20)], &[], 10 * S, |_| S / 100);
        assert_eq!(stalls, [s(2, 4), s(7, 10)]);
    }

    #[test]
    fn long_transactions_are_no_stall() {
        let stalls = waits().stalls(&[s(1, 4)], &[], 10 * S, |_| S);
        assert_eq!(stalls, []);
    }

    #[test]
    fn a_suspended_client_is_no_stall_of_the_system() {
        let stalls = waits().stalls(&[s(2, 10)], &[s(1, 5), s(8, 10)], 10 * S, |_| 0);
        assert_eq!(stalls, [s(5, 8)]);
    }
}

//! Takes the instants at which transactions ended, second by second; returns the times in which none ended.

/// The minimum length of a completion gap.
pub const LEAST_NS: u64 = 1_000_000_000;

/// A tenth of a second.
const PART_NS: u64 = 100_000_000;
const PARTS: usize = 10;

/// A time span, counted from the start of the measurement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TimeSpan {
    pub from_ns: u64,
    pub to_ns: u64,
}

impl TimeSpan {
    pub fn length_ns(&self) -> u64 {
        self.to_ns.saturating_sub(self.from_ns)
    }

    /// The overlap of both, if any.
    pub fn common(&self, other: &Self) -> Option<Self> {
        let common = Self {
            from_ns: self.from_ns.max(other.from_ns),
            to_ns: self.to_ns.min(other.to_ns),
        };
        (common.length_ns() > 0).then_some(common)
    }

    /// What remains before and after `part`.
    pub fn without(&self, part: &Self) -> [Self; 2] {
        let inside_ns = |at_ns: u64| at_ns.clamp(self.from_ns, self.to_ns);
        [
            Self {
                to_ns: inside_ns(part.from_ns),
                ..*self
            },
            Self {
                from_ns: inside_ns(part.to_ns),
                ..*self
            },
        ]
    }
}

/// The first and the last end in each tenth of one second. Aggregators of several threads can be merged, and
/// a gap is longer than a tenth.
#[derive(Debug, Default)]
pub struct Completions {
    parts: [Option<TimeSpan>; PARTS],
    /// The tenth of the last end, which is nearly always also that of the next; empty at first.
    open: TimeSpan,
    place: usize,
}

impl Completions {
    #[inline]
    pub fn at(&mut self, since_ns: u64) {
        if since_ns.wrapping_sub(self.open.from_ns) >= self.open.length_ns() {
            self.turn_to(since_ns);
        }
        if let Some(ends) = &mut self.parts[self.place] {
            ends.from_ns = ends.from_ns.min(since_ns);
            ends.to_ns = ends.to_ns.max(since_ns);
        }
    }

    #[cold]
    fn turn_to(&mut self, since_ns: u64) {
        let part = since_ns / PART_NS;
        self.place = usize::try_from(part % PARTS as u64).expect("it is less than ten");
        self.open = TimeSpan {
            from_ns: part * PART_NS,
            to_ns: (part + 1) * PART_NS,
        };
        self.parts[self.place].get_or_insert(TimeSpan {
            from_ns: since_ns,
            to_ns: since_ns,
        });
    }

    pub fn merge(&mut self, other: &Self) {
        for ends in other.each() {
            self.at(ends.from_ns);
            self.at(ends.to_ns);
        }
    }

    fn each(&self) -> impl Iterator<Item = &TimeSpan> {
        self.parts.iter().flatten()
    }
}

/// The gaps found so far.
#[derive(Debug, Default)]
pub struct CompletionGaps {
    last_end_ns: u64,
    found: Vec<TimeSpan>,
}

impl CompletionGaps {
    /// Adds the next second.
    pub fn add(&mut self, ends: &Completions) {
        for ends in ends.each() {
            self.until(ends.from_ns);
            self.last_end_ns = ends.to_ns;
        }
    }

    /// Adds ends to a second that was already added: they may split or remove gaps.
    pub fn add_late(&mut self, ends: &Completions) {
        for ends in ends.each() {
            let found = std::mem::take(&mut self.found).into_iter();
            self.found = found
                .flat_map(|gap| gap.without(ends))
                .filter(|gap| gap.length_ns() >= LEAST_NS)
                .collect();
            self.last_end_ns = self.last_end_ns.max(ends.to_ns);
        }
    }

    /// All gaps of a measurement of this length.
    pub fn finish(mut self, elapsed_ns: u64) -> Vec<TimeSpan> {
        self.until(elapsed_ns);
        self.found
    }

    fn until(&mut self, to_ns: u64) {
        let gap = TimeSpan {
            from_ns: self.last_end_ns,
            to_ns,
        };
        if gap.length_ns() >= LEAST_NS {
            self.found.push(gap);
        }
    }
}

/// The gaps in which transactions were started: after the stop (`stop_ns` after the start) no transaction
/// begins, and a long one causes no gap for the others. A gap that was long enough at the stop counts in
/// full.
pub fn before_stop(gaps: Vec<TimeSpan>, stop_ns: u64) -> Vec<TimeSpan> {
    let before_stop_ns = |gap: &TimeSpan| stop_ns.saturating_sub(gap.from_ns);
    let mut kept = gaps;
    kept.retain(|gap| gap.to_ns <= stop_ns || before_stop_ns(gap) >= LEAST_NS / 2);
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn ends(at_ms: &[u64]) -> Completions {
        let mut ends = Completions::default();
        at_ms.iter().for_each(|at| ends.at(at * MS));
        ends
    }

    fn gap(from_ms: u64, to_ms: u64) -> TimeSpan {
        TimeSpan {
            from_ns: from_ms * MS,
            to_ns: to_ms * MS,
        }
    }

    #[test]
    fn a_gap_lies_between_two_ends_wherever_seconds_begin() {
        let mut gaps = CompletionGaps::default();
        let mut first = ends(&[10, 400]);
        first.merge(&ends(&[470, 20]));
        gaps.add(&first);
        gaps.add(&ends(&[1_460, 1_490]));
        gaps.add(&ends(&[]));
        gaps.add(&ends(&[3_900]));
        let found = gaps.finish(4_950 * MS);
        assert_eq!(found, [gap(1_490, 3_900), gap(3_900, 4_950)]);
    }

    #[test]
    fn an_end_that_is_added_late_splits_a_gap() {
        let mut gaps = CompletionGaps::default();
        gaps.add(&ends(&[10]));
        for _ in 1..5 {
            gaps.add(&ends(&[]));
        }
        gaps.add(&ends(&[5_000]));
        gaps.add_late(&ends(&[700]));
        assert_eq!(gaps.finish(5_100 * MS), [gap(700, 5_000)]);
    }

    #[test]
    fn after_the_stop_only_gaps_that_began_before_count() {
        let all = vec![gap(500, 1_700), gap(2_300, 8_000)];
        assert_eq!(before_stop(all.clone(), 2_200 * MS), all[..1]);
        assert_eq!(before_stop(all.clone(), 2_400 * MS), all[..1]);
        assert_eq!(before_stop(all.clone(), 3_300 * MS), all);
        assert_eq!(before_stop(all.clone(), u64::MAX), all);
    }
}

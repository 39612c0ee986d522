//! Takes the instants at which transactions ended; returns one interval for each second and group.
//!
//! A second that still gets samples has histograms; a finished one only its interval, in which they are
//! encoded. A second stays open for one more second, because a thread may be suspended between reading the
//! clock and adding its sample. Samples that arrive even later are merged into the interval.
//!
//! An interval of some thousand transactions is 2.5 to 3 kB of JSON: ten minutes of three groups are about 5
//! MB.

use std::collections::BTreeMap;

use crate::account::Layout;
use crate::account::completion_gaps::{CompletionGaps, TimeSpan};
use crate::account::second::{GroupSecond, Second};
use crate::observation::Interval;

const SECOND_NS: u64 = 1_000_000_000;

/// Seconds of one aggregator that may still get samples.
#[derive(Debug)]
pub struct OpenSeconds {
    groups: usize,
    seconds: BTreeMap<u64, Second>,
}

impl OpenSeconds {
    pub fn new(groups: usize) -> Self {
        Self {
            groups,
            seconds: BTreeMap::new(),
        }
    }

    /// The second at `since_ns` after the start of the measurement.
    #[inline]
    pub fn at(&mut self, since_ns: u64) -> &mut Second {
        let groups = self.groups;
        self.seconds
            .entry(since_ns / SECOND_NS)
            .or_insert_with(|| Second::new(groups))
    }

    pub fn close(&mut self, horizon: u64, series: &mut Series) {
        while let Some(entry) = self.seconds.first_entry() {
            if *entry.key() >= horizon {
                return;
            }
            let (number, second) = entry.remove_entry();
            series.add(number, &second);
        }
    }

    pub fn merge(&mut self, other: &Self) {
        for (number, second) in &other.seconds {
            self.at(number * SECOND_NS).merge(second);
        }
    }
}

/// The intervals of all seconds so far.
#[derive(Debug)]
pub struct Series {
    /// The groups' names.
    groups: Vec<String>,
    /// For each second an interval of each group.
    lines: Vec<Interval>,
    /// How many of them `take_completed` has given.
    taken: usize,
    /// Seconds from the aggregators that have no intervals yet.
    handed_over: BTreeMap<u64, Second>,
    /// By second and group, the lowest number of connected clients.
    connected: BTreeMap<u64, Vec<u32>>,
    gaps: CompletionGaps,
}

impl Series {
    pub fn new(layout: &Layout) -> Self {
        let names = layout.groups.iter().map(|group| group.name.clone());
        Self {
            groups: names.collect(),
            lines: Vec::new(),
            taken: 0,
            handed_over: BTreeMap::new(),
            connected: BTreeMap::new(),
            gaps: CompletionGaps::default(),
        }
    }

    /// This many clients of each group are connected at `since_ns` after the start of the measurement.
    pub fn connected(&mut self, since_ns: u64, clients: &[u32]) {
        self.connected
            .entry(since_ns / SECOND_NS)
            .and_modify(|fewest| {
                for (fewest, now) in fewest.iter_mut().zip(clients) {
                    *fewest = (*now).min(*fewest);
                }
            })
            .or_insert_with(|| clients.to_vec());
    }

    /// How many seconds have their intervals.
    fn written(&self) -> u64 {
        (self.lines.len() / self.groups.len().max(1)) as u64
    }

    fn add(&mut self, number: u64, second: &Second) {
        if number >= self.written() {
            let groups = self.groups.len();
            let handed_over = self.handed_over.entry(number);
            handed_over
                .or_insert_with(|| Second::new(groups))
                .merge(second);
            return;
        }
        self.gaps.add_late(&second.completions);
        let lines = self.lines.iter_mut().filter(|line| line.second == number);
        for (line, late) in lines.zip(&second.groups) {
            let mut whole = GroupSecond::read(line);
            whole.merge(late);
            *line = whole.line(number, &line.group);
        }
    }

    /// The intervals that were written since the last call.
    pub fn take_completed(&mut self) -> Vec<Interval> {
        let first = std::mem::replace(&mut self.taken, self.lines.len());
        let mut lines = self.lines[first..].to_vec();
        self.count_connected(&mut lines, first);
        lines
    }

    /// Says of each interval how many clients were connected; `first`: the place of the first one.
    fn count_connected(&self, lines: &mut [Interval], first: usize) {
        let groups = self.groups.len();
        for (place, line) in lines.iter_mut().enumerate() {
            // A second that has just begun may have no count yet: it takes the one before.
            let seen = self.connected.range(..=line.second).next_back();
            line.clients_connected =
                seen.map_or(0, |(_, clients)| clients[(first + place) % groups]);
        }
    }

    /// Writes the intervals of all seconds before `horizon`, empty ones if nothing ended.
    pub fn write_lines(&mut self, horizon: u64) {
        for number in self.written()..horizon {
            let empty = || Second::new(self.groups.len());
            let second = self.handed_over.remove(&number).unwrap_or_else(empty);
            self.gaps.add(&second.completions);
            for (group, name) in second.groups.iter().zip(&self.groups) {
                self.lines.push(group.line(number, name));
            }
        }
    }

    /// All intervals of a measurement of this length, up to the second in which the last transaction ended;
    /// and the times in which none ended.
    pub fn finish(mut self, elapsed_ns: u64) -> (Vec<Interval>, Vec<TimeSpan>) {
        let last = self
            .handed_over
            .last_key_value()
            .map_or(0, |(number, _)| number + 1);
        self.write_lines(last);
        let mut lines = std::mem::take(&mut self.lines);
        self.count_connected(&mut lines, 0);
        (lines, self.gaps.finish(elapsed_ns))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observation::Outcome;
    use assay_histogram::{EncodedHistogram, LatencyHistogram};

    #[test]
    fn seconds_without_an_end_have_an_interval_and_late_samples_are_in_it() {
        let mut open = OpenSeconds::new(2);
        let mut series = Series::new(&Layout::of_clients(&[8, 2]));
        let end = |open: &mut OpenSeconds, group, outcome, since_ns, latency_ns| {
            let second = open.at(since_ns);
            second.completed(since_ns);
            second.group(group).ended(outcome, latency_ns);
        };
        end(&mut open, 0, Outcome::Ok, 100, 1_000_001);
        let late_ns = SECOND_NS * 3 + 5;
        end(&mut open, 1, Outcome::Failed, late_ns, 9_000_000);
        series.connected(50, &[8, 2]);
        series.connected(SECOND_NS * 2, &[8, 2]);
        series.connected(SECOND_NS * 2 + 1, &[5, 2]);
        open.close(2, &mut series);
        series.write_lines(2);
        let completed = series.take_completed();
        let completed = completed
            .iter()
            .map(|line| (line.second, line.ok, line.clients_connected));
        assert_eq!(
            completed.collect::<Vec<_>>(),
            [(0, 1, 8), (0, 0, 2), (1, 0, 8), (1, 0, 2)]
        );
        assert!(series.take_completed().is_empty());
        // Arrives after its second was written.
        end(&mut open, 0, Outcome::Ok, 200, 7_000_003);
        open.close(u64::MAX, &mut series);
        let (lines, gaps) = series.finish(late_ns);

        let of_group = |name: &'static str| {
            let lines = lines.iter().filter(move |line| line.group == name);
            let seen =
                lines.map(|line| (line.second, line.ok, line.failed, line.clients_connected));
            seen.collect::<Vec<_>>()
        };
        assert_eq!(
            of_group("0"),
            [(0, 2, 0, 8), (1, 0, 0, 8), (2, 0, 0, 5), (3, 0, 0, 5)]
        );
        assert_eq!(
            of_group("1"),
            [(0, 0, 0, 2), (1, 0, 0, 2), (2, 0, 0, 2), (3, 0, 1, 2)]
        );
        let mut whole = LatencyHistogram::new();
        whole.record(1_000_001);
        whole.record(7_000_003);
        assert_eq!(lines[0].latency, Some(EncodedHistogram::from(&whole)));
        assert_eq!(lines[0].max_ns, 7_000_003);
        assert_eq!(lines[1].latency.as_ref(), None);
        let gap = gaps.iter().map(|gap| (gap.from_ns, gap.to_ns));
        assert_eq!(gap.collect::<Vec<_>>(), [(200, late_ns)]);
    }
}

//! Takes the instants at which transactions ended; returns one interval for each second and group.
//!
//! A second that still gets samples has histograms; a finished one only its interval, in which they are
//! encoded. A second stays open for one more second, because a thread may be suspended between reading the
//! clock and adding its sample. Samples that arrive even later are merged into the interval.
//!
//! An interval of some thousand transactions is 2.5 to 3 kB of JSON: ten minutes of three groups are about 5
//! MB.

use std::collections::BTreeMap;

use assay_histogram::{EncodedHistogram, LatencyHistogram};
use serde::Serialize;

use super::Layout;
use super::completion_gaps::{CompletionGaps, Completions, TimeSpan};
use crate::observation::{Interval, Outcome};

const SECOND_NS: u64 = 1_000_000_000;

/// Seconds of one aggregator that may still get samples.
#[derive(Debug)]
pub struct OpenSeconds {
    groups: usize,
    seconds: BTreeMap<u64, Second>,
}

#[derive(Debug)]
pub struct Second {
    completions: Completions,
    groups: Vec<GroupSecond>,
}

/// One second of one group.
#[derive(Debug, Default)]
pub struct GroupSecond {
    aborted: u64,
    failed: u64,
    unknown: u64,
    pub late: u64,
    pub skipped: u64,
    pub retries: u64,
    /// Latencies of `ok` transactions.
    latencies: Option<Box<LatencyHistogram>>,
    /// Schedule lags of all started transactions, in an open loop.
    lags: Option<Box<LatencyHistogram>>,
}

impl OpenSeconds {
    #[must_use]
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
            series.add(number, second);
        }
    }

    pub fn merge(&mut self, other: &Self) {
        for (number, second) in &other.seconds {
            self.at(number * SECOND_NS).merge(second);
        }
    }
}

impl Second {
    fn new(groups: usize) -> Self {
        Self {
            completions: Completions::default(),
            groups: (0..groups).map(|_| GroupSecond::default()).collect(),
        }
    }

    /// A transaction of any group ended.
    #[inline]
    pub fn completed(&mut self, since_ns: u64) {
        self.completions.at(since_ns);
    }

    #[inline]
    pub fn group(&mut self, group: u32) -> &mut GroupSecond {
        &mut self.groups[group as usize]
    }

    fn merge(&mut self, other: &Self) {
        self.completions.merge(&other.completions);
        for (mine, theirs) in self.groups.iter_mut().zip(&other.groups) {
            mine.merge(theirs);
        }
    }
}

impl GroupSecond {
    #[inline]
    pub fn ended(&mut self, outcome: Outcome, latency_ns: u64) {
        match outcome {
            Outcome::Ok => self.latencies.get_or_insert_default().record(latency_ns),
            Outcome::Aborted => self.aborted += 1,
            Outcome::Failed => self.failed += 1,
            Outcome::Unknown => self.unknown += 1,
        }
    }

    #[inline]
    pub fn lag(&mut self, lag_ns: u64) {
        self.lags.get_or_insert_default().record(lag_ns);
    }

    fn merge(&mut self, other: &Self) {
        self.aborted += other.aborted;
        self.failed += other.failed;
        self.unknown += other.unknown;
        self.late += other.late;
        self.skipped += other.skipped;
        self.retries += other.retries;
        merge(&mut self.latencies, other.latencies.as_deref());
        merge(&mut self.lags, other.lags.as_deref());
    }

    /// Decodes an interval; its histograms are exact.
    fn read(line: &Interval) -> Self {
        let decoded = |encoded: &EncodedHistogram| {
            let times = encoded.decode();
            Box::new(times.expect("it was encoded by this program"))
        };
        Self {
            aborted: line.aborted,
            failed: line.failed,
            unknown: line.unknown,
            late: line.late,
            skipped: line.skipped,
            retries: line.retries,
            latencies: line.latency.as_ref().map(decoded),
            lags: line.schedule_lag.as_ref().map(decoded),
        }
    }

    fn line(&self, second: u64, group: &str) -> Interval {
        let latencies = self.latencies.as_deref();
        let percentile_ns = |percent| latencies.map_or(0, |times| times.percentile_ns(percent));
        Interval {
            second,
            group: group.to_owned(),
            ok: latencies.map_or(0, LatencyHistogram::count),
            aborted: self.aborted,
            failed: self.failed,
            unknown: self.unknown,
            late: self.late,
            skipped: self.skipped,
            retries: self.retries,
            clients_connected: 0,
            latency: latencies.map(EncodedHistogram::from),
            schedule_lag: self.lags.as_deref().map(EncodedHistogram::from),
            p50_ns: percentile_ns(50.0),
            p99_ns: percentile_ns(99.0),
            max_ns: latencies.map_or(0, LatencyHistogram::max_ns),
            schedule_lag_p99_ns: self.lags.as_ref().map(|lags| lags.percentile_ns(99.0)),
            stalled_ns: 0,
            suspended_ns: 0,
        }
    }
}

fn merge(mine: &mut Option<Box<LatencyHistogram>>, theirs: Option<&LatencyHistogram>) {
    if let Some(theirs) = theirs {
        mine.get_or_insert_default().merge(theirs);
    }
}

/// The totals of one second over all groups of clients.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct LastSecond {
    /// Transactions that ended `ok`.
    pub ok: u64,
    /// Their 99th percentile of latency, in the group where it is highest.
    pub p99_ns: u64,
}

/// The intervals of all seconds so far.
#[derive(Debug)]
pub struct Series {
    /// The groups' names.
    groups: Vec<String>,
    /// For each second an interval of each group.
    lines: Vec<Interval>,
    /// Seconds from the aggregators that have no intervals yet.
    handed_over: BTreeMap<u64, Second>,
    /// By second and group, the lowest number of connected clients.
    connected: BTreeMap<u64, Vec<u32>>,
    gaps: CompletionGaps,
}

impl Series {
    #[must_use]
    pub fn new(layout: &Layout) -> Self {
        let names = layout.groups.iter().map(|group| group.name.clone());
        Self {
            groups: names.collect(),
            lines: Vec::new(),
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

    fn add(&mut self, number: u64, second: Second) {
        if number >= self.written() {
            let groups = self.groups.len();
            let handed_over = self.handed_over.entry(number);
            handed_over
                .or_insert_with(|| Second::new(groups))
                .merge(&second);
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

    /// The totals of the latest second that has its intervals.
    pub fn newest(&self) -> Option<LastSecond> {
        let number = self.lines.last()?.second;
        let lines = self.lines.iter().rev();
        let newest = lines.take_while(|line| line.second == number);
        Some(
            newest.fold(LastSecond { ok: 0, p99_ns: 0 }, |sum, line| LastSecond {
                ok: sum.ok + line.ok,
                p99_ns: sum.p99_ns.max(line.p99_ns),
            }),
        )
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
    #[must_use]
    pub fn finish(mut self, elapsed_ns: u64) -> (Vec<Interval>, Vec<TimeSpan>) {
        let last = self
            .handed_over
            .last_key_value()
            .map_or(0, |(number, _)| number + 1);
        self.write_lines(last);
        let groups = self.groups.len();
        for (place, line) in self.lines.iter_mut().enumerate() {
            // A second that has just begun may have no count yet: it takes the one before.
            let seen = self.connected.range(..=line.second).next_back();
            line.clients_connected = seen.map_or(0, |(_, clients)| clients[place % groups]);
        }
        (self.lines, self.gaps.finish(elapsed_ns))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert_eq!(
            (lines[0].max_ns, lines[1].latency.as_ref()),
            (7_000_003, None)
        );
        let gap = gaps.iter().map(|gap| (gap.from_ns, gap.to_ns));
        assert_eq!(gap.collect::<Vec<_>>(), [(200, late_ns)]);
    }
}

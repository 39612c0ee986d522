//! Takes the instants at which transactions ended; gives one line for each second.
//!
//! Each second under way needs histograms, a finished one only its line. A second stays open for one more
//! second, because a thread may be put to sleep between reading the clock and handing the sample in. What
//! comes even later is counted, and raises the maximum; the percentiles of its second stay as they were.

use std::collections::BTreeMap;

use assay_histogram::LatencyHistogram;

use super::Outcome;
use super::completion_gaps::{CompletionGaps, Completions, TimeSpan};
use crate::observation::Interval;

const SECOND_NS: u64 = 1_000_000_000;

/// Seconds of one aggregator that may still get samples.
#[derive(Debug, Default)]
pub struct OpenSeconds {
    seconds: BTreeMap<u64, Second>,
}

#[derive(Debug, Default)]
pub struct Second {
    aborted: u64,
    failed: u64,
    unknown: u64,
    pub late: u64,
    pub skipped: u64,
    pub retries: u64,
    /// Of those that ended `ok`.
    times: LatencyHistogram,
    /// Of all that were begun, in an open loop.
    lags: Option<Box<LatencyHistogram>>,
    ends: Completions,
}

impl OpenSeconds {
    /// The second that is `since_ns` after the beginning of the measurement.
    #[inline]
    pub fn at(&mut self, since_ns: u64) -> &mut Second {
        self.seconds.entry(since_ns / SECOND_NS).or_default()
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
            self.seconds.entry(*number).or_default().merge(second);
        }
    }
}

impl Second {
    #[inline]
    pub fn ended(&mut self, outcome: Outcome, since_ns: u64, response_ns: u64) {
        self.ends.at(since_ns);
        match outcome {
            Outcome::Ok => self.times.record(response_ns),
            Outcome::Aborted => self.aborted += 1,
            Outcome::Failed => self.failed += 1,
            Outcome::Unknown => self.unknown += 1,
        }
    }

    #[inline]
    pub fn lag(&mut self, lag_ns: Option<u64>) {
        if let Some(lag_ns) = lag_ns {
            self.lags.get_or_insert_default().record(lag_ns);
        }
    }

    fn merge(&mut self, other: &Self) {
        self.aborted += other.aborted;
        self.failed += other.failed;
        self.unknown += other.unknown;
        self.late += other.late;
        self.skipped += other.skipped;
        self.retries += other.retries;
        self.times.merge(&other.times);
        self.ends.merge(&other.ends);
        if let Some(theirs) = &other.lags {
            self.lags.get_or_insert_default().merge(theirs);
        }
    }

    fn line(&self, number: u64) -> Interval {
        Interval {
            second: number,
            ok: self.times.count(),
            aborted: self.aborted,
            failed: self.failed,
            unknown: self.unknown,
            late: self.late,
            skipped: self.skipped,
            retries: self.retries,
            clients_connected: 0,
            p50_ns: self.times.percentile_ns(50.0),
            p99_ns: self.times.percentile_ns(99.0),
            max_ns: self.times.max_ns(),
            schedule_lag_p99_ns: self.lags.as_ref().map(|lags| lags.percentile_ns(99.0)),
            stalled_ns: 0,
            suspended_ns: 0,
        }
    }
}

/// The lines of all seconds so far.
#[derive(Debug, Default)]
pub struct Series {
    lines: Vec<Interval>,
    /// Seconds that aggregators have handed over and that have no line yet.
    handed_over: BTreeMap<u64, Second>,
    /// By second, the fewest connected clients that were seen in it.
    connected: BTreeMap<u64, u32>,
    gaps: CompletionGaps,
}

impl Series {
    /// `clients` are connected `since_ns` after the beginning of the measurement.
    pub fn connected(&mut self, since_ns: u64, clients: u32) {
        let fewest = self.connected.entry(since_ns / SECOND_NS);
        fewest
            .and_modify(|fewest| *fewest = clients.min(*fewest))
            .or_insert(clients);
    }

    fn add(&mut self, number: u64, second: Second) {
        let known = usize::try_from(number).ok();
        if let Some(line) = known.and_then(|at| self.lines.get_mut(at)) {
            line.ok += second.times.count();
            line.aborted += second.aborted;
            line.failed += second.failed;
            line.unknown += second.unknown;
            line.late += second.late;
            line.skipped += second.skipped;
            line.retries += second.retries;
            line.max_ns = line.max_ns.max(second.times.max_ns());
            self.gaps.add_late(&second.ends);
        } else {
            self.handed_over.entry(number).or_default().merge(&second);
        }
    }

    /// Writes the lines of all seconds before `horizon`, empty ones where nothing ended.
    pub fn write_lines(&mut self, horizon: u64) {
        for number in self.lines.len() as u64..horizon {
            let second = self.handed_over.remove(&number).unwrap_or_default();
            self.gaps.add(&second.ends);
            self.lines.push(second.line(number));
        }
    }

    /// All lines of a measurement that took so long, up to the second in which the last transaction
    /// ended; and the times in which none ended.
    #[must_use]
    pub fn finish(mut self, elapsed_ns: u64) -> (Vec<Interval>, Vec<TimeSpan>) {
        let last = self
            .handed_over
            .last_key_value()
            .map_or(0, |(number, _)| number + 1);
        self.write_lines(last);
        for line in &mut self.lines {
            // Nobody looked in a second that only began: then it is as it was in the one before.
            let seen = self.connected.range(..=line.second).next_back();
            line.clients_connected = seen.map_or(0, |(_, clients)| *clients);
        }
        (self.lines, self.gaps.finish(elapsed_ns))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_without_an_end_have_a_line_and_late_samples_are_counted() {
        let (mut open, mut series) = (OpenSeconds::default(), Series::default());
        open.at(100).ended(Outcome::Ok, 100, 1_000_000);
        let late_ns = SECOND_NS * 3 + 5;
        open.at(late_ns).ended(Outcome::Failed, late_ns, 9_000_000);
        series.connected(50, 8);
        series.connected(SECOND_NS * 2, 8);
        series.connected(SECOND_NS * 2 + 1, 5);
        open.close(2, &mut series);
        series.write_lines(2);
        // Comes after its second has its line.
        open.at(200).ended(Outcome::Ok, 200, 7_000_000);
        open.close(u64::MAX, &mut series);
        let (lines, gaps) = series.finish(late_ns);

        let seen: Vec<_> = lines
            .iter()
            .map(|line| (line.second, line.ok, line.failed, line.clients_connected))
            .collect();
        assert_eq!(
            seen,
            [(0, 2, 0, 8), (1, 0, 0, 8), (2, 0, 0, 5), (3, 0, 1, 5)]
        );
        assert_eq!(lines[0].max_ns, 7_000_000);
        let gap = gaps.iter().map(|one| (one.from_ns, one.to_ns));
        assert_eq!(gap.collect::<Vec<_>>(), [(200, late_ns)]);
        assert!(lines[0].p50_ns < 2_000_000, "{lines:?}");
    }
}

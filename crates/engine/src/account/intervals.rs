//! Takes the instants at which transactions ended; gives one line for each second.
//!
//! Each second under way needs a histogram, a finished one only its line. A second stays open for one more
//! second, because a thread may be put to sleep between reading the clock and handing the sample in. What
//! comes even later is counted, and raises the maximum; the percentiles of its second stay as they were.

use std::collections::BTreeMap;

use assay_histogram::ResponseTimes;

use super::Outcome;
use crate::observation::Interval;

const SECOND_NS: u64 = 1_000_000_000;

/// Seconds of one book that may still get samples.
#[derive(Debug, Default)]
pub struct OpenSeconds {
    seconds: BTreeMap<u64, Second>,
}

#[derive(Debug, Default)]
struct Second {
    failed: u64,
    /// Of those that ended `ok`.
    times: ResponseTimes,
}

impl OpenSeconds {
    #[inline]
    pub fn count(&mut self, since_ns: u64, outcome: Outcome, response_ns: u64) {
        let second = self.seconds.entry(since_ns / SECOND_NS).or_default();
        match outcome {
            Outcome::Ok => second.times.record(response_ns),
            Outcome::Failed | Outcome::Unknown => second.failed += 1,
            Outcome::Aborted => {}
        }
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
    fn merge(&mut self, other: &Self) {
        self.failed += other.failed;
        self.times.merge(&other.times);
    }
}

/// The lines of all seconds so far.
#[derive(Debug, Default)]
pub struct Series {
    lines: Vec<Interval>,
    /// Seconds that books have handed over and that have no line yet.
    handed_over: BTreeMap<u64, Second>,
}

impl Series {
    fn add(&mut self, number: u64, second: Second) {
        if let Some(line) = usize::try_from(number)
            .ok()
            .and_then(|at| self.lines.get_mut(at))
        {
            line.ok += second.times.count();
            line.failed += second.failed;
            line.max_ns = line.max_ns.max(second.times.max_ns());
        } else {
            self.handed_over.entry(number).or_default().merge(&second);
        }
    }

    /// Writes the lines of all seconds before `horizon`, empty ones where nothing ended.
    pub fn write_lines(&mut self, horizon: u64) {
        for number in self.lines.len() as u64..horizon {
            let second = self.handed_over.remove(&number).unwrap_or_default();
            self.lines.push(Interval {
                second: number,
                ok: second.times.count(),
                failed: second.failed,
                p50_ns: second.times.percentile_ns(50.0),
                p99_ns: second.times.percentile_ns(99.0),
                max_ns: second.times.max_ns(),
            });
        }
    }

    /// All lines, up to the second in which the last transaction ended.
    #[must_use]
    pub fn finish(mut self) -> Vec<Interval> {
        let last = self
            .handed_over
            .last_key_value()
            .map_or(0, |(number, _)| number + 1);
        self.write_lines(last);
        self.lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_without_an_end_have_a_line_and_late_samples_are_counted() {
        let (mut open, mut series) = (OpenSeconds::default(), Series::default());
        open.count(100, Outcome::Ok, 1_000_000);
        open.count(SECOND_NS * 3 + 5, Outcome::Failed, 9_000_000);
        open.close(2, &mut series);
        series.write_lines(2);
        // Comes after its second has its line.
        open.count(200, Outcome::Ok, 7_000_000);
        open.close(u64::MAX, &mut series);
        let lines = series.finish();

        let seen: Vec<_> = lines
            .iter()
            .map(|line| (line.second, line.ok, line.failed))
            .collect();
        assert_eq!(seen, [(0, 2, 0), (1, 0, 0), (2, 0, 0), (3, 0, 1)]);
        assert_eq!(lines[0].max_ns, 7_000_000);
        assert!(lines[0].p50_ns < 2_000_000, "{lines:?}");
    }
}

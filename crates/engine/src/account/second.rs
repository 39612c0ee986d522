//! One second of a run: the outcomes and latencies of its transactions, by group.

use assay_histogram::{EncodedHistogram, LatencyHistogram};

use crate::account::completion_gaps::Completions;
use crate::observation::{Interval, Outcome};

#[derive(Debug)]
pub struct Second {
    pub(super) completions: Completions,
    pub(super) groups: Vec<GroupSecond>,
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

impl Second {
    pub(super) fn new(groups: usize) -> Self {
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

    pub(super) fn merge(&mut self, other: &Self) {
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

    pub(super) fn merge(&mut self, other: &Self) {
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
    pub(super) fn read(line: &Interval) -> Self {
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

    pub(super) fn line(&self, second: u64, group: &str) -> Interval {
        let latencies = self.latencies.as_deref();
        let percentile_ns = |percent| latencies.and_then(|times| times.percentile_ns(percent));
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
            p50_ns: percentile_ns(50.0).unwrap_or(0),
            p99_ns: percentile_ns(99.0).unwrap_or(0),
            max_ns: latencies.map_or(0, LatencyHistogram::max_ns),
            schedule_lag_p99_ns: self.lags.as_ref().and_then(|lags| lags.percentile_ns(99.0)),
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

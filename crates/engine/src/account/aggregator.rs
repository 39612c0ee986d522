//! Takes samples; keeps their counts and histograms, in memory that does not grow with the run.

use assay_histogram::LatencyHistogram;

use crate::account::intervals::OpenSeconds;
use crate::account::{Durations, Layout, Sample, Series, Unit};
use crate::observation::{Outcome, Outcomes, PassTime};

#[derive(Debug)]
pub struct Aggregator {
    layout: Layout,
    by_type: Vec<OfType>,
    /// Service times by statement, created with the first sample.
    statements: Vec<Option<Box<LatencyHistogram>>>,
    /// By group.
    passes: Vec<LatencyHistogram>,
    pass_times: PassTimes,
    seconds: OpenSeconds,
}

/// The counts and histograms of one transaction type.
#[derive(Debug, Default)]
struct OfType {
    /// By outcome, created with the first sample.
    durations: [Option<Box<Durations>>; Outcome::ALL.len()],
    /// All except what the recorders count: `scheduled` and `attempts`.
    outcomes: Outcomes,
}

impl Aggregator {
    pub fn new(layout: Layout) -> Self {
        let groups = layout.groups.len();
        Self {
            by_type: layout.types.iter().map(|_| OfType::default()).collect(),
            statements: vec![None; layout.statements],
            passes: vec![LatencyHistogram::new(); groups],
            pass_times: PassTimes::new(layout.groups.iter().any(|group| group.keeps_pass_times)),
            seconds: OpenSeconds::new(groups),
            layout,
        }
    }

    /// Adds samples of a measurement that began at `began_ns`.
    pub fn add(&mut self, samples: &[Sample], began_ns: u64) {
        for sample in samples {
            self.add_sample(sample, began_ns);
        }
    }

    fn add_sample(&mut self, sample: &Sample, began_ns: u64) {
        let since_ns = sample.end_ns.saturating_sub(began_ns);
        match sample.unit {
            Unit::Transaction(transaction_type, outcome) => {
                let layout = self.layout.types[transaction_type as usize];
                let is_late = outcome == Outcome::Ok && sample.latency_ns > layout.late_beyond_ns;
                let account = &mut self.by_type[transaction_type as usize];
                account.durations[outcome as usize]
                    .get_or_insert_with(|| Box::new(Durations::new(layout.is_open_loop)))
                    .record(sample.end_ns, sample.latency_ns, sample.service_ns);
                account.outcomes.count(outcome);
                account.outcomes.late += u64::from(is_late);
                let second = self.seconds.at(since_ns);
                second.completed(since_ns);
                let second = second.group(layout.group);
                second.late += u64::from(is_late);
                if layout.is_open_loop {
                    second.lag(sample.latency_ns - sample.service_ns);
                }
                second.ended(outcome, sample.latency_ns);
            }
            Unit::Skipped(transaction_type) => {
                self.by_type[transaction_type as usize].outcomes.skipped += 1;
                let group = self.layout.types[transaction_type as usize].group;
                self.seconds.at(since_ns).group(group).skipped += 1;
            }
            Unit::Retry(transaction_type) => {
                self.by_type[transaction_type as usize].outcomes.retries += 1;
                let group = self.layout.types[transaction_type as usize].group;
                self.seconds.at(since_ns).group(group).retries += 1;
            }
            Unit::Statement(statement) => self.statements[statement as usize]
                .get_or_insert_default()
                .record(sample.service_ns),
            Unit::Pass(client) => {
                let group = self.layout.group_of(client);
                self.passes[group].record(sample.latency_ns);
                if self.layout.groups[group].keeps_pass_times {
                    self.pass_times.add(PassTime {
                        client,
                        end_ns: since_ns,
                        latency_ns: sample.latency_ns,
                    });
                }
            }
        }
    }

    /// The outcomes of all transaction types.
    pub fn outcomes(&self) -> Outcomes {
        let mut all = Outcomes::default();
        for account in &self.by_type {
            all.add(&account.outcomes);
        }
        all
    }

    /// The outcomes of one transaction type.
    pub fn outcomes_of(&self, transaction_type: usize) -> Outcomes {
        self.by_type[transaction_type].outcomes
    }

    /// The pass times of one group.
    pub fn passes(&self, group: usize) -> &LatencyHistogram {
        &self.passes[group]
    }

    /// Of the groups that keep the times of single passes: those that ended first.
    pub fn pass_times(&self) -> Vec<PassTime> {
        self.pass_times.finish()
    }

    /// The histograms of one type's transactions with this outcome, if there were any.
    pub fn durations(&self, transaction_type: usize, outcome: Outcome) -> Option<&Durations> {
        self.by_type[transaction_type].durations[outcome as usize].as_deref()
    }

    /// The service times of one statement, if they are recorded and it was executed.
    pub fn statement(&self, statement: usize) -> Option<&LatencyHistogram> {
        self.statements[statement].as_deref()
    }

    /// Moves all seconds before `horizon` to `series`.
    pub fn close_seconds(&mut self, horizon: u64, series: &mut Series) {
        self.seconds.close(horizon, series);
    }

    /// Adds everything in `other`.
    pub fn merge(&mut self, other: &Self) {
        for (mine, theirs) in self.by_type.iter_mut().zip(&other.by_type) {
            mine.outcomes.add(&theirs.outcomes);
            for (mine, theirs) in mine.durations.iter_mut().zip(&theirs.durations) {
                if let Some(theirs) = theirs {
                    mine.get_or_insert_default().merge(theirs);
                }
            }
        }
        for (mine, theirs) in self.statements.iter_mut().zip(&other.statements) {
            if let Some(theirs) = theirs {
                mine.get_or_insert_default().merge(theirs);
            }
        }
        for (mine, theirs) in self.passes.iter_mut().zip(&other.passes) {
            mine.merge(theirs);
        }
        self.pass_times.merge(&other.pass_times);
        self.seconds.merge(&other.seconds);
    }
}

// Takes the times of single passes; keeps those that ended first, in memory that is there from the beginning.

/// More are not kept: these take half a megabyte of a record.
const MOST: usize = 10_000;

/// Of the groups that keep them.
#[derive(Debug, Default)]
pub struct PassTimes {
    kept: Vec<PassTime>,
}

impl PassTimes {
    /// With room for all that will be kept.
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

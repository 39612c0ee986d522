//! Takes samples; keeps their counts and distributions, in memory that does not grow with the run.

use assay_histogram::ResponseTimes;

use super::intervals::OpenSeconds;
use super::{Outcome, Sample, Series, Unit};
use crate::observation::Outcomes;

#[derive(Debug)]
pub struct Book {
    /// By script, then by outcome; made when the first of its kind comes.
    transactions: Vec<[Option<Box<ResponseTimes>>; Outcome::ALL.len()]>,
    passes: ResponseTimes,
    /// All but `scheduled`, which the ledgers count.
    outcomes: Outcomes,
    seconds: OpenSeconds,
}

impl Book {
    #[must_use]
    pub fn new(scripts: usize) -> Self {
        Self {
            transactions: (0..scripts).map(|_| Default::default()).collect(),
            passes: ResponseTimes::new(),
            outcomes: Outcomes::default(),
            seconds: OpenSeconds::default(),
        }
    }

    /// Enters samples of a measurement that began at `began_ns`.
    pub fn enter(&mut self, samples: &[Sample], began_ns: u64) {
        for sample in samples {
            match sample.unit {
                Unit::Pass => self.passes.record(sample.response_ns),
                Unit::Transaction(script, outcome) => {
                    self.transactions[script as usize][outcome as usize]
                        .get_or_insert_default()
                        .record(sample.response_ns);
                    self.outcomes.count(outcome);
                    let since_ns = sample.end_ns.saturating_sub(began_ns);
                    self.seconds.count(since_ns, outcome, sample.response_ns);
                }
            }
        }
    }

    #[must_use]
    pub fn outcomes(&self) -> Outcomes {
        self.outcomes
    }

    #[must_use]
    pub fn passes(&self) -> &ResponseTimes {
        &self.passes
    }

    /// The distribution of one type's transactions that ended one way, if there were any.
    #[must_use]
    pub fn transactions(&self, script: usize, outcome: Outcome) -> Option<&ResponseTimes> {
        self.transactions[script][outcome as usize].as_deref()
    }

    /// Hands all seconds before `horizon` over to `series`.
    pub fn close_seconds(&mut self, horizon: u64, series: &mut Series) {
        self.seconds.close(horizon, series);
    }

    /// Adds all that stands in `other`.
    pub fn merge(&mut self, other: &Self) {
        for (mine, theirs) in self
            .transactions
            .iter_mut()
            .flatten()
            .zip(other.transactions.iter().flatten())
        {
            if let Some(theirs) = theirs {
                mine.get_or_insert_default().merge(theirs);
            }
        }
        self.passes.merge(&other.passes);
        self.outcomes.add(&other.outcomes);
        self.seconds.merge(&other.seconds);
    }
}

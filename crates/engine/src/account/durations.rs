//! Takes latencies and service times of one kind of transaction; returns their histograms, and that of the
//! schedule lag.

use assay_histogram::LatencyHistogram;

/// In a closed loop the service time is the latency and there is no lag: one histogram is enough.
#[derive(Clone, Debug, Default)]
pub struct Durations {
    latency: LatencyHistogram,
    open: Option<Box<OfOpenLoop>>,
    first: Option<First>,
}

/// The transaction that began before all others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct First {
    /// On the run's clock.
    pub began_ns: u64,
    pub latency_ns: u64,
}

#[derive(Clone, Debug, Default)]
struct OfOpenLoop {
    service: LatencyHistogram,
    lag: LatencyHistogram,
}

impl Durations {
    pub fn new(is_open_loop: bool) -> Self {
        Self {
            latency: LatencyHistogram::new(),
            open: is_open_loop.then(Box::default),
            first: None,
        }
    }

    /// Adds one that ended at `end_ns`, on the run's clock.
    #[inline]
    pub fn record(&mut self, end_ns: u64, latency_ns: u64, service_ns: u64) {
        self.began(First {
            began_ns: end_ns.saturating_sub(service_ns),
            latency_ns,
        });
        self.latency.record(latency_ns);
        if let Some(open) = &mut self.open {
            open.service.record(service_ns);
            open.lag.record(latency_ns - service_ns);
        }
    }

    #[inline]
    fn began(&mut self, other: First) {
        if self
            .first
            .is_none_or(|first| other.began_ns < first.began_ns)
        {
            self.first = Some(other);
        }
    }

    /// Counts transactions that were due and got no answer: their latency is above all others.
    pub fn add_unanswered(&mut self, count: u64) {
        self.latency.add_unanswered(count);
    }

    /// Adds all of `other`, from a closed or an open loop; only an open loop has a lag.
    pub fn merge(&mut self, other: &Self) {
        if self.open.is_some() || other.open.is_some() {
            let mine = self.open.get_or_insert_with(|| {
                Box::new(OfOpenLoop {
                    service: self.latency.clone(),
                    lag: LatencyHistogram::new(),
                })
            });
            mine.service.merge(other.service());
            if let Some(theirs) = &other.open {
                mine.lag.merge(&theirs.lag);
            }
        }
        self.latency.merge(&other.latency);
        if let Some(first) = other.first {
            self.began(first);
        }
    }

    /// `None` if there is none.
    pub fn first(&self) -> Option<First> {
        self.first
    }

    pub fn count(&self) -> u64 {
        self.latency.count()
    }

    pub fn latency(&self) -> &LatencyHistogram {
        &self.latency
    }

    pub fn service(&self) -> &LatencyHistogram {
        self.open
            .as_ref()
            .map_or(&self.latency, |open| &open.service)
    }

    /// `None` in a closed loop.
    pub fn lag(&self) -> Option<&LatencyHistogram> {
        self.open.as_ref().map(|open| &open.lag)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merged_loops_have_all_service_times_and_only_the_open_loops_lags() {
        let (mut closed, mut open) = (Durations::new(false), Durations::new(true));
        closed.record(5_000, 1_000, 1_000);
        open.record(5_000, 9_000, 2_000);
        open.record(9_000, 3_000, 3_000);
        for (one, other) in [(&closed, &open), (&open, &closed)] {
            let mut both = one.clone();
            both.merge(other);
            assert_eq!(both.latency().sum_ns(), 13_000);
            assert_eq!(both.service().sum_ns(), 6_000);
            let lag = both.lag().map(|lag| (lag.count(), lag.sum_ns()));
            assert_eq!(lag, Some((2, 7_000)));
            let (began_ns, latency_ns) = (3_000, 9_000);
            let first = First {
                began_ns,
                latency_ns,
            };
            assert_eq!(both.first(), Some(first), "the one that began first");
        }
    }
}

//! Takes latencies and service times of one kind of transaction; returns their histograms, and that of the
//! schedule lag.

use assay_histogram::LatencyHistogram;

/// In a closed loop the service time is the latency and there is no lag: one histogram is enough.
#[derive(Clone, Debug, Default)]
pub struct Durations {
    latency: LatencyHistogram,
    open: Option<Box<OfOpenLoop>>,
}

#[derive(Clone, Debug, Default)]
struct OfOpenLoop {
    service: LatencyHistogram,
    lag: LatencyHistogram,
}

impl Durations {
    #[must_use]
    pub fn new(is_open_loop: bool) -> Self {
        Self {
            latency: LatencyHistogram::new(),
            open: is_open_loop.then(Box::default),
        }
    }

    #[inline]
    pub fn record(&mut self, latency_ns: u64, service_ns: u64) {
        self.latency.record(latency_ns);
        if let Some(open) = &mut self.open {
            open.service.record(service_ns);
            open.lag.record(latency_ns - service_ns);
        }
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
    }

    #[must_use]
    pub fn count(&self) -> u64 {
        self.latency.count()
    }

    #[must_use]
    pub fn latency(&self) -> &LatencyHistogram {
        &self.latency
    }

    #[must_use]
    pub fn service(&self) -> &LatencyHistogram {
        self.open
            .as_ref()
            .map_or(&self.latency, |open| &open.service)
    }

    /// `None` in a closed loop.
    #[must_use]
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
        closed.record(1_000, 1_000);
        open.record(9_000, 2_000);
        for (one, other) in [(&closed, &open), (&open, &closed)] {
            let mut both = one.clone();
            both.merge(other);
            assert_eq!(both.latency().sum_ns(), 10_000);
            assert_eq!(both.service().sum_ns(), 3_000);
            let lag = both.lag().map(|lag| (lag.count(), lag.sum_ns()));
            assert_eq!(lag, Some((1, 7_000)));
        }
    }
}

//! Takes response and service times of one kind of transaction; gives their distributions, and that of
//! the schedule lag.

use assay_histogram::LatencyHistogram;

/// In a closed loop the service time is the latency and there is no lag: one histogram for three.
#[derive(Debug, Default)]
pub struct Times {
    response: LatencyHistogram,
    open: Option<Box<OpenTimes>>,
}

#[derive(Debug, Default)]
struct OpenTimes {
    service: LatencyHistogram,
    lag: LatencyHistogram,
}

impl Times {
    #[must_use]
    pub fn new(is_open_loop: bool) -> Self {
        Self {
            response: LatencyHistogram::new(),
            open: is_open_loop.then(Box::default),
        }
    }

    #[inline]
    pub fn record(&mut self, response_ns: u64, service_ns: u64) {
        self.response.record(response_ns);
        if let Some(open) = &mut self.open {
            open.service.record(service_ns);
            open.lag.record(response_ns - service_ns);
        }
    }

    pub fn merge(&mut self, other: &Self) {
        if other.open.is_some() && self.open.is_none() {
            // Those of a closed loop so far: their service time is their latency, and none lagged.
            self.open = Some(Box::new(OpenTimes {
                service: self.response.clone(),
                ..OpenTimes::default()
            }));
        }
        if let Some(mine) = &mut self.open {
            mine.service.merge(other.service());
            if let Some(theirs) = other.lag() {
                mine.lag.merge(theirs);
            }
        }
        self.response.merge(&other.response);
    }

    #[must_use]
    pub fn count(&self) -> u64 {
        self.response.count()
    }

    #[must_use]
    pub fn response(&self) -> &LatencyHistogram {
        &self.response
    }

    #[must_use]
    pub fn service(&self) -> &LatencyHistogram {
        self.open
            .as_ref()
            .map_or(&self.response, |open| &open.service)
    }

    /// None in a closed loop.
    #[must_use]
    pub fn lag(&self) -> Option<&LatencyHistogram> {
        self.open.as_ref().map(|open| &open.lag)
    }
}

//! Takes a rate and a seed; returns when each transaction of an open loop is due and which script it runs.
//! The system under test cannot change this schedule.
//!
//! The schedule is the same for any number of threads and processes: each share computes all of it and keeps
//! the arrivals of its own clients.

mod curve;

use std::collections::VecDeque;

use assay_values::Random;

use crate::account::{Identity, ThreadRecorder};
use crate::document::ArrivalDocument;
use crate::drive::pace::arrivals::curve::{Curve, whole_to_float};
use crate::drive::pace::schedule::Schedule;
use crate::drive::plan::Plan;
use crate::drive::plan::group::Group;
use crate::drive::plan::script_selector::{NextScript, ScriptSelector};

/// The random stream of the gaps, separate from all other streams of the seed.
const GAPS: u64 = 0x6172_7269_7661_6c73;

/// A transaction that is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    pub due_ns: u64,
    pub next: NextScript,
    /// Its number among all arrivals of its group; its random values follow from this number.
    pub number: u64,
    pub is_measured: bool,
}

/// Which arrivals belong to a thread.
#[derive(Clone, Copy, Debug)]
pub struct Share {
    pub thread: u64,
    pub threads: u64,
}

impl Share {
    /// All arrivals.
    #[cfg(test)]
    pub const ALL: Self = Self {
        thread: 0,
        threads: 1,
    };

    /// Arrivals are dealt round-robin to all clients of all processes; the client at place *p* of this
    /// process belongs to thread *p* modulo the number of threads.
    fn holds(self, number: u64, group: &Group) -> bool {
        let place = (group.client_of(number)).map(|client| u64::from(group.first_place + client));
        place.is_some_and(|place| place % self.threads == self.thread)
    }
}

#[derive(Debug)]
pub struct Arrivals {
    schedule: Schedule,
    share: Share,
    /// `None`: they are due when they are queued.
    curve: Option<Curve>,
    queue: VecDeque<Arrival>,
    /// `None` if the arrivals come at a constant rate.
    gaps: Option<Random>,
    selector: ScriptSelector,
    /// How many arrivals of the run have been computed.
    number: u64,
    /// How many arrivals the rate has made due up to the last one, which for random gaps is no whole number.
    position: f64,
    measured_left: u64,
    head: Option<Arrival>,
    /// Arrivals that were taken and not started, by when they were due.
    given_back: VecDeque<Arrival>,
}

impl Arrivals {
    /// `None` in a closed loop. Those that are deferred are queued one by one.
    #[must_use]
    pub fn new(plan: &Plan, group: &Group, schedule: Schedule, share: Share) -> Option<Self> {
        let curve = Curve::new(&group.arrival, schedule);
        if curve.is_none() && !group.is_deferred() {
            return None;
        }
        let is_poisson = matches!(group.arrival, ArrivalDocument::Poisson { .. });
        let of_clients = |transactions: u64| transactions.saturating_mul(group.of_clients.into());
        let limit = group.queue.or(group.stop_transactions.map(of_clients));
        let mut arrivals = Self {
            schedule,
            share,
            curve,
            queue: VecDeque::new(),
            gaps: is_poisson.then(|| Random::stream(plan.seed ^ GAPS, group.number.into())),
            selector: ScriptSelector::of_arrivals(plan, group),
            number: 0,
            position: 0.0,
            measured_left: limit.unwrap_or(u64::MAX),
            head: None,
            given_back: VecDeque::new(),
        };
        arrivals.advance(group);
        Some(arrivals)
    }

    /// When the next arrival is due; `None` after the last.
    #[must_use]
    #[inline]
    pub fn due_ns(&self) -> Option<u64> {
        self.next().map(|arrival| arrival.due_ns)
    }

    /// Takes the next arrival and counts it as scheduled, whatever its outcome will be.
    pub fn take(&mut self, group: &Group, recorder: &mut ThreadRecorder) -> Option<Arrival> {
        if self.is_given_back_next() {
            return self.given_back.pop_front();
        }
        let arrival = self.head?;
        recorder.scheduled[arrival.next.transaction_type as usize] +=
            u64::from(arrival.is_measured);
        self.advance(group);
        Some(arrival)
    }

    /// Adds one that is due at once, behind those that are queued.
    pub fn push(&mut self, arrival: Arrival) {
        match self.head {
            None => self.head = Some(arrival),
            Some(_) => self.queue.push_back(arrival),
        }
    }

    /// Returns an arrival that was taken and not started; the next free client gets the one that was due first.
    pub fn give_back(&mut self, arrival: Arrival) {
        let place = (self.given_back).partition_point(|other| {
            (other.due_ns, other.number) < (arrival.due_ns, arrival.number)
        });
        self.given_back.insert(place, arrival);
    }

    fn next(&self) -> Option<Arrival> {
        match self.is_given_back_next() {
            true => self.given_back.front().copied(),
            false => self.head,
        }
    }

    /// Whether one that was given back was due before the others.
    #[inline]
    fn is_given_back_next(&self) -> bool {
        let Some(first) = self.given_back.front() else {
            return false;
        };
        self.head.is_none_or(|head| first.due_ns <= head.due_ns)
    }

    /// Skips the arrivals that can no longer start within the latency limit, and in the measurement those
    /// of the warm-up: measured arrivals wait only for each other, not for a backlog that is in no figure.
    #[inline]
    pub fn skip_expired(&mut self, now_ns: u64, group: &Group, recorder: &mut ThreadRecorder) {
        while self
            .next()
            .is_some_and(|arrival| self.is_expired(arrival, now_ns, group))
        {
            self.skip(group, recorder);
        }
    }

    #[inline]
    fn is_expired(&self, arrival: Arrival, now_ns: u64, group: &Group) -> bool {
        if group.is_deferred() {
            return false;
        }
        let limit_ns = group.latency_limit_ns.unwrap_or(u64::MAX);
        now_ns > arrival.due_ns.saturating_add(limit_ns)
            || (!arrival.is_measured && now_ns >= self.schedule.measure_ns)
    }

    /// Skips all arrivals that were due before `end_ns`: no client is left to start them.
    pub fn skip_until(&mut self, end_ns: u64, group: &Group, recorder: &mut ThreadRecorder) {
        while self.next().is_some_and(|arrival| arrival.due_ns < end_ns) {
            self.skip(group, recorder);
        }
    }

    fn skip(&mut self, group: &Group, recorder: &mut ThreadRecorder) {
        if let Some(arrival) = self.take(group, recorder)
            && arrival.is_measured
        {
            let identity = Identity::Numbered(group.number, arrival.number);
            recorder.skipped(arrival.next.transaction_type, identity, arrival.due_ns);
        }
    }

    /// Computes the run's arrivals up to the next one of this share.
    fn advance(&mut self, group: &Group) {
        self.head = self.queue.pop_front();
        let Some(curve) = &mut self.curve else {
            return;
        };
        loop {
            match &mut self.gaps {
                Some(random) => self.position += random.exponential(),
                None => self.position = position_of(self.number),
            }
            let since_start_ns = curve.instant_ns(self.position);
            let due_ns = self.schedule.start_ns.saturating_add(since_start_ns);
            let is_measured = due_ns >= self.schedule.measure_ns;
            if due_ns >= self.schedule.stop_ns || (is_measured && self.measured_left == 0) {
                return;
            }
            self.measured_left -= u64::from(is_measured);
            let next = self.selector.next(group);
            let number = self.number;
            let is_ours = self.share.holds(number, group);
            self.number += 1;
            if is_ours {
                self.head = Some(Arrival {
                    due_ns,
                    next,
                    number,
                    is_measured,
                });
                return;
            }
        }
    }
}

fn position_of(number: u64) -> f64 {
    whole_to_float(number)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "in a test a panic is the message")]
mod tests;

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
    /// Whether the last one has been taken, and the next would have been due after the stop.
    pub lasts_until_stop: bool,
    /// Arrivals that were taken and not started, by when they were due.
    given_back: VecDeque<Arrival>,
}

impl Arrivals {
    /// `None` in a closed loop. Those that are deferred are queued one by one.
    pub fn new(plan: &Plan, group: &Group, schedule: Schedule, share: Share) -> Option<Self> {
        let curve = Curve::new(&group.work.arrival, schedule);
        if curve.is_none() && !group.is_deferred() {
            return None;
        }
        let is_poisson = matches!(group.work.arrival, ArrivalDocument::Poisson { .. });
        let of_clients = |transactions: u64| transactions.saturating_mul(group.of_clients.into());
        let limit = group
            .work
            .stop
            .queue
            .or(group.work.stop.transactions.map(of_clients));
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
            lasts_until_stop: false,
            given_back: VecDeque::new(),
        };
        arrivals.advance(group);
        Some(arrivals)
    }

    /// When the next arrival is due; `None` after the last.
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
        recorder.counts.begun[arrival.next.transaction_type as usize].scheduled +=
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
        let limit_ns = group.latency_limit_ns();
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
                None => self.position = whole_to_float(self.number),
            }
            let since_start_ns = curve.instant_ns(self.position);
            let due_ns = self.schedule.start_ns.saturating_add(since_start_ns);
            let is_measured = due_ns >= self.schedule.measure_ns;
            if is_measured && self.measured_left == 0 {
                return;
            }
            if due_ns >= self.schedule.stop_ns {
                self.lasts_until_stop = true;
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

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "in a test a panic is the message")]
mod tests {
    use super::*;
    use crate::account::{Aggregator, SampleBuffer, StatementLog, ThreadStatements};
    use crate::document::DriveDocument;
    use crate::drive::pace::open_loop::{NextArrival, OpenLoop, ToWake};
    use serde_json::{Value, json};
    use std::sync::{Arc, Mutex};

    const SECOND: u64 = 1_000_000_000;

    #[expect(
        clippy::needless_pass_by_value,
        reason = "callers write the JSON in place"
    )]
    fn plan(arrival: Value, more: Value) -> Plan {
        let script = |name: &str, weight: u32| json!({ "name": name, "path": name, "text": "SELECT 1;", "weight": weight });
        let mut document = json!({
            "scripts": [script("A", 3), script("B", 1)],
            "order": "mix",
            "clients": 5,
            "stop": { "duration_s": 10 },
            "seed": 1,
            "arrival": arrival,
        });
        for (key, value) in more.as_object().unwrap() {
            document[key] = value.clone();
        }
        Plan::new(&DriveDocument::parse(&document.to_string()).unwrap()).unwrap()
    }

    /// Two seconds of warm-up, then ten of measurement.
    fn schedule(ramp_up_ns: u64) -> Schedule {
        Schedule {
            start_ns: 77,
            ramped_ns: 77 + ramp_up_ns,
            measure_ns: 77 + ramp_up_ns + 2 * SECOND,
            stop_ns: 77 + ramp_up_ns + 12 * SECOND,
            drain_ns: SECOND,
        }
    }

    fn all(plan: &Plan, schedule: Schedule, share: Share) -> Vec<(u64, u32)> {
        let group = &plan.groups[0];
        let mut arrivals = Arrivals::new(plan, group, schedule, share).unwrap();
        let mut found = Vec::new();
        while let Some(Arrival { due_ns, next, .. }) = arrivals.head {
            found.push((due_ns - schedule.start_ns, next.script));
            arrivals.advance(group);
        }
        found
    }

    #[test]
    fn the_schedule_is_the_same_for_any_number_of_threads() {
        for kind in ["constant", "poisson"] {
            let plan = plan(json!({ "kind": kind, "offered_rate_per_s": 97 }), json!({}));
            let whole = all(&plan, schedule(SECOND), Share::ALL);
            let mut parts: Vec<_> = (0..3)
                .flat_map(|thread| all(&plan, schedule(SECOND), Share { thread, threads: 3 }))
                .collect();
            parts.sort_unstable();
            assert_eq!(parts, whole, "{kind}");
            assert!(whole.windows(2).all(|pair| pair[0].0 <= pair[1].0));
            // Clients 0 and 3 of five belong to the first thread: two of five arrivals.
            let first = all(
                &plan,
                schedule(SECOND),
                Share {
                    thread: 0,
                    threads: 3,
                },
            );
            assert!(first.len().abs_diff(2 * whole.len() / 5) <= 2, "{kind}");
        }
    }

    #[test]
    fn a_constant_rate_is_exact_and_a_poisson_process_has_its_mean_and_its_variance() {
        let constant = plan(
            json!({ "kind": "constant", "offered_rate_per_s": 100 }),
            json!({}),
        );
        let found = all(&constant, schedule(0), Share::ALL);
        let due: Vec<u64> = found.iter().map(|(due_ns, _)| *due_ns).collect();
        let expected: Vec<u64> = (0..1200).map(|number| number * SECOND / 100).collect();
        assert_eq!(due, expected);

        let poisson = plan(
            json!({ "kind": "poisson", "offered_rate_per_s": 1000 }),
            json!({}),
        );
        let found = all(&poisson, schedule(0), Share::ALL);
        // 12,000 expected, standard deviation 110: accept six deviations.
        assert!(found.len().abs_diff(12_000) < 660, "{}", found.len());
        let gaps: Vec<f64> = found
            .windows(2)
            .map(|pair| (pair[1].0 - pair[0].0) as f64 / 1e6)
            .collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
        assert!(
            (variance / mean.powi(2) - 1.0).abs() < 0.2,
            "{mean} {variance}"
        );
        let other = plan_with_seed(2);
        assert_ne!(all(&other, schedule(0), Share::ALL), found);
        assert_eq!(all(&plan_with_seed(1), schedule(0), Share::ALL), found);
    }

    fn plan_with_seed(seed: u64) -> Plan {
        plan(
            json!({ "kind": "poisson", "offered_rate_per_s": 1000 }),
            json!({ "seed": seed }),
        )
    }

    #[test]
    fn during_the_ramp_up_the_rate_grows_evenly_from_nothing() {
        let plan = plan(
            json!({ "kind": "constant", "offered_rate_per_s": 1000 }),
            json!({}),
        );
        let found = all(&plan, schedule(4 * SECOND), Share::ALL);
        let in_second = |second: u64| {
            let is_in = |(due_ns, _): &&(u64, u32)| due_ns / SECOND == second;
            found.iter().filter(is_in).count()
        };
        let seen: Vec<usize> = (0..6).map(in_second).collect();
        for (seen, expected) in seen.iter().zip([125, 375, 625, 875, 1000, 1000_usize]) {
            assert!(seen.abs_diff(expected) <= 1, "{seen} instead of {expected}");
        }
    }

    #[test]
    fn the_measured_part_ends_with_its_number_of_transactions() {
        let plan = plan(
            json!({ "kind": "constant", "offered_rate_per_s": 100 }),
            json!({ "stop": { "transactions": 7 } }),
        );
        let endless = Schedule {
            stop_ns: u64::MAX,
            ..schedule(0)
        };
        let found = all(&plan, endless, Share::ALL);
        let measured = found.iter().filter(|(due_ns, _)| *due_ns >= 2 * SECOND);
        assert_eq!(measured.count(), 7 * 5);
        assert_eq!(found.len(), 200 + 7 * 5);
    }

    #[test]
    fn the_number_due_in_each_second_of_a_profile_is_exact() {
        let steps = json!([
            { "from_s": 0, "per_s": 100 },
            { "from_s": 2, "per_s": 400 },
            { "from_s": 4, "per_s": 100, "to_per_s": 500 },
            { "from_s": 6, "per_s": 0 },
            { "from_s": 8, "per_s": 300, "to_per_s": 100 },
            { "from_s": 9, "per_s": 7 },
        ]);
        let plan = plan(
            json!({ "kind": "constant", "offered_rate_per_s": steps }),
            json!({}),
        );
        for ramp_up_ns in [0, 2 * SECOND] {
            let found = all(&plan, schedule(ramp_up_ns), Share::ALL);
            let warm = ramp_up_ns + 2 * SECOND;
            let in_second = |second: u64| {
                let (from, to) = (warm + second * SECOND, warm + (second + 1) * SECOND);
                let is_in = |due: &&(u64, u32)| (from..to).contains(&due.0);
                found.iter().filter(is_in).count()
            };
            let counts: Vec<_> = (0..10).map(in_second).collect();
            assert_eq!(counts, [100, 100, 400, 400, 200, 400, 0, 0, 200, 7]);
            let before = found.iter().filter(|due| due.0 < warm).count();
            assert_eq!(before as u64, 200 + 50 * ramp_up_ns / SECOND);
            assert!(found.windows(2).all(|pair| pair[0].0 <= pair[1].0));
        }
    }

    #[test]
    fn random_arrivals_follow_a_profile() {
        let steps = json!([{ "from_s": 0, "per_s": 1000 }, { "from_s": 5, "per_s": 4000 }]);
        let plan = plan(
            json!({ "kind": "poisson", "offered_rate_per_s": steps }),
            json!({}),
        );
        let found = all(&plan, schedule(0), Share::ALL);
        let between = |from: u64, to: u64| {
            let is_in = |due: &&(u64, u32)| (from * SECOND..to * SECOND).contains(&due.0);
            found.iter().filter(is_in).count()
        };
        // 5,000 and 20,000 expected, standard deviations 71 and 141: accept six.
        assert!(between(2, 7).abs_diff(5_000) < 430, "{}", between(2, 7));
        assert!(between(7, 12).abs_diff(20_000) < 850, "{}", between(7, 12));
    }

    #[test]
    fn a_rate_that_falls_to_nothing_ends_the_arrivals() {
        let steps =
            json!([{ "from_s": 0, "per_s": 50, "to_per_s": 0 }, { "from_s": 2, "per_s": 0 }]);
        let plan = plan(
            json!({ "kind": "constant", "offered_rate_per_s": steps }),
            json!({}),
        );
        // Two seconds of warm-up at 50/s, then the half of two seconds.
        assert_eq!(all(&plan, schedule(0), Share::ALL).len(), 150);
    }

    #[test]
    fn steps_out_of_order_are_refused() {
        for steps in [
            json!([]),
            json!([{ "from_s": 1, "per_s": 10 }]),
            json!([{ "from_s": 0, "per_s": 10, "to_per_s": 20 }]),
            json!([{ "from_s": 0, "per_s": 10 }, { "from_s": 0, "per_s": 20 }]),
            json!([{ "from_s": 0, "per_s": -1 }]),
            json!([{ "from_s": 0, "per_s": 0 }]),
            json!("10"),
        ] {
            let document = json!({
                "scripts": [{ "name": "A", "path": "A", "text": "SELECT 1;" }], "order": "mix",
                "clients": 1, "stop": { "duration_s": 1 }, "seed": 1,
                "arrival": { "kind": "constant", "offered_rate_per_s": steps },
            });
            let refused = DriveDocument::parse(&document.to_string()).unwrap_err();
            assert!(
                refused
                    .to_string()
                    .contains("expected transactions per second"),
                "{refused}"
            );
        }
    }

    fn recorder(plan: &Plan) -> ThreadRecorder {
        let layout = plan.layout();
        ThreadRecorder::new(
            &layout,
            ThreadStatements::Own(StatementLog::new(&layout)),
            Arc::new(SampleBuffer::new()),
            Arc::new(Mutex::new(Aggregator::new(plan.layout()))),
            None,
        )
    }

    #[test]
    fn the_arrivals_are_not_over_while_one_waits_to_be_begun() {
        let plan = plan(
            json!({ "kind": "constant", "offered_rate_per_s": 100 }),
            json!({ "clients": 2, "stop": { "transactions": 1 } }),
        );
        let (mut recorder, group) = (recorder(&plan), &plan.groups[0]);
        let (from_start, now_ns) = (
            Schedule {
                measure_ns: 77,
                ..schedule(0)
            },
            SECOND,
        );
        let open_loop = OpenLoop::new(&plan, group, None, from_start, 2).unwrap();
        let mut take = |thread| open_loop.take(thread, now_ns, group, &mut recorder).0;
        assert!(matches!(take(1), NextArrival::Due(_)));
        open_loop.wait(1);
        let to_wake = open_loop.hand_over(0, now_ns, group, &mut self::recorder(&plan));
        assert_eq!(to_wake, Some(ToWake::One(1)));
        assert_eq!(take(1), NextArrival::Later);
        open_loop.take_handed_over(1).unwrap();
        assert_eq!(take(1), NextArrival::Over);
    }

    #[test]
    fn what_is_given_back_is_taken_in_the_order_in_which_it_was_due() {
        let plan = plan(
            json!({ "kind": "constant", "offered_rate_per_s": 100 }),
            json!({}),
        );
        let (mut recorder, group) = (recorder(&plan), &plan.groups[0]);
        let mut arrivals = Arrivals::new(&plan, group, schedule(0), Share::ALL).unwrap();
        let taken: Vec<_> = (0..4)
            .map(|_| arrivals.take(group, &mut recorder).unwrap())
            .collect();
        for place in [1, 3, 0, 2] {
            arrivals.give_back(taken[place]);
        }
        let again: Vec<_> = (0..4)
            .map(|_| arrivals.take(group, &mut recorder).unwrap())
            .collect();
        assert_eq!(again, taken);
        let next = arrivals.take(group, &mut recorder).unwrap();
        assert!(next.due_ns > taken[3].due_ns);
    }
}

//! The calling thread: opens the barrier, reports progress and how many clients have begun and ended so far, handles cancellation,
//! and keeps the aggregators up to date while the clients run.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::PoisonError;
use std::sync::atomic::Ordering;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::Serialize;

use crate::account::{Series, TransactionLog};
use crate::cost;
use crate::drive::pace::schedule::{Drain, Draining, Schedule};
use crate::drive::shared::Shared;
use crate::drive::supervision::call_timeout::CallTimeout;
use crate::drive::supervision::start_barrier::Start;
use crate::observation::{ClientCost, Interval, Outage, Outcomes};

/// How often progress is reported.
const REPORT_EVERY_NS: u64 = 100_000_000;
const SECOND_NS: u64 = 1_000_000_000;
/// How long threads waited for a processor is asked for again no sooner than this many times the CPU time that it took:
/// the kernel is asked of each of them, which takes some milliseconds with a thousand.
const WAITED_SHARE: u64 = 1000;

/// The progress of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DriveProgress {
    /// Since the first client started, or since connecting began if none has yet.
    pub elapsed_s: f64,
    /// Measured transactions that have ended.
    pub done: u64,
    /// All transactions of the run; `None` if that is not known beforehand.
    pub scheduled: Option<u64>,
    /// Measured transactions that ended `ok`.
    pub ok: u64,
    /// Failed, or of unknown outcome.
    pub failed: u64,
    /// Clients that have not ended yet.
    pub clients_running: u32,
    /// The seconds of the measurement that were completed since the last report: an interval of each group.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub seconds: Vec<Interval>,
    /// Once a second of the measurement.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub so_far: Option<ClientsSoFar>,
    /// The measurement has ended, and the remaining transactions are waited for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub draining: Option<DrainProgress>,
}

/// The progress of the drain.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct DrainProgress {
    /// Transactions that are still running.
    pub open: u32,
    /// Since the measurement ended.
    pub elapsed_s: f64,
    /// The maximum.
    pub limit_s: f64,
}

/// How long threads waited for a processor in the measurement, as it was last asked for.
#[derive(Default)]
struct Waited {
    waited_ns: u64,
    /// How long the measurement had lasted.
    of_ns: u64,
    next_ns: u64,
}

impl Waited {
    /// In the measurement so far, if it goes on like that.
    fn within(&self, elapsed_ns: u64) -> u64 {
        let waited_ns = u128::from(self.waited_ns) * u128::from(elapsed_ns);
        u64::try_from(waited_ns / u128::from(self.of_ns.max(1))).unwrap_or(u64::MAX)
    }
}

/// What the supervisor has recorded.
pub struct Watched {
    /// `None`: the run was not started.
    pub schedule: Option<Schedule>,
    pub connect_ns: u64,
    pub started_unix_ns: u64,
    pub client_cost: ClientCost,
    pub series: Series,
    pub was_interrupted: bool,
}

pub struct Supervisor<'a> {
    pub shared: &'a Shared,
    pub threads: usize,
    /// The memory of this process before the first client.
    pub resident_before_bytes: u64,
    /// For clients with blocking drivers; empty with wire drivers.
    pub call_timeouts: &'a [CallTimeout],
    pub progress: &'a mut dyn FnMut(&DriveProgress) -> ControlFlow<()>,
    pub ready: &'a mut dyn FnMut() -> ControlFlow<(), Option<u64>>,
}

impl Supervisor<'_> {
    /// Supervises the run from connecting to the end of the last thread.
    pub fn watch(mut self) -> Watched {
        let resident_before_bytes = self.resident_before_bytes;
        let mut was_interrupted = self.wait_until_connected();
        let mut is_go = self.shared.barrier.is_clear() && !was_interrupted;
        let connect_ns = self.shared.clock.now_ns();
        let mut start_ns = connect_ns;
        if is_go {
            match (self.ready)() {
                ControlFlow::Continue(begin) => start_ns = self.start_ns(begin),
                ControlFlow::Break(()) => (is_go, was_interrupted) = (false, true),
            }
        }
        let mut watched = Watched {
            schedule: is_go.then(|| self.schedule(start_ns)),
            connect_ns,
            started_unix_ns: unix_ns(),
            client_cost: self.cost_so_far(),
            series: Series::new(&self.shared.plan.layout()),
            was_interrupted,
        };
        let mut resident_bytes = 0;
        match watched.schedule {
            Some(schedule) => {
                self.shared.barrier.decide(Start::Go(schedule));
                resident_bytes = self.supervise(schedule, &mut watched);
            }
            None => self.shared.barrier.decide(Start::Cancelled),
        }
        watched.client_cost = ClientCost {
            resident_bytes,
            resident_grown_bytes: resident_bytes.saturating_sub(resident_before_bytes),
            ..self.cost_so_far().since(&watched.client_cost)
        };
        watched
    }

    fn cost_so_far(&self) -> ClientCost {
        ClientCost {
            waited_for_processor_ns: self.shared.waited_for_processor_ns(),
            ..cost::so_far()
        }
    }

    /// Waits until every thread has connected its clients; returns whether `progress` broke.
    fn wait_until_connected(&mut self) -> bool {
        let mut is_interrupted = false;
        while !self
            .shared
            .barrier
            .all_arrived(self.threads, Duration::from_nanos(REPORT_EVERY_NS))
        {
            if self.shared.threads_left() < self.threads {
                // A thread has panicked before it arrived.
                return true;
            }
            if !is_interrupted && self.report(None, Vec::new(), None).is_break() {
                is_interrupted = true;
                self.shared.barrier.cancel();
            }
        }
        is_interrupted
    }

    /// When clients start, on the run's clock: at an instant of the wall clock, or at once if there is none
    /// or it has passed.
    fn start_ns(&self, begin_unix_ns: Option<u64>) -> u64 {
        let left_ns = begin_unix_ns.map_or(0, |begin| begin.saturating_sub(unix_ns()));
        self.shared.clock.now_ns().saturating_add(left_ns)
    }

    fn schedule(&self, start_ns: u64) -> Schedule {
        let plan = &self.shared.plan;
        let ramped_ns = start_ns.saturating_add(plan.ramp_up_ns);
        let measure_ns = ramped_ns.saturating_add(plan.warm_up_ns);
        let stop_ns =
            (plan.duration_ns).map_or(u64::MAX, |duration| measure_ns.saturating_add(duration));
        Schedule {
            start_ns,
            ramped_ns,
            measure_ns,
            stop_ns,
            drain_ns: plan.drain_ns,
        }
    }

    /// Reports ten times a second until all threads have ended; returns the highest memory use seen during
    /// the measurement.
    fn supervise(&mut self, schedule: Schedule, watched: &mut Watched) -> u64 {
        let Shared { clock, signals, .. } = self.shared;
        let mut drain = Drain::default();
        let mut is_measuring = false;
        let mut resident_bytes = 0;
        let mut report_ns = schedule.start_ns + REPORT_EVERY_NS;
        let mut waited = Waited::default();
        let mut so_far_ns = schedule.measure_ns.saturating_add(SECOND_NS);
        while self.shared.threads_left() > 0 || self.awaits_stop(schedule, watched) {
            let now_ns = clock.now_ns();
            if !is_measuring && now_ns >= schedule.measure_ns {
                is_measuring = true;
                watched.started_unix_ns = unix_ns() - (now_ns - schedule.measure_ns);
                if let Some(log) = &self.shared.transaction_log {
                    log.began(watched.started_unix_ns);
                }
                watched.client_cost = self.cost_so_far();
            }
            if is_measuring {
                resident_bytes = cost::resident_bytes().max(resident_bytes);
                let connected = self.shared.outages().connected();
                let since_ns = now_ns - schedule.measure_ns;
                watched.series.connected(since_ns, &connected);
            }
            if now_ns >= report_ns {
                report_ns = now_ns + REPORT_EVERY_NS;
                self.shared.flush_buffers(schedule.measure_ns);
                self.close_seconds(now_ns, schedule, &mut watched.series);
                let seconds = watched.series.take_completed();
                let so_far = (now_ns >= so_far_ns).then(|| {
                    let second = (now_ns - schedule.measure_ns) / SECOND_NS + 1;
                    so_far_ns = schedule.measure_ns + second * SECOND_NS;
                    self.so_far(now_ns, schedule, &watched.client_cost, &mut waited)
                });
                if self.report(Some(&schedule), seconds, so_far).is_break() {
                    watched.was_interrupted = true;
                    signals.interrupt();
                }
                if self
                    .shared
                    .transaction_log
                    .as_ref()
                    .is_some_and(TransactionLog::has_failed)
                {
                    signals.interrupt();
                }
                let draining = drain.check(now_ns, &schedule, signals);
                if draining == Draining::TooLong {
                    self.shared.plan.program.children.end_all();
                    self.shared.barrier.cancel();
                }
                self.call_timeouts
                    .iter()
                    .for_each(|watch| watch.check(now_ns, draining));
            }
            let now_ns = clock.now_ns();
            let instants = [schedule.measure_ns, schedule.stop_ns];
            let next_ns = (instants.into_iter())
                .filter(|&at_ns| at_ns > now_ns)
                .fold(report_ns, u64::min);
            std::thread::park_timeout(Duration::from_nanos(next_ns.saturating_sub(now_ns)));
        }
        self.shared.flush_buffers(schedule.measure_ns);
        self.close_seconds(u64::MAX, schedule, &mut watched.series);
        resident_bytes
    }

    /// Whether all clients of an open loop have ended before the stop, as nothing more is due until then: the
    /// measurement lasts that long.
    fn awaits_stop(&self, schedule: Schedule, watched: &Watched) -> bool {
        self.shared.clock.now_ns() < schedule.stop_ns
            && !watched.was_interrupted
            && (0..self.shared.plan.groups.len())
                .any(|group| self.shared.is_until_stop(group, schedule))
    }

    /// What the clients have done by now.
    fn so_far(
        &self,
        now_ns: u64,
        schedule: Schedule,
        cost_before: &ClientCost,
        waited: &mut Waited,
    ) -> ClientsSoFar {
        let elapsed_ns = now_ns - schedule.measure_ns;
        if now_ns >= waited.next_ns {
            let began_ns = cost::processor_ns_of_thread();
            let waited_ns = self.shared.waited_for_processor_ns();
            let took_ns = cost::processor_ns_of_thread() - began_ns;
            *waited = Waited {
                waited_ns: waited_ns.saturating_sub(cost_before.waited_for_processor_ns),
                of_ns: elapsed_ns,
                next_ns: now_ns + WAITED_SHARE * took_ns,
            };
        }
        let cost = ClientCost {
            waited_for_processor_ns: waited.within(elapsed_ns),
            ..cost::so_far().since(cost_before)
        };
        ClientsSoFar::of(
            self.shared,
            self.threads,
            cost,
            (schedule.measure_ns, now_ns),
        )
    }

    /// Writes the intervals of all seconds but the last two.
    fn close_seconds(&self, now_ns: u64, schedule: Schedule, series: &mut Series) {
        let horizon = if now_ns == u64::MAX {
            u64::MAX
        } else {
            (now_ns.saturating_sub(schedule.measure_ns) / SECOND_NS).saturating_sub(1)
        };
        for aggregator in &self.shared.aggregators {
            aggregator
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .close_seconds(horizon, series);
        }
        if horizon < u64::MAX {
            series.write_lines(horizon);
        }
    }

    fn report(
        &mut self,
        schedule: Option<&Schedule>,
        seconds: Vec<Interval>,
        so_far: Option<ClientsSoFar>,
    ) -> ControlFlow<()> {
        let mut outcomes = Outcomes::default();
        for aggregator in &self.shared.aggregators {
            outcomes.add(
                &aggregator
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .outcomes(),
            );
        }
        let now_ns = self.shared.clock.now_ns();
        let start_ns = schedule.map_or(0, |schedule| schedule.start_ns);
        let elapsed = Duration::from_nanos(now_ns.saturating_sub(start_ns));
        let clients_running = self.shared.clients_running.load(Ordering::Relaxed);
        let stopped = schedule.filter(|schedule| now_ns >= schedule.stop_ns);
        (self.progress)(&DriveProgress {
            elapsed_s: elapsed.as_secs_f64(),
            done: outcomes.ended() + outcomes.skipped,
            scheduled: self.shared.plan.scheduled(),
            ok: outcomes.ok,
            failed: outcomes.failed + outcomes.unknown,
            clients_running,
            seconds,
            so_far,
            draining: stopped.map(|schedule| DrainProgress {
                open: clients_running,
                elapsed_s: Duration::from_nanos(now_ns - schedule.stop_ns).as_secs_f64(),
                limit_s: Duration::from_nanos(schedule.drain_ns).as_secs_f64(),
            }),
        })
    }
}

/// The wall clock. A clock set before 1970 reads as 0.
fn unix_ns() -> u64 {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    u64::try_from(since.as_nanos()).expect("the clock is before the year 2554")
}

/// Of more clients it is not said how many transactions each has ended: it would be long, once a second.
const MOST_CLIENTS: usize = 10_000;

/// Numbers have the names and the meaning of those of an observation.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClientsSoFar {
    /// Since the measurement began.
    pub elapsed_ns: u64,
    /// That drive clients.
    pub threads: usize,
    /// Without its memory. How long threads waited is extrapolated for some seconds where there are very many.
    pub client_cost: ClientCost,
    /// The load of the machine in the last minute; `None` if the kernel does not report it.
    pub load_1min: Option<f64>,
    /// Statements of measured transactions that were answered, without what is under way.
    pub statements: u64,
    /// One that has not ended lasts until now.
    pub outages: Vec<Outage>,
    /// By group: the measured transactions of each client that works or is done, as they were a moment ago. Empty in an
    /// open loop, where clients have as many as there are arrivals while they are free.
    pub transactions: BTreeMap<String, Vec<u64>>,
}

impl ClientsSoFar {
    /// `client_cost`: since the measurement began; `measured`: from when to when it lasts so far.
    pub fn of(
        shared: &Shared,
        threads: usize,
        client_cost: ClientCost,
        (began_ns, now_ns): (u64, u64),
    ) -> Self {
        let statements = shared.buffers.iter().map(|buffer| buffer.statements.get());
        Self {
            elapsed_ns: now_ns - began_ns,
            threads,
            client_cost,
            load_1min: cost::load_1min(),
            statements: statements.sum(),
            outages: shared.outages().between(began_ns, now_ns),
            transactions: transactions(shared),
        }
    }
}

fn transactions(shared: &Shared) -> BTreeMap<String, Vec<u64>> {
    let mut by_group: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    let each = shared.client_counts.each();
    if each.len() <= MOST_CLIENTS && !shared.plan.has_open_loop() {
        for (&client, count) in each.iter() {
            let group = &shared.plan.group_of(client).name;
            match by_group.get_mut(group) {
                Some(counts) => counts.push(count.get()),
                None => drop(by_group.insert(group.clone(), vec![count.get()])),
            }
        }
    }
    by_group
}

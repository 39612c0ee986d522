//! One thread of the executor for blocking drivers: takes one client; runs its requests on one connection
//! with calls that return when the library has answered.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::time::Duration;

use assay_drivers::registry::AnyBlocking;
use assay_drivers::{Answer, Blocking as _, Keep, Request, SystemError};

use crate::account::{End, EndState, ThreadRecorder, Worktime};
use crate::clock::Clock;
use crate::drive::client::{AfterLoss, Client, Next};
use crate::drive::event_loop::session_opener::{OpenError, unprepared};
use crate::drive::pace::arrivals::Arrival;
use crate::drive::pace::open_loop::NextArrival;
use crate::drive::pace::schedule::{Drain, Draining, Schedule};
use crate::drive::shared::Shared;
use crate::drive::supervision::call_timeout::{CallTimeout, Reason, over_limit, timed_out};
use crate::drive::supervision::start_barrier::{Readiness, Start};
use crate::session::LocalDeployment;

/// How often a pause checks whether the run is stopping.
const PAUSE_SLICE: Duration = Duration::from_millis(50);

/// Runs one client; the watchdog may cancel its calls through `watch`.
pub fn run(
    shared: &Shared,
    deployments: &[LocalDeployment],
    watch: &CallTimeout,
    place: u32,
) -> ThreadRecorder {
    let _presence = shared.presence();
    let group = shared.plan.group_at(place);
    let number = group.client_number(place);
    let deployment = &deployments[group.routes[0].endpoint_of(number) as usize];
    let mut recorder = shared.recorder(place as usize);
    let mut library = None;
    // If each transaction opens its own connection, one client connects beforehand to show that it can.
    let readiness = if shared.plan.connects_each && place > 0 {
        Readiness::Ready
    } else {
        let plan = &shared.plan;
        let to_prepare = match plan.connects_each {
            true => &plan.to_prepare,
            false => &plan.group_at(place).to_prepare,
        };
        match open(shared, deployment, to_prepare) {
            Ok(opened) => {
                library = Some(opened);
                Readiness::Ready
            }
            Err(OpenError::Refused(error)) => {
                recorder
                    .counts
                    .errors
                    .count(&error, None, shared.clock.now_ns());
                Readiness::Refused
            }
            Err(OpenError::Failed(failure)) => Readiness::Failed(failure),
        }
    };
    let state = match readiness {
        Readiness::Refused => EndState::Refused,
        _ => EndState::Interrupted,
    };
    match shared.barrier.arrive(readiness) {
        Start::Go(schedule) => {
            recorder.begin(schedule.measure_ns);
            if shared.plan.connects_each {
                library = None;
            }
            set_timer_slack();
            let mut worker = ClientThread {
                shared,
                deployment,
                schedule,
                watch,
                library: None,
                counters: Counters::default(),
                drain: Drain::default(),
                recorder,
            };
            worker.take(library);
            worker.run(place)
        }
        Start::Cancelled => {
            recorder.counts.ends.push(End {
                client: number,
                at_ns: 0,
                passes: 0,
                transactions: 0,
                next_number: 0,
                worktime: Worktime::default(),
                state,
            });
            recorder
        }
    }
}

fn open(
    shared: &Shared,
    deployment: &LocalDeployment,
    to_prepare: &[u32],
) -> Result<AnyBlocking, OpenError> {
    let plan = &shared.plan;
    let mut library = deployment
        .open(shared.barrier.stop())
        .map_err(OpenError::Refused)?;
    let mut answer = Answer::new(Keep::Count);
    for &id in to_prepare {
        answer.clear(Keep::Count);
        let pieces = &plan.program.statements[id as usize].pieces;
        let failed = match library.request(&Request::Prepare { id, pieces }, &mut answer) {
            Ok(()) => answer.error.take(),
            Err(error) => Some(error),
        };
        if let Some(error) = failed {
            return Err(OpenError::Failed(unprepared(plan, id, error)));
        }
    }
    Ok(library)
}

struct ClientThread<'a> {
    shared: &'a Shared,
    deployment: &'a LocalDeployment,
    schedule: Schedule,
    watch: &'a CallTimeout,
    /// `None` while the client has no connection.
    library: Option<AnyBlocking>,
    counters: Counters,
    drain: Drain,
    recorder: ThreadRecorder,
}

impl ClientThread<'_> {
    fn run(mut self, place: u32) -> ThreadRecorder {
        let Shared { clock, .. } = self.shared;
        let mut client = Client::new(self.shared, self.schedule, place);
        let mut answer = Answer::new(Keep::Count);
        let mut values = Vec::new();
        let mut now_ns = clock.now_ns();
        loop {
            if let Some(library) = &self.library {
                self.counters.check(library, now_ns, &self.schedule);
            }
            match client.next(now_ns, &mut self.recorder, &mut values) {
                Next::Request { request, keep } => {
                    answer.clear(keep);
                    let called = self.call(&request, &mut answer, now_ns);
                    client.sent(now_ns);
                    now_ns = clock.now_ns();
                    match called {
                        // Each statement may be short and the script endless.
                        Ok(()) if self.draining(now_ns) == Draining::TooLong => {
                            client.abandoned(now_ns, &mut self.recorder);
                            self.recorder.counts.cancelled += 1;
                            break;
                        }
                        Ok(()) => {
                            client.answered(now_ns, &mut answer, &mut self.recorder);
                        }
                        Err(CallError::Abandoned) => {
                            let said = answer.error.as_ref().map(|error| &*error.message);
                            client.abandoned_in(said, now_ns, &mut self.recorder);
                            self.recorder.counts.cancelled += 1;
                            break;
                        }
                        Err(CallError::Lost(error)) => {
                            self.take(None);
                            let after = client.lost(now_ns, &error, &mut self.recorder);
                            if !self.follow(after, &mut client) {
                                break;
                            }
                        }
                    }
                    continue;
                }
                Next::Pause { until_ns } => {
                    if !self.pause(&mut client, until_ns) {
                        break;
                    }
                }
                Next::Run { command } => {
                    client.ran(command.run(&self.shared.plan.program.children));
                }
                Next::Abandoned => {
                    client.abandoned(clock.now_ns(), &mut self.recorder);
                    self.recorder.counts.cancelled += 1;
                    break;
                }
                Next::Connect => {
                    if !self.connect(&mut client) {
                        break;
                    }
                }
                Next::Arrival => {
                    if !self.await_arrival(&mut client) {
                        break;
                    }
                }
                Next::Queue { .. } | Next::Sync { .. } => {
                    unreachable!("blocking drivers have no pipelines")
                }
                Next::Route { .. } => unreachable!("a library has one endpoint"),
                Next::Unusable { error } => {
                    self.take(None);
                    let now_ns = clock.now_ns();
                    let after = client.lost(now_ns, &error, &mut self.recorder);
                    if !self.follow(after, &mut client) {
                        break;
                    }
                }
                Next::Ended => {
                    self.recorder.flush_if_full();
                    if self.shared.plan.connects_each {
                        self.take(None);
                    }
                }
                Next::Again => {}
                Next::Done => break,
            }
            now_ns = clock.now_ns();
        }
        self.take(None);
        self.counters.record_in(&mut self.recorder);
        self.shared.clients_running.fetch_sub(1, Ordering::Relaxed);
        self.recorder
    }

    /// Replaces the client's connection.
    fn take(&mut self, library: Option<AnyBlocking>) {
        if let Some(library) = &self.library {
            self.counters.closing(library);
        }
        self.watch.end();
        if let Some(library) = &library {
            self.watch.begin(library.canceller());
            let now_ns = self.shared.clock.now_ns();
            self.counters.opened(library, now_ns, &self.schedule);
        }
        self.library = library;
    }

    /// Opens a connection; returns whether the client continues.
    fn connect(&mut self, client: &mut Client<'_>) -> bool {
        match open(self.shared, self.deployment, client.to_prepare()) {
            Ok(library) => {
                self.take(Some(library));
                client.connected(false, &mut self.recorder);
                true
            }
            Err(error) => {
                let now_ns = self.shared.clock.now_ns();
                let error = error.into_error();
                let after = client.not_connected(now_ns, &error, &mut self.recorder);
                self.follow(after, client)
            }
        }
    }

    /// Continues after a connection was lost or could not be opened; returns whether the client continues.
    fn follow(&mut self, after: AfterLoss, client: &mut Client<'_>) -> bool {
        match after {
            AfterLoss::Ended => false,
            AfterLoss::GoOn => true,
            AfterLoss::Pause { until_ns } => self.pause(client, until_ns),
        }
    }

    /// Takes the next arrival of the run and waits until it is due; returns whether there was one.
    fn await_arrival(&mut self, client: &mut Client<'_>) -> bool {
        let clock = self.shared.clock;
        let group = client.group();
        let plan = &self.shared.plan.groups[group];
        if plan.is_deferred() {
            return self.await_deferred(client);
        }
        let open_loop = self.shared.open_loop(group, self.schedule);
        let taken = open_loop
            .and_then(|arrivals| arrivals.take_early(clock.now_ns(), plan, &mut self.recorder));
        let Some(due) = taken else {
            client.finish(clock.now_ns(), &mut self.recorder);
            return false;
        };
        loop {
            let now_ns = clock.now_ns();
            if now_ns >= due.due_ns {
                client.arrive(due, now_ns, &mut self.recorder);
                return true;
            }
            if self.shared.signals.is_interrupted() {
                self.give_back(due);
                return true;
            }
            sleep_until(clock, due.due_ns, PAUSE_SLICE);
        }
    }

    /// Waits for what other clients queue; returns whether the client continues.
    fn await_deferred(&mut self, client: &mut Client<'_>) -> bool {
        let clock = self.shared.clock;
        let group = client.group();
        let plan = &self.shared.plan.groups[group];
        let open_loop = self.shared.open_loop(group, self.schedule);
        let (Some(open_loop), Some(queue)) = (open_loop, &self.shared.deferred) else {
            unreachable!("the group has a queue")
        };
        loop {
            let now_ns = clock.now_ns();
            if self.draining(now_ns) == Draining::TooLong {
                client.abandoned(now_ns, &mut self.recorder);
                return false;
            }
            if self.shared.signals.is_interrupted() {
                return true;
            }
            match open_loop.take(0, now_ns, plan, &mut self.recorder) {
                (NextArrival::Due(arrival), _) => {
                    client.arrive(arrival, clock.now_ns(), &mut self.recorder);
                    return true;
                }
                (NextArrival::Over, _) => {
                    client.finish(now_ns, &mut self.recorder);
                    return false;
                }
                (NextArrival::Later, _) => queue.wait(PAUSE_SLICE),
            }
        }
    }

    /// Takes back an arrival that never was due: it is not counted as scheduled.
    fn give_back(&mut self, due: Arrival) {
        self.recorder.counts.begun[due.next.transaction_type as usize].scheduled -=
            u64::from(due.is_measured);
    }

    fn call(
        &mut self,
        request: &Request<'_>,
        answer: &mut Answer,
        now_ns: u64,
    ) -> Result<(), CallError> {
        let plan = &self.shared.plan;
        let timeout_ns = plan.longest_wait_ns();
        if let Some(timeout_ns) = timeout_ns {
            self.watch.expect_until(now_ns.saturating_add(timeout_ns));
        }
        let Some(library) = &mut self.library else {
            unreachable!("a client without a connection has no request")
        };
        let called = library.request(request, answer);
        if timeout_ns.is_some() {
            self.watch.expect_nothing();
        }
        match self.watch.take_cancelled() {
            // The call was cancelled, or was answered just before: then the answer counts.
            Some(Reason::Drained) if called.is_err() || answer.error.is_some() => {
                Err(CallError::Abandoned)
            }
            Some(Reason::Deadline) if plan.statement_limit_ns.is_some() => {
                answer.error = answer.error.take().map(|said| over_limit(plan, &said));
                called.map_err(|said| CallError::Lost(over_limit(plan, &said)))
            }
            Some(Reason::Deadline) if called.is_err() || answer.error.is_some() => {
                Err(CallError::Lost(timed_out(plan)))
            }
            _ => called.map_err(CallError::Lost),
        }
    }

    #[inline]
    fn draining(&mut self, now_ns: u64) -> Draining {
        let signals = &self.shared.signals;
        self.drain.check(now_ns, &self.schedule, signals)
    }

    /// Pauses; returns whether the client continues. It does not if the drain time ends during a pause that is
    /// part of its transaction.
    fn pause(&mut self, client: &mut Client<'_>, until_ns: u64) -> bool {
        let clock = self.shared.clock;
        loop {
            let now_ns = clock.now_ns();
            let draining = self.draining(now_ns);
            if draining != Draining::No && client.cut_pause(now_ns, &mut self.recorder) {
                return true;
            }
            if draining == Draining::TooLong {
                client.abandoned(now_ns, &mut self.recorder);
                self.recorder.counts.cancelled += 1;
                return false;
            }
            if now_ns >= until_ns {
                client.woken(now_ns);
                return true;
            }
            let slice_end_ns = until_ns.min(self.schedule.stop_ns.max(now_ns + 1));
            sleep_until(clock, slice_end_ns, PAUSE_SLICE);
        }
    }
}

/// Why a call returned no answer.
enum CallError {
    Lost(SystemError),
    Abandoned,
}

/// Sets this thread's timer slack to the minimum. By default the kernel may delay timers by 50 µs, and so a
/// client's pauses and arrivals.
fn set_timer_slack() {
    // SAFETY: the call takes plain numbers. If it fails, the timer slack stays as it was.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1_u64, 0_u64, 0_u64, 0_u64) };
}

/// Sleeps until `until_ns` on `clock`, but at most for `most`.
fn sleep_until(clock: Clock, until_ns: u64, most: Duration) {
    let left_ns = until_ns.saturating_sub(clock.now_ns());
    std::thread::sleep(Duration::from_nanos(left_ns).min(most));
}

/// The counters of one client, over all its connections.
#[derive(Debug, Default)]
struct Counters {
    is_measuring: bool,
    /// The connection's counters when the measurement began.
    before: BTreeMap<&'static str, u64>,
    sums: BTreeMap<&'static str, u64>,
}

impl Counters {
    /// A connection was opened.
    pub fn opened(&mut self, library: &AnyBlocking, now_ns: u64, schedule: &Schedule) {
        self.is_measuring = false;
        self.check(library, now_ns, schedule);
    }

    /// Called between two calls of the library.
    #[inline]
    pub fn check(&mut self, library: &AnyBlocking, now_ns: u64, schedule: &Schedule) {
        if !self.is_measuring && now_ns >= schedule.measure_ns {
            self.is_measuring = true;
            self.before = library.counters().into_iter().collect();
        }
    }

    /// A connection is about to be closed.
    pub fn closing(&mut self, library: &AnyBlocking) {
        if !self.is_measuring {
            return;
        }
        for (name, count) in library.counters() {
            let before = self.before.get(name).copied().unwrap_or(0);
            *self.sums.entry(name).or_default() += count.saturating_sub(before);
        }
        self.is_measuring = false;
    }

    pub fn record_in(self, recorder: &mut ThreadRecorder) {
        for (name, count) in self.sums {
            *recorder.counts.counters.entry(name).or_default() += count;
        }
    }
}

//! One thread of the executor for blocking drivers: one client, one connection, calls that return when the
//! library has answered.

use std::sync::atomic::Ordering;
use std::time::Duration;

use assay_drivers::registry::AnyBlocking;
use assay_drivers::{Answer, Blocking as _, Keep, Request, SystemError};

use super::client::{Client, Next};
use super::entrant::unprepared;
use super::gate::{Arrival, Verdict};
use super::line::timed_out;
use super::plan::Plan;
use super::schedule::Schedule;
use super::shared::Shared;
use super::watchdog::{Reason, Watch};
use crate::account::{End, Ledger, State};
use crate::session::LocalSite;

/// A pause looks up this often whether the run is stopping.
const PAUSE_SLICE: Duration = Duration::from_millis(50);

/// Works for one client, whose calls the watchdog may break off through `watch`.
pub fn run(shared: &Shared, site: &LocalSite<'_>, watch: &Watch, number: u32) -> Ledger {
    let _presence = shared.presence();
    let mut ledger = shared.ledger(number as usize);
    let (library, arrival) = match site.open() {
        Err(error) => {
            ledger.errors.count(&error, None, shared.clock.now_ns());
            (None, Arrival::Refused)
        }
        Ok(mut library) => match prepare(&mut library, &shared.plan) {
            Ok(()) => (Some(library), Arrival::Ready),
            Err(arrival) => (Some(library), arrival),
        },
    };
    let state = if library.is_none() {
        State::Refused
    } else {
        State::Interrupted
    };
    match (shared.gate.arrive(arrival), library) {
        (Verdict::Go(schedule), Some(library)) => {
            ledger.begin(schedule.measure_ns);
            watch.begin(library.canceller());
            Worker {
                shared,
                schedule,
                watch,
                library,
                ledger,
            }
            .run(number)
        }
        _ => {
            ledger.ends.push(End {
                client: number,
                at_ns: 0,
                passes: 0,
                transactions: 0,
                state,
            });
            ledger
        }
    }
}

fn prepare(library: &mut AnyBlocking, plan: &Plan) -> Result<(), Arrival> {
    let mut answer = Answer::new(Keep::Count);
    for &id in &plan.to_prepare {
        answer.clear(Keep::Count);
        let text = &plan.program.statements[id as usize].text;
        let failed = match library.request(&Request::Prepare { id, text }, &mut answer) {
            Ok(()) => answer.error.take(),
            Err(error) => Some(error),
        };
        if let Some(error) = failed {
            return Err(Arrival::Failed(unprepared(plan, id, error)));
        }
    }
    Ok(())
}

struct Worker<'a> {
    shared: &'a Shared,
    schedule: Schedule,
    watch: &'a Watch,
    library: AnyBlocking,
    ledger: Ledger,
}

impl Worker<'_> {
    fn run(mut self, number: u32) -> Ledger {
        let Shared {
            plan,
            signals,
            clock,
            ..
        } = self.shared;
        let mut client = Client::new(plan, signals, self.schedule, number);
        let mut answer = Answer::new(Keep::Count);
        let mut now_ns = clock.now_ns();
        loop {
            match client.next(now_ns, &mut self.ledger) {
                Next::Request { request, keep } => {
                    answer.clear(keep);
                    let called = self.call(&request, &mut answer, now_ns);
                    now_ns = clock.now_ns();
                    match called {
                        Ok(()) => client.answered(now_ns, &mut answer, &mut self.ledger),
                        Err(Broken::Abandoned) => {
                            client.abandoned(now_ns, &mut self.ledger);
                            break;
                        }
                        Err(Broken::Lost(error)) => {
                            client.lost(now_ns, &error, &mut self.ledger);
                            break;
                        }
                    }
                    continue;
                }
                Next::Pause { until_ns } => self.pause(&mut client, until_ns),
                Next::Again => {}
                Next::Done => break,
            }
            now_ns = clock.now_ns();
        }
        self.watch.end();
        self.shared.clients_running.fetch_sub(1, Ordering::Relaxed);
        self.ledger
    }

    fn call(
        &mut self,
        request: &Request<'_>,
        answer: &mut Answer,
        now_ns: u64,
    ) -> Result<(), Broken> {
        let timeout_ns = self.shared.plan.statement_timeout_ns;
        if let Some(timeout_ns) = timeout_ns {
            self.watch.expect_until(now_ns.saturating_add(timeout_ns));
        }
        let called = self.library.request(request, answer);
        if timeout_ns.is_some() {
            self.watch.expect_nothing();
        }
        match self.watch.take_cancelled() {
            // It was broken off, or answered in the very moment: then the answer counts.
            Some(reason) if called.is_err() || answer.error.is_some() => Err(match reason {
                Reason::Deadline => Broken::Lost(timed_out(&self.shared.plan)),
                Reason::Drained => Broken::Abandoned,
            }),
            _ => called.map_err(Broken::Lost),
        }
    }

    fn pause(&mut self, client: &mut Client<'_>, until_ns: u64) {
        let clock = self.shared.clock;
        loop {
            let now_ns = clock.now_ns();
            let is_stopping =
                now_ns >= self.schedule.stop_ns || self.shared.signals.is_interrupted();
            if is_stopping && client.cut_pause(now_ns, &mut self.ledger) {
                return;
            }
            if now_ns >= until_ns {
                return client.woken(now_ns);
            }
            let slice_end_ns = until_ns.min(self.schedule.stop_ns.max(now_ns + 1));
            std::thread::sleep(Duration::from_nanos(slice_end_ns - now_ns).min(PAUSE_SLICE));
        }
    }
}

/// Why a call gave no answer.
enum Broken {
    Lost(SystemError),
    Abandoned,
}

//! Takes a drive document; drives its clients against the system; returns an observation.

mod client;
mod client_thread;
mod event_loop;
mod pace;
mod plan;
mod report;
mod shared;
mod supervision;

pub use plan::{compile, is_prepared, operation};
pub use supervision::supervisor::{ClientsSoFar, DrainProgress, DriveProgress};

use std::num::NonZero;
use std::ops::ControlFlow;

use crate::account::{ThreadRecorder, TimeSpan, TransactionLog};
use crate::document::DriveDocument;
use crate::drive::plan::Plan;
use crate::drive::shared::Shared;
use crate::drive::supervision::call_timeout::CallTimeout;
use crate::drive::supervision::supervisor::{Supervisor, Watched};
use crate::drive::supervision::suspension_detector::SuspensionDetector;
use crate::limits::{Consumer, Need};
use crate::observation::Observation;
use crate::session::{Deployment, Endpoints};
use crate::{EngineError, cost, limits};

/// Runs the clients of `document` until all have ended.
///
/// 1. The scripts are compiled: errors in them are reported before any server is contacted.
/// 2. Every client connects and prepares its statements, then waits at the start barrier.
/// 3. If a client is refused, no transaction is run: the observation is `refused`, with the errors.
/// 4. Otherwise `ready` is called once. It returns when to begin: at an instant of the wall clock
///    (nanoseconds since 1970), so that several processes begin together, or at once. All clients begin then,
///    or over the ramp-up. `progress` is called ten times a second; if it breaks, clients end after the
///    current transaction, or a second later without it. Transactions still running at the end of the
///    measurement have `drain_s` to end; then they are cancelled.
/// 5. The threads' records are merged, and the outcomes are checked to add up.
///
/// # Errors
/// If the document or a script is wrong, a statement cannot be prepared, or `progress` or `ready` broke
/// before the clients began. Failed transactions are no error: the observation has them.
pub fn drive(
    document: &DriveDocument,
    progress: &mut dyn FnMut(&DriveProgress) -> ControlFlow<()>,
    ready: &mut dyn FnMut() -> ControlFlow<(), Option<u64>>,
) -> Result<Observation, EngineError> {
    let plan = Plan::new(document)?;
    let Some(deployment) = &document.deployment else {
        return Err(EngineError::Document(
            "the drive document: expected the key `deployment`".to_owned(),
        ));
    };
    let endpoints = Endpoints::of(deployment)?;
    let processors = processors();
    let clients = document.all_clients();
    let need = match &endpoints {
        Endpoints::Wire(_) => {
            Need::of_sockets(plan.sessions(), wire_threads(document.threads, clients))
        }
        Endpoints::Local(_) if plan.sessions() > clients => {
            return Err(EngineError::Document(format!(
                "the drive document, key `read`: {} has one session for each client; expected one word for all scripts",
                deployment.driver
            )));
        }
        Endpoints::Local(deployments) => Need::of_library(clients, deployments[0].open_files),
    };
    need.check()?;
    let threads = usize::try_from(need.threads).unwrap_or(usize::MAX);
    let resident_before_bytes = cost::resident_bytes();
    // Clients on threads of their own share one schedule.
    let shares = match &endpoints {
        Endpoints::Wire(_) => threads,
        Endpoints::Local(_) => 1,
    };
    let log = (document.log.as_ref())
        .map(|log| TransactionLog::open(log, plan.seed, &plan.type_names()))
        .transpose()?;
    let mut shared = Shared::new(plan, log, threads, shares, processors);
    let call_timeouts: Vec<CallTimeout> = match &endpoints {
        Endpoints::Wire(_) => Vec::new(),
        Endpoints::Local(_) => (0..threads).map(|_| CallTimeout::default()).collect(),
    };
    let supervisor = Supervisor {
        shared: &shared,
        threads,
        resident_before_bytes,
        call_timeouts: &call_timeouts,
        progress,
        ready,
    };
    let (watched, accounts, suspensions) = work(supervisor, &endpoints, processors);

    if let Some(failure) = shared.barrier.take_failure() {
        return Err(failure);
    }
    if watched.schedule.is_none() && watched.was_interrupted {
        return Err(EngineError::Interrupted);
    }
    let mut observation =
        report::assemble(&shared, watched, accounts, &suspensions, threads, document.digest);
    if let Some(log) = shared.transaction_log.take() {
        observation.log = Some(log.finish(observation.started_unix_ns)?);
    }
    Ok(observation)
}

/// Checks whether this machine allows this many clients of a driver, on this many threads (0: as the engine
/// chooses); to be called before anything is started for them.
///
/// # Errors
/// If it does not, or there is no such driver.
pub fn check_clients(driver: &str, clients: u32, threads: u32) -> Result<(), EngineError> {
    let need = match Deployment::files_of_library(driver)? {
        Some(open_files) => Need::of_library(clients, open_files),
        None => Need::of_sockets(clients, wire_threads(threads, clients)),
    };
    need.check()
}

/// As many threads as requested, or as there are processors; never more than clients.
///
/// One thread for all clients costs less CPU time where transactions are long, but on a machine shared with
/// the server it is one of many processes that want a processor: it waits, and the server waits for it
/// (`benches/client_cost.md`).
fn wire_threads(asked: u32, clients: u32) -> u32 {
    let asked = match asked {
        0 => u32::try_from(processors()).unwrap_or(u32::MAX),
        threads => threads,
    };
    asked.min(clients)
}

fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, NonZero::get)
}

/// Starts the threads, supervises them, and collects their records. Also returns the times in which the
/// process was suspended.
fn work(
    supervisor: Supervisor<'_>,
    endpoints: &Endpoints,
    processors: usize,
) -> (Watched, Vec<ThreadRecorder>, Vec<TimeSpan>) {
    let Supervisor { shared, threads, call_timeouts, .. } = supervisor;
    let detector = SuspensionDetector::default();
    let (watched, accounts) = std::thread::scope(|scope| {
        let detecting = detector.start(scope, shared.clock, processors);
        let mut at_work = Vec::with_capacity(threads);
        for thread in 0..threads {
            let watch = call_timeouts.get(thread);
            let work = move || match endpoints {
                Endpoints::Wire(deployments) => {
                    event_loop::event_thread::run(shared, deployments, thread, threads)
                }
                Endpoints::Local(deployments) => {
                    let watch = watch.expect("there is one for each client");
                    let client = u32::try_from(thread).expect("the document counts clients so");
                    client_thread::run(shared, deployments, watch, client)
                }
            };
            match limits::start(scope, &format!("clients-{}", thread + 1), work) {
                Ok(started) => at_work.push(started),
                Err(error) => {
                    let who = Consumer::Clients(shared.plan.clients.into());
                    let refused = limits::refused(who, thread, threads, &error);
                    shared.never_started(threads - thread, refused);
                    break;
                }
            }
        }
        let watched = supervisor.watch();
        let accounts = at_work
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        let accounts = accounts.collect();
        drop(detecting);
        (watched, accounts)
    });
    (watched, accounts, detector.take())
}

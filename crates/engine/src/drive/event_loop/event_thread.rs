//! One thread of the executor for wire drivers: takes its share of the clients; connects them, passes the
//! start barrier and drives them in one event loop.

use std::io;

use mio::Poll;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use crate::EngineError;
use crate::account::{End, EndState, ThreadRecorder, Worktime};
use crate::drive::event_loop::EventLoop;
use crate::drive::event_loop::connector::{Connector, Opened, SessionOf};
use crate::drive::plan::Plan;
use crate::drive::shared::Shared;
use crate::drive::supervision::start_barrier::{Readiness, Start};
use crate::session::{Scratch, WireDeployment, out_of_resources};

/// How many sessions may be opening at once, over all threads: a server forks or authenticates for each, and
/// its listen queue is short.
const PENDING_SESSIONS: usize = 64;

/// The most clients of a thread that stays on its processor. With more, the processes of the server have so much
/// to do there that the thread waits for them while another processor is free.
const BOUND_CLIENTS: usize = 8;

/// Runs the clients of the `thread`-th of `threads` threads: every `threads`-th client, from that one on.
pub fn run(
    shared: &Shared,
    deployments: &[WireDeployment],
    thread: usize,
    threads: usize,
) -> ThreadRecorder {
    let _presence = shared.presence();
    let mut recorder = shared.recorder(thread);
    let first = u32::try_from(thread).expect("there are fewer threads than clients");
    let places: Vec<u32> = (first..shared.plan.clients).step_by(threads).collect();
    if places.len() <= BOUND_CLIENTS {
        keep_to_processor(thread, threads);
    }
    let mut poll = match Poll::new() {
        Ok(poll) => poll,
        Err(error) => return poll_failed(shared, &error, recorder),
    };
    let mut scratch = Scratch::new();
    let sessions = sessions_of(&shared.plan, &places);
    let mut connector = Connector {
        deployments,
        plan: &shared.plan,
        sessions: &sessions,
        barrier: &shared.barrier,
        pending_limit: (PENDING_SESSIONS / threads).max(1),
        poll: &mut poll,
        scratch: &mut scratch,
    };
    let mut opened = connector.open();
    let at_ns = shared.clock.now_ns();
    recorder.counts.servers = std::mem::take(&mut opened.servers);
    for (_, error) in &opened.refusals {
        recorder.counts.errors.count(error, None, at_ns);
    }
    match shared.barrier.arrive(std::mem::take(&mut opened.readiness)) {
        Start::Go(schedule) => {
            recorder.begin(schedule.measure_ns);
            if shared.plan.connects_each {
                end_sessions(&mut opened, &mut scratch);
            }
            let connections = opened.connections.into_iter().map(|connection| {
                connection.expect("the run starts only if every client has its sessions")
            });
            let sessions = sessions.into_iter().zip(connections);
            EventLoop::new(
                (shared, deployments),
                schedule,
                thread,
                (&places, sessions),
                (poll, scratch, recorder),
            )
            .run()
        }
        Start::Cancelled => {
            end_sessions(&mut opened, &mut scratch);
            let is_refused = |client: u32| {
                let mut refused = opened.refusals.iter();
                refused.any(|(session, _)| sessions[*session].client == client)
            };
            recorder.counts.ends.extend(places.iter().map(|client| End {
                client: shared.plan.group_at(*client).client_number(*client),
                at_ns: 0,
                passes: 0,
                transactions: 0,
                next_number: 0,
                worktime: Worktime::default(),
                state: if is_refused(*client) {
                    EndState::Refused
                } else {
                    EndState::Interrupted
                },
            }));
            recorder
        }
    }
}

/// The sessions that these clients need before the run: the first one of each, then those of their other routes. If
/// each transaction opens its own session, one client connects beforehand to show that it can.
fn sessions_of(plan: &Plan, clients: &[u32]) -> Vec<SessionOf> {
    let connecting = match plan.connects_each {
        true => &clients[..1],
        false => clients,
    };
    let others = connecting.iter().flat_map(|&client| {
        let routes = plan.group_at(client).routes.len();
        (1..routes).map(move |route| SessionOf { client, route })
    });
    let first = connecting
        .iter()
        .map(|&client| SessionOf { client, route: 0 });
    first.chain(others).collect()
}

/// Where there is a thread for each processor, each stays on one of its own: with few clients rounds measured so
/// differ less, and most are faster (`benches/client_cost.md`).
fn keep_to_processor(thread: usize, threads: usize) {
    if let Ok(allowed) = sched_getaffinity(None)
        && let Some(processor) = processor_of(thread, threads, &allowed)
    {
        let mut own = CpuSet::new();
        own.set(processor);
        // Where the kernel refuses it, the run is a little slower and as right.
        let _ = sched_setaffinity(None, &own);
    }
}

/// The processor that the thread stays on; none where the threads are more or fewer than the processors that
/// this process may use, or only one.
fn processor_of(thread: usize, threads: usize, allowed: &CpuSet) -> Option<usize> {
    let mut processors = (0..CpuSet::MAX_CPU).filter(|processor| allowed.is_set(*processor));
    let one_for_each = usize::try_from(allowed.count()) == Ok(threads) && threads > 1;
    processors.nth(thread).filter(|_| one_for_each)
}

fn end_sessions(opened: &mut Opened, scratch: &mut Scratch) {
    for mut connection in opened.connections.drain(..).flatten() {
        connection.terminate(scratch);
    }
}

fn poll_failed(shared: &Shared, error: &io::Error, recorder: ThreadRecorder) -> ThreadRecorder {
    let failure = EngineError::System(out_of_resources(error), "starting the run".to_owned());
    shared.barrier.arrive(Readiness::Failed(failure));
    recorder
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_has_a_processor_of_its_own_where_there_are_as_many() {
        let mut allowed = CpuSet::new();
        for processor in [1, 4, 6] {
            allowed.set(processor);
        }
        let of = |threads| -> Vec<_> {
            let each = 0..threads;
            each.map(|thread| processor_of(thread, threads, &allowed))
                .collect()
        };
        assert_eq!(of(3), [Some(1), Some(4), Some(6)]);
        assert_eq!(of(2), [None; 2], "fewer threads");
        assert_eq!(of(4), [None; 4], "more threads");
        let mut single = CpuSet::new();
        single.set(2);
        assert_eq!(processor_of(0, 1, &single), None, "nothing to choose");
    }
}

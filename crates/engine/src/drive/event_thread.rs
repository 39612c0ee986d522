//! One thread of the executor for wire drivers: its clients connect, pass the gate, and are driven by one
//! event loop.

use std::io;

use mio::Poll;

use super::connecting::Connector;
use super::event_loop::EventLoop;
use super::gate::{Arrival, Verdict};
use super::shared::Shared;
use crate::EngineError;
use crate::account::{End, Ledger, State};
use crate::session::{Scratch, WireSite, out_of_resources};

/// Sessions on their way in, over all threads: a server forks or authenticates for each, and its queue of
/// clients is short.
const PENDING_SESSIONS: usize = 64;

/// Works for the clients of the `thread`-th of `threads` threads: every `threads`-th, beginning there.
pub fn run(shared: &Shared, site: &WireSite, thread: usize, threads: usize) -> Ledger {
    let _presence = shared.presence();
    let mut ledger = shared.ledger(thread);
    let first = u32::try_from(thread).expect("there are fewer threads than clients");
    let numbers: Vec<u32> = (first..shared.plan.clients).step_by(threads).collect();
    let mut poll = match Poll::new() {
        Ok(poll) => poll,
        Err(error) => return not_even_begun(shared, &error, ledger),
    };
    let mut scratch = Scratch::new();
    let mut connector = Connector {
        site,
        plan: &shared.plan,
        gate: &shared.gate,
        pending_limit: (PENDING_SESSIONS / threads).max(1),
        poll: &mut poll,
        scratch: &mut scratch,
    };
    let mut opened = connector.open(numbers.len());
    let at_ns = shared.clock.now_ns();
    for (_, error) in &opened.refusals {
        ledger.errors.count(error, None, at_ns);
    }
    match shared.gate.arrive(opened.arrival) {
        Verdict::Go(schedule) => {
            ledger.begin(schedule.measure_ns);
            let open = opened.conversations.into_iter().map(|conversation| {
                conversation.expect("the gate opens only where every client has a session")
            });
            let lines = numbers.into_iter().zip(open);
            EventLoop::new(shared, schedule, lines, (poll, scratch, ledger)).run()
        }
        Verdict::Cancelled => {
            for conversation in opened.conversations.iter_mut().flatten() {
                conversation.goodbye(&mut scratch);
            }
            let is_refused = |place| opened.refusals.iter().any(|(refused, _)| *refused == place);
            ledger
                .ends
                .extend(numbers.into_iter().enumerate().map(|(place, client)| End {
                    client,
                    at_ns: 0,
                    passes: 0,
                    transactions: 0,
                    state: if is_refused(place) {
                        State::Refused
                    } else {
                        State::Interrupted
                    },
                }));
            ledger
        }
    }
}

fn not_even_begun(shared: &Shared, error: &io::Error, ledger: Ledger) -> Ledger {
    let failure = EngineError::System(out_of_resources(error), "starting the run".to_owned());
    shared.gate.arrive(Arrival::Failed(failure));
    ledger
}

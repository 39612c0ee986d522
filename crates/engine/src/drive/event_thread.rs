//! One thread of the executor for wire drivers: its clients connect, pass the gate, and are driven by one
//! event loop.

use std::io;

use mio::Poll;

use super::arrivals::{Arrivals, Share};
use super::connecting::{Connector, Opened};
use super::event_loop::EventLoop;
use super::gate::{Arrival, Verdict};
use super::shared::Shared;
use crate::EngineError;
use crate::account::{End, Ledger, State, Worktime};
use crate::session::{Scratch, WireSite, out_of_resources};

/// Sessions on their way in, over all threads: a server forks or authenticates for each, and its queue of
/// clients is short.
const PENDING_SESSIONS: usize = 64;

/// Works for the clients of the `thread`-th of `threads` threads: every `threads`-th, beginning there.
/// Gives what is left of their share of the schedule as well.
pub fn run(
    shared: &Shared,
    site: &WireSite,
    thread: usize,
    threads: usize,
) -> (Ledger, Option<Arrivals>) {
    let _presence = shared.presence();
    let mut ledger = shared.ledger(thread);
    let first = u32::try_from(thread).expect("there are fewer threads than clients");
    let numbers: Vec<u32> = (first..shared.plan.clients).step_by(threads).collect();
    let mut poll = match Poll::new() {
        Ok(poll) => poll,
        Err(error) => return (not_even_begun(shared, &error, ledger), None),
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
    // Where each transaction opens its own session, one tells beforehand whether that can be.
    let sessions = match shared.plan.connects_each {
        true => 1,
        false => numbers.len(),
    };
    let mut opened = connector.open(sessions);
    let at_ns = shared.clock.now_ns();
    for (_, error) in &opened.refusals {
        ledger.errors.count(error, None, at_ns);
    }
    match shared.gate.arrive(std::mem::take(&mut opened.arrival)) {
        Verdict::Go(schedule) => {
            ledger.begin(schedule.measure_ns);
            if shared.plan.connects_each {
                say_goodbye(&mut opened, &mut scratch);
            }
            let sessions = opened.conversations.into_iter().map(|conversation| {
                Some(conversation.expect("the gate opens only where every client has a session"))
            });
            let sessions = sessions.chain(std::iter::repeat_with(|| None));
            let share = Share {
                thread: thread as u64,
                threads: threads as u64,
            };
            EventLoop::new(
                (shared, site),
                schedule,
                share,
                numbers.into_iter().zip(sessions),
                (poll, scratch, ledger),
            )
            .run()
        }
        Verdict::Cancelled => {
            say_goodbye(&mut opened, &mut scratch);
            let is_refused = |place| opened.refusals.iter().any(|(refused, _)| *refused == place);
            ledger
                .ends
                .extend(numbers.into_iter().enumerate().map(|(place, client)| End {
                    client,
                    at_ns: 0,
                    passes: 0,
                    transactions: 0,
                    worktime: Worktime::default(),
                    state: if is_refused(place) {
                        State::Refused
                    } else {
                        State::Interrupted
                    },
                }));
            (ledger, None)
        }
    }
}

fn say_goodbye(opened: &mut Opened, scratch: &mut Scratch) {
    for mut conversation in opened.conversations.drain(..).flatten() {
        conversation.goodbye(scratch);
    }
}

fn not_even_begun(shared: &Shared, error: &io::Error, ledger: Ledger) -> Ledger {
    let failure = EngineError::System(out_of_resources(error), "starting the run".to_owned());
    shared.gate.arrive(Arrival::Failed(failure));
    ledger
}

//! Takes requests to cancel statements over their limit; sends them in threads of its own, several at once: the
//! clients of an event loop do not wait for a server that does not answer.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, Scope};
use std::time::Instant;

use assay_drivers::Cancel;

use crate::drive::event_loop::cancel_statements::{CANCEL_TIMEOUT, request_cancels};
use crate::drive::pace::open_loop::ToWake;
use crate::drive::shared::Shared;
use crate::session::WireDeployment;

/// How many requests are sent at once.
const THREADS: usize = 8;

/// What cancels the current statement of a session.
pub struct CancelRequest {
    pub endpoint: usize,
    /// The index of the endpoint's address that the session is connected to.
    pub address: usize,
    pub cancel: Cancel,
}

/// The threads of one event loop that cancel.
pub struct Canceller {
    requests: Sender<Asked>,
    state: Arc<State>,
    last_number: u64,
}

struct Asked {
    /// The place of the client in its event loop.
    client: usize,
    number: u64,
    deadline: Instant,
    request: CancelRequest,
}

#[derive(Default)]
struct State {
    /// Clients with the numbers of their requests, as far as these have ended.
    ended: Mutex<Vec<(usize, u64)>>,
    is_over: AtomicBool,
}

impl Canceller {
    /// Starts the threads for the event loop of `thread`, which they wake. They end when this is dropped.
    pub fn start<'scope, 'a: 'scope>(
        scope: &'scope Scope<'scope, '_>,
        (shared, deployments): (&'a Shared, &'a [WireDeployment]),
        thread: usize,
    ) -> Self {
        let (requests, received) = channel();
        let received = Arc::new(Mutex::new(received));
        let state = Arc::new(State::default());
        for _ in 0..THREADS {
            let (received, state) = (Arc::clone(&received), Arc::clone(&state));
            let work = move || {
                while let Some(asked) = next(&received) {
                    if !state.is_over.load(Ordering::Relaxed) {
                        let Asked {
                            request, deadline, ..
                        } = asked;
                        let cancels = [(request.address, request.cancel)];
                        request_cancels(&deployments[request.endpoint], &cancels, deadline);
                    }
                    let mut ended = state.ended.lock().unwrap_or_else(PoisonError::into_inner);
                    ended.push((asked.client, asked.number));
                    drop(ended);
                    shared.wake(ToWake::One(thread));
                }
            };
            // With fewer threads, or none, statements are cancelled later: their sessions are lost in the end.
            let _ = Builder::new()
                .name("cancel".to_owned())
                .spawn_scoped(scope, work);
        }
        Self {
            requests,
            state,
            last_number: 0,
        }
    }

    /// Has a statement of the client at this place cancelled; returns the number of the request.
    pub fn ask(&mut self, client: usize, request: CancelRequest) -> u64 {
        self.last_number += 1;
        let asked = Asked {
            client,
            number: self.last_number,
            deadline: Instant::now() + CANCEL_TIMEOUT,
            request,
        };
        // No thread is there to take it.
        let _ = self.requests.send(asked);
        self.last_number
    }

    /// The clients whose requests have been sent, or cannot be sent, with the numbers of the requests.
    pub fn take_ended(&self) -> Vec<(usize, u64)> {
        let mut ended = (self.state.ended.lock()).unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut ended)
    }
}

impl Drop for Canceller {
    fn drop(&mut self) {
        self.state.is_over.store(true, Ordering::Relaxed);
    }
}

fn next(received: &Mutex<Receiver<Asked>>) -> Option<Asked> {
    let received = received.lock().unwrap_or_else(PoisonError::into_inner);
    received.recv().ok()
}

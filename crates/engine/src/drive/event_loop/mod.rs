//! Takes the open sessions of many clients; drives all of them from one thread, by readiness.
//!
//! A round trip costs one send and one receive. Sends are deferred until the answers that have arrived are
//! processed: each send wakes a server process, which may take this thread's processor. Nothing polls for
//! writability before a send; readiness is reported once for each change (edge-triggered), and a read that
//! does not fill its buffer has emptied the socket. The clock is read once for each answer: the end of one
//! transaction is the start of the next.
//!
//! Pauses and arrivals end by a kernel timer ([`Timer`]), and are also checked after each event: with a
//! thousand clients, one round of events takes longer than they may wait.

pub(crate) mod cancel_statements;
pub(crate) mod client_connection;
pub(crate) mod connector;
pub(crate) mod context;
pub(crate) mod event_thread;
pub(crate) mod helper_threads;
pub(crate) mod session_opener;

use std::collections::{HashMap, VecDeque};
use std::io;
use std::sync::atomic::Ordering;
use std::time::Duration;

use mio::{Events, Poll};

use crate::account::ThreadRecorder;
use crate::clock::{Timer, TimerQueue};
use crate::drive::client::Client;
use crate::drive::event_loop::cancel_statements::{CANCEL_TIMEOUT, cancel};
use crate::drive::event_loop::client_connection::{ClientConnection, ClientStatus};
use crate::drive::event_loop::connector::SessionOf;
use crate::drive::event_loop::context::{LoopContext, SendBuffer, TIMER, WAKER};
use crate::drive::event_loop::helper_threads::HelperThreads;
use crate::drive::pace::schedule::{Drain, Draining, Schedule};
use crate::drive::shared::Shared;
use crate::session::{Connection, Scratch, WireDeployment, out_of_resources};

/// How often deadlines, the end of the run and an interrupt are checked.
const CHECK_EVERY_NS: u64 = 50_000_000;

/// [`CANCEL_TIMEOUT`] after an interrupt: the user waits for the prompt.
const INTERRUPTED_CANCEL_TIMEOUT: Duration = Duration::from_millis(500);

/// Sends at the latest when this many clients have a request ready.
const SEND_AT: usize = 32;

/// All clients of one thread.
pub struct EventLoop<'a> {
    schedule: Schedule,
    /// By token; `None` once the client has ended.
    clients: Vec<Option<ClientConnection<'a>>>,
    open: usize,
    context: LoopContext<'a>,
    drain: Drain,
    next_check_ns: u64,
}

impl<'a> EventLoop<'a> {
    /// `sessions` must be registered with `poll`, each with its place in the list as its token: the first session of
    /// each client, in the order of `clients`, then those of their other routes. Without any, each transaction opens
    /// its own.
    pub fn new(
        (shared, deployments): (&'a Shared, &'a [WireDeployment]),
        schedule: Schedule,
        thread: usize,
        (clients, sessions): (&[u32], impl Iterator<Item = (SessionOf, Connection)>),
        (poll, scratch, recorder): (Poll, Scratch, ThreadRecorder),
    ) -> Self {
        let mut places = HashMap::with_capacity(clients.len());
        let mut connections: Vec<_> = (0..)
            .zip(clients)
            .map(|(place, &client)| {
                places.insert(client, place);
                let client = Client::new(shared, schedule, client);
                ClientConnection::new(place, client)
            })
            .collect();
        let mut places_of_others = Vec::new();
        for (token, (SessionOf { client, route }, connection)) in sessions.enumerate() {
            let place: usize = places[&client];
            if route > 0 {
                places_of_others.push(place);
            }
            connections[place].begins_with(route, token, connection);
        }
        let clients: Vec<_> = connections.into_iter().map(Some).collect();
        let context = LoopContext {
            shared,
            deployments,
            poll,
            scratch,
            timers: TimerQueue::default(),
            recorder,
            open_loops: (0..shared.plan.groups.len())
                .map(|group| shared.open_loop(group, schedule))
                .collect(),
            thread,
            idle: shared.plan.groups.iter().map(|_| VecDeque::new()).collect(),
            deadlines: vec![u64::MAX; clients.len()],
            places_of_others,
            send_buffer: SendBuffer::default(),
            values: Vec::new(),
            helpers: None,
            unanswered: Vec::new(),
            now_ns: 0,
        };
        Self {
            schedule,
            open: clients.len(),
            clients,
            context,
            drain: Drain::default(),
            next_check_ns: 0,
        }
    }

    /// Drives all clients until they end.
    pub fn run(self) -> ThreadRecorder {
        let LoopContext {
            shared,
            deployments,
            thread,
            ..
        } = self.context;
        if shared.plan.statement_limit_ns.is_none() && !shared.plan.program.runs_commands() {
            return self.drive_all();
        }
        std::thread::scope(|scope| {
            let mut with_helpers: EventLoop<'_> = self;
            let helpers = HelperThreads::new(scope, (shared, deployments), thread);
            with_helpers.context.helpers = Some(helpers);
            with_helpers.drive_all()
        })
    }

    fn drive_all(mut self) -> ThreadRecorder {
        let clock = self.context.shared.clock;
        let timer = Timer::new(self.context.poll.registry(), TIMER, clock);
        match timer.and_then(|mut timer| self.turn_until_all_ended(&mut timer)) {
            Ok(()) => {}
            Err(error) => self.all_lost(&error),
        }
        for open_loop in self.context.open_loops.iter().flatten() {
            open_loop.leave(self.context.thread);
        }
        self.cancel_unanswered();
        self.context.recorder
    }

    /// Cancels the statements that the server still runs for abandoned clients.
    fn cancel_unanswered(&mut self) {
        let sessions = std::mem::take(&mut self.context.unanswered);
        if sessions.is_empty() {
            return;
        }
        let timeout = match self.context.shared.signals.is_interrupted() {
            true => INTERRUPTED_CANCEL_TIMEOUT,
            false => CANCEL_TIMEOUT,
        };
        self.context.recorder.counts.cancelled += cancel(
            self.context.deployments,
            sessions,
            &mut self.context.scratch,
            timeout,
        );
    }

    fn begin(&mut self) -> io::Result<()> {
        if self.context.shared.plan.has_open_loop() || self.context.helpers.is_some() {
            let LoopContext { shared, thread, .. } = self.context;
            shared.can_be_woken(thread, self.context.poll.registry(), WAKER)?;
        }
        for place in 0..self.clients.len() {
            let now_ns = self.context.read_clock();
            self.with(place, |client, context| client.go_on(now_ns, context));
            self.send(SEND_AT);
        }
        self.send(1);
        Ok(())
    }

    fn turn_until_all_ended(&mut self, timer: &mut Timer) -> io::Result<()> {
        self.begin()?;
        let mut events = Events::with_capacity(self.clients.len().clamp(16, 1024));
        while self.open > 0 {
            let timeout = self.poll_timeout(timer);
            match self.context.poll.poll(&mut events, Some(timeout)) {
                Err(error) if error.kind() != io::ErrorKind::Interrupted => return Err(error),
                _ => {}
            }
            for event in &events {
                match event.token() {
                    TIMER => {
                        timer.expired();
                        continue;
                    }
                    WAKER => {
                        self.begin_handed_over();
                        self.go_on_after_helpers();
                        continue;
                    }
                    _ => {}
                }
                let place = self.context.place_of(event.token());
                self.with(place, |client, context| client.ready(event, context));
                self.send(SEND_AT);
                if self.context.due_ns() <= self.context.now_ns {
                    self.wake();
                }
            }
            // Once: to send reads the clock, too.
            match self.context.send_buffer.is_empty() {
                true => _ = self.context.read_clock(),
                false => self.send(1),
            }
            self.wake();
            // With a thousand clients there always is an event: this depends on the clock, not on an idle poll.
            if self.context.now_ns >= self.next_check_ns {
                self.check_deadlines();
            }
            self.send(1);
            // The server works meanwhile.
            self.context.recorder.flush_if_full();
        }
        Ok(())
    }

    /// Sends the waiting requests, if at least this many clients have one.
    #[inline]
    fn send(&mut self, at_least: usize) {
        if self.context.send_buffer.len() < at_least {
            return;
        }
        // From here on the server has the requests: what this thread did before is in no statement's time.
        let now_ns = self.context.read_clock();
        let mut send_buffer = std::mem::take(&mut self.context.send_buffer);
        for (request, bytes) in send_buffer.requests() {
            self.with(request.place, |client, context| {
                client.send((request.start, bytes), now_ns, context)
            });
        }
        // A client that reconnected at once sends with the next batch.
        if self.context.send_buffer.is_empty() {
            send_buffer.clear();
            self.context.send_buffer = send_buffer;
        }
    }

    /// Runs `act` on a client; removes the client if it has ended.
    #[inline]
    fn with(
        &mut self,
        place: usize,
        act: impl FnOnce(&mut ClientConnection<'a>, &mut LoopContext<'a>) -> ClientStatus,
    ) {
        let Some(Some(client)) = self.clients.get_mut(place) else {
            return;
        };
        if act(client, &mut self.context) == ClientStatus::Ended {
            client.terminate(&mut self.context);
            self.clients[place] = None;
            self.open -= 1;
            let running = &self.context.shared.clients_running;
            running.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// Ends the pauses that are over, and starts the arrivals that are due while a client is free; at most
    /// [`SEND_AT`] of each. Those behind them wait until these are sent, and the answers of others are read, so that
    /// after a stall no transaction is charged with the work for a thousand others.
    fn wake(&mut self) {
        // The instant before these clients run: one that only yields must not be woken again at once.
        let now_ns = self.context.now_ns;
        for _ in 0..SEND_AT {
            let Some((at_ns, place)) = self.context.timers.due(now_ns) else {
                break;
            };
            self.with(place, |client, context| client.woken(at_ns, context));
            self.send(SEND_AT);
        }
        for group in 0..self.context.open_loops.len() {
            self.begin_arrivals(group);
        }
    }

    /// Starts the arrivals that are due, or hands them over to a thread with a free client.
    fn begin_arrivals(&mut self, group: usize) {
        let mut begun = 0;
        while begun < SEND_AT && self.context.arrival_ns(group) <= self.context.now_ns {
            let Some(place) = self.context.next_idle(group) else {
                if self.context.hand_over(group) {
                    continue;
                }
                return;
            };
            self.with(place, |client, context| {
                // Each starts at its own instant, not at that of the first.
                let now_ns = context.read_clock();
                client.go_on(now_ns, context)
            });
            self.send(SEND_AT);
            begun += 1;
        }
    }

    /// Continues the clients for which other threads have done what they were to do.
    fn go_on_after_helpers(&mut self) {
        let Some(helpers) = &mut self.context.helpers else {
            return;
        };
        for (place, ended) in helpers.take_ended() {
            self.with(place, |client, context| client.task_ended(ended, context));
            self.send(SEND_AT);
        }
    }

    /// Starts the arrivals that other threads had no free client for.
    fn begin_handed_over(&mut self) {
        for group in 0..self.context.open_loops.len() {
            let Some(open_loop) = self.context.open_loops[group] else {
                continue;
            };
            while let Some(arrival) = open_loop.take_handed_over(self.context.thread) {
                let Some(place) = self.context.idle[group].pop_front() else {
                    open_loop.give_back(self.context.thread, arrival);
                    break;
                };
                self.with(place, |client, context| {
                    let now_ns = context.read_clock();
                    client.begin(arrival, now_ns, context)
                });
                self.send(SEND_AT);
            }
        }
    }

    /// Checks what no event reports: the end of the run and deadlines.
    fn check_deadlines(&mut self) {
        let now_ns = self.context.now_ns;
        let Schedule { stop_ns, .. } = self.schedule;
        self.next_check_ns = match now_ns + CHECK_EVERY_NS {
            next_ns if now_ns < stop_ns => next_ns.min(stop_ns),
            next_ns => next_ns,
        };
        let signals = &self.context.shared.signals;
        let draining = self.drain.check(now_ns, &self.schedule, signals);
        if draining != Draining::No {
            for place in 0..self.clients.len() {
                self.with(place, |client, context| client.drain(draining, context));
            }
        }
        for place in 0..self.clients.len() {
            if self.context.deadlines[place] <= now_ns {
                self.with(place, ClientConnection::deadline_passed);
            }
        }
    }

    #[cold]
    fn all_lost(&mut self, error: &io::Error) {
        let error = out_of_resources(error);
        for place in 0..self.clients.len() {
            self.with(place, |client, context| {
                client.event_loop_failed(&error, context);
                ClientStatus::Ended
            });
        }
    }

    /// How long to wait for an event. The timer has a resolution of microseconds, the timeout of a poll one
    /// of milliseconds.
    fn poll_timeout(&mut self, timer: &mut Timer) -> Duration {
        let due_ns = self.context.due_ns();
        if due_ns <= self.context.now_ns || !self.context.send_buffer.is_empty() {
            return Duration::ZERO;
        }
        if due_ns < self.next_check_ns {
            timer.set(due_ns);
        }
        Duration::from_nanos(self.next_check_ns.saturating_sub(self.context.now_ns))
    }
}

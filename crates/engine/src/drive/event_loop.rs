//! Takes open sessions of many clients; drives all of them from one thread, by readiness.
//!
//! A round trip costs one send and one receive. A client sends as soon as it has something to send, without
//! asking whether the socket is ready; readiness is announced once for each change (edge-triggered), and a
//! read that did not fill its buffer has emptied the socket. The clock is read once for each answer: the
//! end of one transaction is the start of the next.

use std::io;
use std::sync::atomic::Ordering;
use std::time::Duration;

use mio::{Events, Poll};

use super::client::Client;
use super::line::{Line, Room, Status};
use super::schedule::{Drain, Schedule};
use super::shared::Shared;
use super::timers::Timers;
use crate::account::Ledger;
use crate::session::{Conversation, Scratch, out_of_resources};

/// How often deadlines, the end of the run and an interrupt are looked at.
const LOOK_UP_EVERY_NS: u64 = 50_000_000;

/// All clients of one thread.
pub struct EventLoop<'a> {
    shared: &'a Shared,
    schedule: Schedule,
    /// By token; none once the client's work has ended.
    lines: Vec<Option<Line<'a>>>,
    open: usize,
    timers: Timers,
    poll: Poll,
    scratch: Scratch,
    ledger: Ledger,
}

impl<'a> EventLoop<'a> {
    /// `conversations` must be registered with `poll`, each with its place in the list as its token.
    pub fn new(
        shared: &'a Shared,
        schedule: Schedule,
        conversations: impl Iterator<Item = (u32, Conversation)>,
        (poll, scratch, ledger): (Poll, Scratch, Ledger),
    ) -> Self {
        let client = |number| Client::new(&shared.plan, &shared.signals, schedule, number);
        let lines: Vec<_> = (0..)
            .zip(conversations)
            .map(|(place, (number, conversation))| {
                Some(Line::new(place, client(number), conversation))
            })
            .collect();
        let timers = Timers::default();
        Self {
            shared,
            schedule,
            open: lines.len(),
            lines,
            timers,
            poll,
            scratch,
            ledger,
        }
    }

    /// Drives all clients to their ends.
    pub fn run(mut self) -> Ledger {
        let clock = self.shared.clock;
        for place in 0..self.lines.len() {
            self.with(place, |line, room| line.go_on(clock.now_ns(), room));
        }
        let mut events = Events::with_capacity(self.lines.len().clamp(16, 1024));
        let mut drain = Drain::default();
        let mut look_up_ns = 0;
        while self.open > 0 {
            if let Err(error) = self.poll.poll(&mut events, Some(self.patience()))
                && error.kind() != io::ErrorKind::Interrupted
            {
                self.all_lost(&error);
                break;
            }
            for event in &events {
                let place = event.token().0;
                self.with(place, |line, room| line.ready(event, room));
            }
            // With a thousand clients there always is an event: the clock, and not silence, must tell.
            let now_ns = clock.now_ns();
            self.wake(now_ns);
            if now_ns >= look_up_ns {
                look_up_ns = now_ns + LOOK_UP_EVERY_NS;
                self.look_up(now_ns, &mut drain);
            }
        }
        self.ledger
    }

    /// Lets `act` do something with a client; ends the client where it says so.
    #[inline]
    fn with(&mut self, place: usize, act: impl FnOnce(&mut Line<'a>, &mut Room<'_>) -> Status) {
        let Some(line) = &mut self.lines[place] else {
            return;
        };
        let mut room = Room {
            shared: self.shared,
            poll: &self.poll,
            scratch: &mut self.scratch,
            timers: &mut self.timers,
            ledger: &mut self.ledger,
        };
        if act(line, &mut room) == Status::Ended {
            line.goodbye(&mut self.scratch);
            self.lines[place] = None;
            self.open -= 1;
            self.shared.clients_running.fetch_sub(1, Ordering::Relaxed);
        }
    }

    fn wake(&mut self, now_ns: u64) {
        while let Some((at_ns, place)) = self.timers.due(now_ns) {
            self.with(place, |line, room| line.woken(at_ns, now_ns, room));
        }
    }

    /// Looks after what no event announces.
    fn look_up(&mut self, now_ns: u64, drain: &mut Drain) {
        let draining = drain.look(now_ns, &self.schedule, &self.shared.signals);
        for place in 0..self.lines.len() {
            self.with(place, |line, room| line.look_up(now_ns, draining, room));
        }
    }

    fn all_lost(&mut self, error: &io::Error) {
        let error = out_of_resources(error);
        let now_ns = self.shared.clock.now_ns();
        for place in 0..self.lines.len() {
            self.with(place, |line, room| line.lost(now_ns, &error, room));
        }
    }

    fn patience(&self) -> Duration {
        let Some(next_ns) = self.timers.next_ns() else {
            return Duration::from_nanos(LOOK_UP_EVERY_NS);
        };
        let until_ns = next_ns.saturating_sub(self.shared.clock.now_ns());
        Duration::from_nanos(until_ns.min(LOOK_UP_EVERY_NS))
    }
}

//! Takes open sessions of many clients; drives all of them from one thread, by readiness.
//!
//! A round trip costs one send and one receive, and the sends of several clients one system call together
//! ([`Together`]). Nobody asks whether a socket is ready before a send; readiness is announced once for each change (edge-triggered), and a
//! read that did not fill its buffer has emptied the socket. The clock is read once for each answer: the
//! end of one transaction is the start of the next.
//!
//! Pauses and arrivals come by a timer of the kernel's own ([`Alarm`]), and are looked at after each event
//! as well: with a thousand clients one round of events takes longer than they may wait.

use std::collections::VecDeque;
use std::io;
use std::sync::atomic::Ordering;
use std::time::Duration;

use mio::{Events, Poll};

use super::arrivals::{Arrivals, Share};
use super::cancelling::cancel;
use super::client::Client;
use super::line::{Line, Status};
use super::room::{ALARM, Room};
use super::schedule::{Drain, Draining, Schedule};
use super::shared::Shared;
use super::timers::Timers;
use crate::account::Ledger;
use crate::alarm::Alarm;
use crate::session::{Conversation, Scratch, WireSite, out_of_resources};
use crate::transport::Together;

/// How often deadlines, the end of the run and an interrupt are looked at.
const LOOK_UP_EVERY_NS: u64 = 50_000_000;

/// How long the server has to cancel what was given up.
const CANCEL_PATIENCE: Duration = Duration::from_secs(5);
/// The same after an interrupt: the user waits for the prompt.
const INTERRUPTED_CANCEL_PATIENCE: Duration = Duration::from_millis(500);

/// So many clients are not made to wait for the sends of others.
const SEND_AT: usize = 32;

/// All clients of one thread.
pub struct EventLoop<'a> {
    schedule: Schedule,
    /// By token; none once the client's work has ended.
    lines: Vec<Option<Line<'a>>>,
    open: usize,
    room: Room<'a>,
    together: Together,
    drain: Drain,
    look_up_ns: u64,
}

impl<'a> EventLoop<'a> {
    /// `conversations` must be registered with `poll`, each with its place in the list as its token.
    pub fn new(
        (shared, site): (&'a Shared, &'a WireSite),
        schedule: Schedule,
        share: Share,
        conversations: impl Iterator<Item = (u32, Option<Conversation>)>,
        (poll, scratch, ledger): (Poll, Scratch, Ledger),
    ) -> Self {
        let lines: Vec<_> = (0..)
            .zip(conversations)
            .map(|(place, (number, conversation))| {
                let client = Client::new(shared, schedule, number);
                Some(Line::new(place, client, conversation))
            })
            .collect();
        let room = Room {
            shared,
            site,
            poll,
            scratch,
            timers: Timers::default(),
            ledger,
            arrivals: Arrivals::new(&shared.plan, schedule, share),
            idle: VecDeque::new(),
            deadlines: vec![u64::MAX; lines.len()],
            to_send: Vec::new(),
            unanswered: Vec::new(),
            now_ns: 0,
        };
        Self {
            schedule,
            open: lines.len(),
            lines,
            room,
            together: Together::new(),
            drain: Drain::default(),
            look_up_ns: 0,
        }
    }

    /// Drives all clients to their ends; gives what is left of the schedule as well.
    pub fn run(mut self) -> (Ledger, Option<Arrivals>) {
        let clock = self.room.shared.clock;
        let alarm = Alarm::new(self.room.poll.registry(), ALARM, clock);
        match alarm.and_then(|mut alarm| self.turn_until_all_ended(&mut alarm)) {
            Ok(()) => {}
            Err(error) => self.all_lost(&error),
        }
        self.cancel_unanswered();
        (self.room.ledger, self.room.arrivals)
    }

    /// Has the server break off what it still does for clients that were given up.
    fn cancel_unanswered(&mut self) {
        let sessions = std::mem::take(&mut self.room.unanswered);
        if sessions.is_empty() {
            return;
        }
        let patience = match self.room.shared.signals.is_interrupted() {
            true => INTERRUPTED_CANCEL_PATIENCE,
            false => CANCEL_PATIENCE,
        };
        self.room.ledger.cancelled +=
            cancel(self.room.site, sessions, &mut self.room.scratch, patience);
    }

    fn turn_until_all_ended(&mut self, alarm: &mut Alarm) -> io::Result<()> {
        for place in 0..self.lines.len() {
            let now_ns = self.room.read_clock();
            self.with(place, |line, room| line.go_on(now_ns, room));
            self.send(SEND_AT);
        }
        self.send(1);
        let mut events = Events::with_capacity(self.lines.len().clamp(16, 1024));
        while self.open > 0 {
            let patience = self.patience(alarm);
            match self.room.poll.poll(&mut events, Some(patience)) {
                Err(error) if error.kind() != io::ErrorKind::Interrupted => return Err(error),
                _ => {}
            }
            for event in &events {
                if event.token() == ALARM {
                    alarm.rang();
                    continue;
                }
                self.with(event.token().0, |line, room| line.ready(event, room));
                self.send(SEND_AT);
                if self.room.due_ns() <= self.room.now_ns {
                    self.wake();
                }
            }
            self.room.read_clock();
            self.wake();
            // With a thousand clients there always is an event: the clock, and not silence, must tell.
            if self.room.now_ns >= self.look_up_ns {
                self.look_up();
            }
            self.send(1);
        }
        Ok(())
    }

    /// Sends what clients have to send, where at least so many have.
    #[inline]
    fn send(&mut self, at_least: usize) {
        if self.room.to_send.len() < at_least {
            return;
        }
        let mut places = std::mem::take(&mut self.room.to_send);
        places.retain(|&place| self.lines[place].as_mut().is_some_and(Line::sends));
        let lines = &self.lines;
        let parcel = |&place: &usize| {
            let line = lines[place].as_ref();
            line.and_then(Line::parcel).expect("it has just said so")
        };
        self.together.send(places.iter().map(parcel));
        for (number, &place) in places.iter().enumerate() {
            let result = self.together.take_result(number);
            self.with(place, |line, room| line.has_sent(result, room));
        }
        // What a lost session's client has to send next will go with the next ones.
        places.clear();
        places.append(&mut self.room.to_send);
        self.room.to_send = places;
    }

    /// Lets `act` do something with a client; ends the client where it says so.
    #[inline]
    fn with(&mut self, place: usize, act: impl FnOnce(&mut Line<'a>, &mut Room<'a>) -> Status) {
        let Some(Some(line)) = self.lines.get_mut(place) else {
            return;
        };
        if act(line, &mut self.room) == Status::Ended {
            line.goodbye(&mut self.room);
            self.lines[place] = None;
            self.open -= 1;
            let running = &self.room.shared.clients_running;
            running.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// Ends the pauses that are over, and begins the arrivals that are due as far as anybody is free.
    fn wake(&mut self) {
        // As it is now: who wants no more than to let others go first must not come up again at once.
        let now_ns = self.room.now_ns;
        while let Some((at_ns, place)) = self.room.timers.due(now_ns) {
            self.with(place, |line, room| line.woken(at_ns, room));
        }
        while self.room.arrival_ns() <= self.room.now_ns {
            let Some(place) = self.room.idle.pop_front() else {
                return;
            };
            self.with(place, |line, room| {
                if !line.is_idle() {
                    return Status::Open;
                }
                // Each begins when it begins, and not when the first of them did.
                let now_ns = room.read_clock();
                line.go_on(now_ns, room)
            });
        }
    }

    /// Looks after what no event announces.
    fn look_up(&mut self) {
        let now_ns = self.room.now_ns;
        let Schedule { stop_ns, .. } = self.schedule;
        self.look_up_ns = match now_ns + LOOK_UP_EVERY_NS {
            next_ns if now_ns < stop_ns => next_ns.min(stop_ns),
            next_ns => next_ns,
        };
        let signals = &self.room.shared.signals;
        let draining = self.drain.look(now_ns, &self.schedule, signals);
        if draining != Draining::No {
            for place in 0..self.lines.len() {
                self.with(place, |line, room| line.drain(draining, room));
            }
        }
        for place in 0..self.lines.len() {
            if self.room.deadlines[place] <= now_ns {
                self.with(place, Line::too_late);
            }
        }
    }

    #[cold]
    fn all_lost(&mut self, error: &io::Error) {
        let error = out_of_resources(error);
        for place in 0..self.lines.len() {
            self.with(place, |line, room| {
                line.given_up(&error, room);
                Status::Ended
            });
        }
    }

    /// How long nothing is to be done unless an event says so. What must be done to the microsecond, the
    /// alarm will say; a poll's own patience ends by the millisecond.
    fn patience(&mut self, alarm: &mut Alarm) -> Duration {
        let due_ns = self.room.due_ns();
        if due_ns <= self.room.now_ns || !self.room.to_send.is_empty() {
            return Duration::ZERO;
        }
        if due_ns < self.look_up_ns {
            alarm.set(due_ns);
        }
        Duration::from_nanos(self.look_up_ns.saturating_sub(self.room.now_ns))
    }
}

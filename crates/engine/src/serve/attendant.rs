//! One thread of a server: takes visitors, and serves all of them by readiness.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;

use assay_drivers::servers::Reception;
use mio::{Events, Poll, Token, Waker};

use super::counts::Counts;
use super::hall::{Entrance, Visitor};
use super::visit::{Room, Scratch, Status, Visit};
use crate::alarm::Alarm;
use crate::clock::Clock;
use crate::drive::timers::Timers;

const VISITORS: Token = Token(usize::MAX);
const ALARM: Token = Token(usize::MAX - 1);
/// How long it sleeps at most where nothing happens.
const LONGEST_SLEEP: Duration = Duration::from_secs(1);

pub struct Attendant<'a> {
    reception: Reception,
    counts: &'a Counts,
    is_over: &'a AtomicBool,
    visitors: Receiver<Visitor>,
    poll: Poll,
    alarm: Alarm,
    timers: Timers,
    clock: Clock,
    scratch: Scratch,
    /// By token; none where a visit has ended.
    visits: Vec<Option<Box<Visit>>>,
    /// Places in that list to be used again.
    free: Vec<usize>,
    statements: u64,
}

impl<'a> Attendant<'a> {
    /// # Errors
    /// Where the operating system lacks something.
    pub fn new(
        reception: Reception,
        counts: &'a Counts,
        is_over: &'a AtomicBool,
    ) -> io::Result<(Self, Entrance)> {
        let poll = Poll::new()?;
        let waker = Waker::new(poll.registry(), VISITORS)?;
        let clock = Clock::start();
        let alarm = Alarm::new(poll.registry(), ALARM, clock)?;
        let (sender, visitors) = mpsc::channel();
        let attendant = Self {
            reception,
            counts,
            is_over,
            visitors,
            poll,
            alarm,
            timers: Timers::default(),
            clock,
            scratch: Scratch::default(),
            visits: Vec::new(),
            free: Vec::new(),
            statements: 0,
        };
        let entrance = Entrance {
            visitors: sender,
            waker,
        };
        Ok((attendant, entrance))
    }

    /// Serves until it is over.
    pub fn run(mut self) {
        let mut events = Events::with_capacity(1024);
        while !self.is_over.load(Ordering::Relaxed) {
            if let Some(next_ns) = self.timers.next_ns() {
                self.alarm.set(next_ns);
            }
            if let Err(error) = self.poll.poll(&mut events, Some(LONGEST_SLEEP))
                && error.kind() != io::ErrorKind::Interrupted
            {
                break;
            }
            for event in &events {
                match event.token() {
                    VISITORS => self.admit(),
                    ALARM => self.alarm.rang(),
                    Token(place) => self.with(place, |visit, room| visit.ready(event, room)),
                }
            }
            self.wake();
        }
        self.counts
            .statements
            .fetch_add(self.statements, Ordering::Relaxed);
    }

    /// Lets `act` do something with a visit; ends the visit where it says so.
    #[inline]
    fn with(&mut self, place: usize, act: impl FnOnce(&mut Visit, &mut Room<'_>) -> Status) {
        let Some(Some(visit)) = self.visits.get_mut(place) else {
            return;
        };
        let mut room = Room {
            place,
            registry: self.poll.registry(),
            timers: &mut self.timers,
            clock: self.clock,
            scratch: &mut self.scratch,
            statements: &mut self.statements,
        };
        if act(visit, &mut room) == Status::Ended {
            self.visits[place] = None;
            self.free.push(place);
        }
    }

    fn admit(&mut self) {
        while let Ok(visitor) = self.visitors.try_recv() {
            let place = self.free.pop().unwrap_or(self.visits.len());
            if place == self.visits.len() {
                self.visits.push(None);
            }
            self.visits[place] = Some(Box::new(Visit::new(visitor, self.reception)));
            self.with(place, Visit::begin);
        }
    }

    fn wake(&mut self) {
        if self.timers.next_ns().is_none() {
            return;
        }
        let now_ns = self.clock.now_ns();
        while let Some((at_ns, place)) = self.timers.due(now_ns) {
            self.with(place, |visit, room| visit.woken(at_ns, room));
        }
    }
}

//! One thread of a server: takes new clients, and serves all of them by readiness.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::sync::mpsc::Receiver;
use std::time::Duration;

use assay_drivers::servers::NewServer;
use mio::{Events, Poll, Token, Waker};

use crate::clock::{Clock, Timer, TimerQueue};
use crate::null_server::listener::Counts;
use crate::null_server::session::{
    Buffers, NewClient, NullSession, SessionStatus, WorkerContext, WorkerHandle,
};

const NEW_CLIENTS: Token = Token(usize::MAX);
const TIMER: Token = Token(usize::MAX - 1);
/// The longest wait without an event.
const LONGEST_SLEEP: Duration = Duration::from_secs(1);

pub struct Worker<'a> {
    new_server: NewServer,
    counts: &'a Counts,
    is_over: &'a AtomicBool,
    new_clients: Receiver<NewClient>,
    poll: Poll,
    timer: Timer,
    timers: TimerQueue,
    clock: Clock,
    scratch: Buffers,
    /// By token; `None` if the session has ended.
    sessions: Vec<Option<Box<NullSession>>>,
    /// Free indexes of that list.
    free: Vec<usize>,
    statements: u64,
}

impl<'a> Worker<'a> {
    /// # Errors
    /// If the operating system lacks resources.
    pub fn new(
        new_server: NewServer,
        counts: &'a Counts,
        is_over: &'a AtomicBool,
    ) -> io::Result<(Self, WorkerHandle)> {
        let poll = Poll::new()?;
        let waker = Waker::new(poll.registry(), NEW_CLIENTS)?;
        let clock = Clock::start();
        let timer = Timer::new(poll.registry(), TIMER, clock)?;
        let (sender, new_clients) = mpsc::channel();
        let worker = Self {
            new_server,
            counts,
            is_over,
            new_clients,
            poll,
            timer,
            timers: TimerQueue::default(),
            clock,
            scratch: Buffers::default(),
            sessions: Vec::new(),
            free: Vec::new(),
            statements: 0,
        };
        let handle = WorkerHandle { new_clients: sender, waker };
        Ok((worker, handle))
    }

    /// Serves until the server ends.
    pub fn run(mut self) {
        let mut events = Events::with_capacity(1024);
        while !self.is_over.load(Ordering::Relaxed) {
            if let Some(next_ns) = self.timers.next_ns() {
                self.timer.set(next_ns);
            }
            if let Err(error) = self.poll.poll(&mut events, Some(LONGEST_SLEEP))
                && error.kind() != io::ErrorKind::Interrupted
            {
                break;
            }
            for event in &events {
                match event.token() {
                    NEW_CLIENTS => self.admit(),
                    TIMER => self.timer.expired(),
                    Token(place) => {
                        self.with(place, |session, context| session.ready(event, context));
                    }
                }
            }
            self.wake();
        }
        self.counts.statements.fetch_add(self.statements, Ordering::Relaxed);
    }

    /// Runs `act` on a session; removes the session if it has ended.
    #[inline]
    fn with(
        &mut self,
        place: usize,
        act: impl FnOnce(&mut NullSession, &mut WorkerContext<'_>) -> SessionStatus,
    ) {
        let Some(Some(session)) = self.sessions.get_mut(place) else {
            return;
        };
        let mut context = WorkerContext {
            place,
            registry: self.poll.registry(),
            timers: &mut self.timers,
            clock: self.clock,
            scratch: &mut self.scratch,
            statements: &mut self.statements,
        };
        if act(session, &mut context) == SessionStatus::Ended {
            self.sessions[place] = None;
            self.free.push(place);
        }
    }

    fn admit(&mut self) {
        while let Ok(new_client) = self.new_clients.try_recv() {
            let place = self.free.pop().unwrap_or(self.sessions.len());
            if place == self.sessions.len() {
                self.sessions.push(None);
            }
            self.sessions[place] = Some(Box::new(NullSession::new(new_client, self.new_server)));
            self.with(place, NullSession::begin);
        }
    }

    fn wake(&mut self) {
        if self.timers.next_ns().is_none() {
            return;
        }
        let now_ns = self.clock.now_ns();
        while let Some((at_ns, place)) = self.timers.due(now_ns) {
            self.with(place, |session, context| session.woken(at_ns, context));
        }
    }
}

//! What all clients of one event loop use in turn.

use std::collections::VecDeque;

use mio::{Poll, Token};

use super::arrivals::{Arrival, Arrivals};
use super::session_opener::Opening;
use super::shared::Shared;
use crate::account::ThreadRecorder;
use crate::session::{Connection, Scratch, WireSite};
use crate::timer_queue::TimerQueue;

pub struct LoopContext<'a> {
    pub shared: &'a Shared,
    /// By endpoint.
    pub sites: &'a [WireSite],
    pub poll: Poll,
    pub scratch: Scratch,
    pub timers: TimerQueue,
    pub recorder: ThreadRecorder,
    /// By group, of this thread's share; none in a closed loop.
    pub arrivals: Vec<Option<Arrivals>>,
    /// By group, clients that wait for an arrival, the one that has waited longest first. One that has lost
    /// its session meanwhile is still among them.
    pub idle: Vec<VecDeque<usize>>,
    /// By client: until when what it waits for must have come; `u64::MAX` where it waits for nothing that
    /// takes so long.
    pub deadlines: Vec<u64>,
    /// Sessions of clients that were given up while the server owed them an answer, with their endpoints.
    pub unanswered: Vec<(usize, Connection)>,
    /// The clock, as it was read last.
    pub now_ns: u64,
}

/// What an idle client hears of the schedule.
pub enum NextArrival {
    Due(Arrival),
    Later,
    /// There will be no other.
    Over,
}

impl LoopContext<'_> {
    #[inline]
    pub fn read_clock(&mut self) -> u64 {
        self.now_ns = self.shared.clock.now_ns();
        self.now_ns
    }

    /// What a client of this group is to do now.
    pub fn take_arrival(&mut self, group: usize, now_ns: u64) -> NextArrival {
        let Some(arrivals) = &mut self.arrivals[group] else {
            return NextArrival::Over;
        };
        let group = &self.shared.plan.groups[group];
        arrivals.skip_expired(now_ns, group, &mut self.recorder);
        match arrivals.due_ns() {
            None => NextArrival::Over,
            Some(due_ns) if due_ns > now_ns => NextArrival::Later,
            Some(_) => arrivals
                .take(group, &mut self.recorder)
                .map_or(NextArrival::Over, NextArrival::Due),
        }
    }

    /// When the next timer comes up, or the next arrival that somebody can begin.
    #[must_use]
    #[inline]
    pub fn due_ns(&self) -> u64 {
        let timer_ns = self.timers.next_ns().unwrap_or(u64::MAX);
        let groups = 0..self.arrivals.len();
        let arrivals = groups.map(|group| self.arrival_ns(group));
        timer_ns.min(arrivals.min().unwrap_or(u64::MAX))
    }

    /// When the group's next arrival is due that some client can begin; `u64::MAX` where none is free. Where
    /// there will be no other, those that wait for one must hear it now.
    #[must_use]
    #[inline]
    pub fn arrival_ns(&self, group: usize) -> u64 {
        if self.idle[group].is_empty() {
            return u64::MAX;
        }
        self.arrivals[group]
            .as_ref()
            .and_then(Arrivals::due_ns)
            .unwrap_or(0)
    }

    /// What opening a session at an endpoint needs that prepares these statements.
    pub fn opening<'o>(&'o mut self, endpoint: usize, to_prepare: &'o [u32]) -> Opening<'o> {
        Opening {
            site: &self.sites[endpoint],
            plan: &self.shared.plan,
            to_prepare,
            registry: self.poll.registry(),
            scratch: &mut self.scratch,
        }
    }
}

/// The token of the loop's own timer; clients have their places.
pub const TIMER: Token = Token(usize::MAX - 1);

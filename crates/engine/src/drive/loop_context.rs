//! What all clients of one event loop use in turn.

use std::collections::VecDeque;

use mio::{Poll, Token};

use super::open_loop::{NextArrival, OpenLoop};
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
    /// By group; none in a closed loop.
    pub open_loops: Vec<Option<&'a OpenLoop>>,
    /// By group, clients that wait for an arrival, the one that has waited longest first.
    pub idle: Vec<VecDeque<usize>>,
    /// Among the threads of the run.
    pub thread: usize,
    /// By client: until when what it waits for must have come; `u64::MAX` where it waits for nothing that
    /// takes so long.
    pub deadlines: Vec<u64>,
    /// Clients that have something to send.
    pub to_send: Vec<usize>,
    /// Sessions of clients that were given up while the server owed them an answer, with their endpoints.
    pub unanswered: Vec<(usize, Connection)>,
    /// The clock, as it was read last.
    pub now_ns: u64,
}

impl LoopContext<'_> {
    #[inline]
    pub fn read_clock(&mut self) -> u64 {
        self.now_ns = self.shared.clock.now_ns();
        self.now_ns
    }

    /// What a client of this group is to do now.
    pub fn take_arrival(&mut self, group: usize, now_ns: u64) -> NextArrival {
        let Some(open_loop) = self.open_loops[group] else {
            return NextArrival::Over;
        };
        let plan = &self.shared.plan.groups[group];
        let (next, to_wake) = open_loop.take(self.thread, now_ns, plan, &mut self.recorder);
        self.shared.wake(to_wake);
        next
    }

    /// A client waits for an arrival.
    pub fn wait_for_arrival(&mut self, group: usize, place: usize) {
        self.idle[group].push_back(place);
        if let Some(open_loop) = self.open_loops[group] {
            open_loop.wait(self.thread);
        }
    }

    /// It waits no longer, without an arrival.
    pub fn wait_no_longer(&mut self, group: usize, place: usize) {
        self.idle[group].retain(|waiting| *waiting != place);
        if let Some(open_loop) = self.open_loops[group] {
            // Where it was promised to an arrival, that will find no client and be given back.
            open_loop.promise(self.thread);
        }
    }

    /// The client of this group that has waited longest, unless all are promised to arrivals.
    pub fn next_idle(&mut self, group: usize) -> Option<usize> {
        let open_loop = self.open_loops[group]?;
        if self.idle[group].is_empty() || !open_loop.promise(self.thread) {
            return None;
        }
        self.idle[group].pop_front()
    }

    /// Hands an arrival that is due over to another thread; says whether there was a free client.
    pub fn hand_over(&mut self, group: usize) -> bool {
        let Some(open_loop) = self.open_loops[group] else {
            return false;
        };
        let plan = &self.shared.plan.groups[group];
        match open_loop.hand_over(self.thread, self.now_ns, plan, &mut self.recorder) {
            Some(to_wake) => {
                self.shared.wake(to_wake);
                true
            }
            None => false,
        }
    }

    /// When the next timer comes up, or the next arrival that a free client can begin.
    #[must_use]
    #[inline]
    pub fn due_ns(&self) -> u64 {
        let timer_ns = self.timers.next_ns().unwrap_or(u64::MAX);
        let groups = 0..self.open_loops.len();
        let arrivals = groups.map(|group| self.arrival_ns(group));
        timer_ns.min(arrivals.min().unwrap_or(u64::MAX))
    }

    /// When the group's arrivals must be looked at; `u64::MAX` where no arrival can be begun anywhere.
    #[must_use]
    #[inline]
    pub fn arrival_ns(&self, group: usize) -> u64 {
        self.open_loops[group].map_or(u64::MAX, |open_loop| {
            open_loop.look_ns(self.thread, self.now_ns)
        })
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

/// The token by which other threads wake the loop.
pub const WAKER: Token = Token(usize::MAX - 2);
/// The token of the loop's own timer; clients have their places.
pub const TIMER: Token = Token(usize::MAX - 1);

//! What all clients of one event loop use in turn.

use std::collections::VecDeque;

use mio::{Poll, Token};

use super::arrivals::{Arrival, Arrivals};
use super::entrant::Door;
use super::shared::Shared;
use super::timers::Timers;
use crate::account::Ledger;
use crate::session::{Conversation, Scratch, WireSite};

pub struct Room<'a> {
    pub shared: &'a Shared,
    pub site: &'a WireSite,
    pub poll: Poll,
    pub scratch: Scratch,
    pub timers: Timers,
    pub ledger: Ledger,
    /// Of this thread's share; none in a closed loop.
    pub arrivals: Option<Arrivals>,
    /// Clients that wait for an arrival, who has waited longest first. One that has lost its session
    /// meanwhile is still among them.
    pub idle: VecDeque<usize>,
    /// By client: until when what it waits for must have come; `u64::MAX` where it waits for nothing that
    /// takes so long.
    pub deadlines: Vec<u64>,
    /// Clients that have something to send, and will with the others.
    pub to_send: Vec<usize>,
    /// Sessions of clients that were given up while the server owed them an answer.
    pub unanswered: Vec<Conversation>,
    /// The clock, as it was read last.
    pub now_ns: u64,
}

/// What an idle client hears of the schedule.
pub enum Taken {
    Due(Arrival),
    Later,
    /// There will be no other.
    Over,
}

impl Room<'_> {
    #[inline]
    pub fn read_clock(&mut self) -> u64 {
        self.now_ns = self.shared.clock.now_ns();
        self.now_ns
    }

    pub fn take_arrival(&mut self, now_ns: u64) -> Taken {
        let Some(arrivals) = &mut self.arrivals else {
            return Taken::Over;
        };
        let plan = &self.shared.plan;
        arrivals.skip_expired(now_ns, plan, &mut self.ledger);
        match arrivals.due_ns() {
            None => Taken::Over,
            Some(due_ns) if due_ns > now_ns => Taken::Later,
            Some(_) => arrivals
                .take(plan, &mut self.ledger)
                .map_or(Taken::Over, Taken::Due),
        }
    }

    /// When the next timer comes up, or the next arrival that somebody can begin.
    #[must_use]
    #[inline]
    pub fn due_ns(&self) -> u64 {
        let timer_ns = self.timers.next_ns().unwrap_or(u64::MAX);
        timer_ns.min(self.arrival_ns())
    }

    /// When the next arrival is due that somebody can begin; `u64::MAX` where nobody is free. Where there
    /// will be no other, those who wait for one must hear it now.
    #[must_use]
    #[inline]
    pub fn arrival_ns(&self) -> u64 {
        if self.idle.is_empty() {
            return u64::MAX;
        }
        self.arrivals
            .as_ref()
            .and_then(Arrivals::due_ns)
            .unwrap_or(0)
    }

    /// What opening a session needs; with `script`, one for that transaction type alone.
    pub fn door(&mut self, script: Option<u32>) -> Door<'_> {
        let plan = &self.shared.plan;
        Door {
            site: self.site,
            plan,
            to_prepare: script.map_or(&plan.to_prepare, |script| plan.to_prepare_for(script)),
            registry: self.poll.registry(),
            scratch: &mut self.scratch,
        }
    }
}

/// The token of the loop's own timer; clients have their places.
pub const ALARM: Token = Token(usize::MAX - 1);

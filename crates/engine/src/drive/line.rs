//! One client and its session in an event loop: what happens to it at each readiness, answer, pause and
//! deadline.

use std::time::Duration;

use assay_drivers::{Answer, ErrorClass, Keep, Progress, SystemError};
use mio::event::Event;
use mio::{Poll, Token};

use super::client::{Client, Next};
use super::plan::Plan;
use super::schedule::Draining;
use super::shared::Shared;
use super::timers::Timers;
use crate::account::Ledger;
use crate::session::{Conversation, Scratch, lost, out_of_resources};

/// How many transactions without any statement a client may run before the others have their turn.
const IDLE_TURNS: u32 = 64;

pub struct Line<'a> {
    /// In the thread's list of clients, and in its timers.
    place: usize,
    client: Client<'a>,
    conversation: Conversation,
    answer: Answer,
    /// When the answer that is owed must have come.
    deadline_ns: u64,
    /// When the pause it is in ends; `u64::MAX` where it is in none.
    wake_ns: u64,
}

/// Whether a client still has a session and work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    Open,
    Ended,
}

/// What all clients of a thread use in turn.
pub struct Room<'r> {
    pub shared: &'r Shared,
    pub poll: &'r Poll,
    pub scratch: &'r mut Scratch,
    pub timers: &'r mut Timers,
    pub ledger: &'r mut Ledger,
}

impl<'a> Line<'a> {
    #[must_use]
    pub fn new(place: usize, client: Client<'a>, conversation: Conversation) -> Self {
        Self {
            place,
            client,
            conversation,
            answer: Answer::new(Keep::Count),
            deadline_ns: u64::MAX,
            wake_ns: u64::MAX,
        }
    }

    /// The socket is ready for something.
    #[inline]
    pub fn ready(&mut self, event: &Event, room: &mut Room<'_>) -> Status {
        if self.conversation.has_unsent()
            && let Err(error) = self.send_rest(room)
        {
            return self.lost(room.shared.clock.now_ns(), &error, room);
        }
        let is_closed = event.is_read_closed() || event.is_error();
        // What comes for a client that pauses is read with its next answer.
        if !(event.is_readable() || is_closed) || !self.client.is_waiting() {
            return Status::Open;
        }
        let progress = self
            .conversation
            .receive(is_closed, room.scratch, &mut self.answer);
        if matches!(progress, Ok(Progress::NeedMore)) {
            return Status::Open;
        }
        let now_ns = room.shared.clock.now_ns();
        match progress {
            Ok(Progress::Ready) => {
                self.client.answered(now_ns, &mut self.answer, room.ledger);
                self.go_on(now_ns, room)
            }
            Ok(_) => {
                let error = SystemError::protocol("the answer of a statement", "a bulk load");
                self.lost(now_ns, &error, room)
            }
            Err(error) => self.lost(now_ns, &error, room),
        }
    }

    /// Lets the client go on until it waits for something.
    #[inline]
    pub fn go_on(&mut self, mut now_ns: u64, room: &mut Room<'_>) -> Status {
        let mut idle_turns = 0;
        loop {
            match self.client.next(now_ns, room.ledger) {
                Next::Request { request, keep } => {
                    self.answer.clear(keep);
                    let sent = self
                        .conversation
                        .request(&request, room.scratch, &mut self.answer);
                    match sent {
                        Ok(()) => return self.sent(now_ns, room),
                        Err(error) if error.class.ends_the_session() => {
                            return self.lost(now_ns, &error, room);
                        }
                        // The request cannot be expressed; nothing was sent.
                        Err(error) => {
                            self.answer.error = Some(error);
                            self.client.answered(now_ns, &mut self.answer, room.ledger);
                        }
                    }
                }
                Next::Pause { until_ns } => {
                    self.sleep(until_ns, room);
                    return Status::Open;
                }
                Next::Done => return Status::Ended,
                Next::Again => {}
            }
            // Usually one transaction has ended and the next one begins, at the same instant. Any
            // further turn means that nothing is waited for at all.
            idle_turns += 1;
            if idle_turns > 1 {
                now_ns = room.shared.clock.now_ns();
            }
            if idle_turns == IDLE_TURNS {
                self.sleep(now_ns, room);
                return Status::Open;
            }
        }
    }

    /// The timer that was set for `at_ns` has come up.
    pub fn woken(&mut self, at_ns: u64, now_ns: u64, room: &mut Room<'_>) -> Status {
        // A pause that was cut short has left its timer behind.
        if self.wake_ns != at_ns {
            return Status::Open;
        }
        self.wake_ns = u64::MAX;
        self.client.woken(now_ns);
        self.go_on(now_ns, room)
    }

    /// Looks after what no event announces.
    pub fn look_up(&mut self, now_ns: u64, draining: Draining, room: &mut Room<'_>) -> Status {
        if draining == Draining::TooLong {
            self.client.abandoned(now_ns, room.ledger);
            return Status::Ended;
        }
        if draining == Draining::Yes && self.client.cut_pause(now_ns, room.ledger) {
            self.wake_ns = u64::MAX;
            return self.go_on(now_ns, room);
        }
        if self.client.is_waiting() && now_ns >= self.deadline_ns {
            return self.lost(now_ns, &timed_out(&room.shared.plan), room);
        }
        Status::Open
    }

    #[cold]
    pub fn lost(&mut self, now_ns: u64, error: &SystemError, room: &mut Room<'_>) -> Status {
        self.client.lost(now_ns, error, room.ledger);
        Status::Ended
    }

    pub fn goodbye(&mut self, scratch: &mut Scratch) {
        self.conversation.goodbye(scratch);
    }

    fn sleep(&mut self, until_ns: u64, room: &mut Room<'_>) {
        self.wake_ns = until_ns;
        room.timers.set(until_ns, self.place);
    }

    #[inline]
    fn sent(&mut self, now_ns: u64, room: &mut Room<'_>) -> Status {
        if let Some(timeout_ns) = room.shared.plan.statement_timeout_ns {
            self.deadline_ns = now_ns.saturating_add(timeout_ns);
        }
        if self.conversation.has_unsent()
            && let Err(error) = self.watch(room)
        {
            return self.lost(now_ns, &error, room);
        }
        Status::Open
    }

    #[cold]
    fn send_rest(&mut self, room: &mut Room<'_>) -> Result<(), SystemError> {
        self.conversation
            .writable(room.scratch)
            .map_err(|error| lost(&error))?;
        self.watch(room)
    }

    fn watch(&mut self, room: &Room<'_>) -> Result<(), SystemError> {
        self.conversation
            .watch(room.poll.registry(), Token(self.place))
            .map_err(|error| out_of_resources(&error))
    }
}

/// The client's own deadline has passed.
pub fn timed_out(plan: &Plan) -> SystemError {
    let timeout = Duration::from_nanos(plan.statement_timeout_ns.unwrap_or(0));
    let message = format!("no answer within {timeout:?} (statement_timeout_s)");
    SystemError::new(ErrorClass::Timeout, "", message)
}

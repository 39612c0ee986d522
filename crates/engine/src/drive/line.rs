//! One client and its session in an event loop: what happens to it at each readiness, answer, pause and
//! deadline.

use std::io;
use std::time::{Duration, Instant};

use assay_drivers::{Answer, ErrorClass, Keep, Progress, SystemError};
use mio::Token;
use mio::event::Event;

use super::client::{After, Client, Next};
use super::entrant::{Entrant, Trouble};
use super::plan::Plan;
use super::room::{Room, Taken};
use super::schedule::Draining;
use crate::session::{Conversation, lost, out_of_resources};
use crate::transport::Parcel;

/// How many transactions without any statement a client may run before the others have their turn.
const IDLE_TURNS: u32 = 64;

pub struct Line<'a> {
    /// In the thread's list of clients, and in its timers.
    place: usize,
    client: Client<'a>,
    session: Session,
    answer: Answer,
    /// When the pause it is in ends; `u64::MAX` where it is in none.
    wake_ns: u64,
    /// Among those who will send together.
    is_waiting_to_send: bool,
}

#[expect(
    clippy::large_enum_variant,
    reason = "nearly all sessions are open, and the hot path should not follow one more pointer"
)]
enum Session {
    Open(Conversation),
    Opening(Box<Entrant>),
    Closed,
}

/// Whether a client still has work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    Open,
    Ended,
}

impl<'a> Line<'a> {
    /// Without a conversation the client opens one for each transaction.
    #[must_use]
    pub fn new(place: usize, mut client: Client<'a>, conversation: Option<Conversation>) -> Self {
        if let Some(conversation) = &conversation {
            client.begins_with(conversation.pipelines());
        }
        Self {
            place,
            client,
            session: conversation.map_or(Session::Closed, Session::Open),
            answer: Answer::new(Keep::Count),
            wake_ns: u64::MAX,
            is_waiting_to_send: false,
        }
    }

    /// Whether the client waits for an arrival.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.client.is_idle()
    }

    /// The socket is ready for something.
    #[inline]
    pub fn ready(&mut self, event: &Event, room: &mut Room<'_>) -> Status {
        let Session::Open(conversation) = &mut self.session else {
            return self.ready_to_open(event, room);
        };
        if conversation.has_unsent()
            && let Err(error) = send_rest(conversation, self.place, room)
        {
            return self.lost(&error, room);
        }
        let is_closed = event.is_read_closed() || event.is_error();
        if !self.client.is_waiting() {
            // What comes for a client that pauses is read with its next answer, but for a goodbye: then
            // nothing of its next transaction need be lost.
            return if is_closed {
                self.hung_up(room)
            } else {
                Status::Open
            };
        }
        if !event.is_readable() && !is_closed {
            return Status::Open;
        }
        self.receive(is_closed, room)
    }

    /// Reads what has come, and goes on where it completes an answer.
    #[inline]
    fn receive(&mut self, is_closed: bool, room: &mut Room<'_>) -> Status {
        loop {
            let Session::Open(conversation) = &mut self.session else {
                return Status::Open;
            };
            let progress = conversation.receive(is_closed, &mut room.scratch, &mut self.answer);
            let progress = match progress {
                Ok(Progress::NeedMore) => return Status::Open,
                Ok(progress) => progress,
                Err(error) => return self.lost(&error, room),
            };
            let now_ns = room.read_clock();
            match progress {
                Progress::Answered => {
                    let answer = &mut self.answer;
                    let keep = self.client.answered(now_ns, answer, &mut room.ledger);
                    self.answer.clear(keep);
                }
                Progress::Ready if self.client.is_syncing() => {
                    self.client.synced();
                    return self.go_on(now_ns, room);
                }
                Progress::Ready => {
                    let answer = &mut self.answer;
                    self.client.answered(now_ns, answer, &mut room.ledger);
                    return self.go_on(now_ns, room);
                }
                _ => {
                    let error = SystemError::protocol("the answer of a statement", "a bulk load");
                    return self.lost(&error, room);
                }
            }
        }
    }

    /// Lets the client go on until it waits for something.
    #[inline]
    pub fn go_on(&mut self, mut now_ns: u64, room: &mut Room<'_>) -> Status {
        let mut idle_turns = 0;
        loop {
            match self.client.next(now_ns, &mut room.ledger) {
                Next::Request { request, keep } => {
                    self.answer.clear(keep);
                    let Session::Open(conversation) = &mut self.session else {
                        unreachable!("a client without a session has nothing to ask")
                    };
                    match conversation.put(&request, &mut room.scratch) {
                        Ok(()) => return self.has_put(now_ns, room),
                        // The request cannot be expressed; nothing will be sent.
                        Err(error) => {
                            self.answer.error = Some(error);
                            let answer = &mut self.answer;
                            self.client.answered(now_ns, answer, &mut room.ledger);
                        }
                    }
                }
                Next::Queue { request } => {
                    let Session::Open(conversation) = &mut self.session else {
                        unreachable!("a client without a session has no pipeline")
                    };
                    let queued = conversation.queue(&request);
                    self.client.queued(queued);
                    continue;
                }
                Next::Sync { keep } => {
                    self.answer.clear(keep);
                    let Session::Open(conversation) = &mut self.session else {
                        unreachable!("a client without a session has no pipeline")
                    };
                    conversation.put_sync();
                    return self.has_put(now_ns, room);
                }
                Next::Pause { until_ns } => {
                    self.sleep(until_ns, room);
                    return Status::Open;
                }
                Next::Connect => return self.connect(room),
                Next::Arrival => match room.take_arrival(now_ns) {
                    Taken::Due(arrival) => {
                        self.client.arrive(arrival, now_ns, &mut room.ledger);
                        continue;
                    }
                    Taken::Later => {
                        room.idle.push_back(self.place);
                        return Status::Open;
                    }
                    Taken::Over => {
                        self.client.finish(now_ns, &mut room.ledger);
                        return Status::Ended;
                    }
                },
                Next::Abandoned => return self.abandon(room),
                Next::Done => return Status::Ended,
                Next::Ended => self.transaction_ended(room),
                Next::Again => {}
            }
            // Usually one transaction has ended and the next one begins, at the same instant. Any
            // further turn means that nothing is waited for at all.
            idle_turns += 1;
            if idle_turns > 1 {
                now_ns = room.read_clock();
            }
            if idle_turns == IDLE_TURNS {
                self.sleep(now_ns, room);
                return Status::Open;
            }
        }
    }

    /// The timer that was set for `at_ns` has come up.
    pub fn woken(&mut self, at_ns: u64, room: &mut Room<'_>) -> Status {
        // A pause that was cut short has left its timer behind.
        if self.wake_ns != at_ns {
            return Status::Open;
        }
        self.wake_ns = u64::MAX;
        if let Session::Opening(_) = self.session {
            return self.look_at_door(room);
        }
        self.client.woken(room.now_ns);
        self.go_on(room.now_ns, room)
    }

    /// What it waits for has not come in time.
    pub fn too_late(&mut self, room: &mut Room<'_>) -> Status {
        room.deadlines[self.place] = u64::MAX;
        match self.session {
            Session::Opening(_) => self.look_at_door(room),
            _ if self.client.is_waiting() => self.lost(&timed_out(&room.shared.plan), room),
            _ => Status::Open,
        }
    }

    /// The run is stopping.
    pub fn drain(&mut self, draining: Draining, room: &mut Room<'_>) -> Status {
        if draining == Draining::TooLong {
            return self.abandon(room);
        }
        if !self.client.cut_pause(room.now_ns, &mut room.ledger) {
            return Status::Open;
        }
        self.wake_ns = u64::MAX;
        self.go_on(room.now_ns, room)
    }

    /// The run does not wait for the client any longer. What the server still does for it is to be
    /// cancelled, for which the session must stay open.
    #[cold]
    fn abandon(&mut self, room: &mut Room<'_>) -> Status {
        let is_waiting = self.client.is_waiting();
        self.client.abandoned(room.now_ns, &mut room.ledger);
        match std::mem::replace(&mut self.session, Session::Closed) {
            Session::Open(conversation) if is_waiting => room.unanswered.push(conversation),
            session => self.session = session,
        }
        Status::Ended
    }

    #[cold]
    pub fn lost(&mut self, error: &SystemError, room: &mut Room<'_>) -> Status {
        let now_ns = room.read_clock();
        self.session = Session::Closed;
        let after = self.client.lost(now_ns, error, &mut room.ledger);
        self.follow(after, room)
    }

    /// Nobody can drive the client any longer.
    #[cold]
    pub fn given_up(&mut self, error: &SystemError, room: &mut Room<'_>) {
        self.client.given_up(room.now_ns, error, &mut room.ledger);
    }

    pub fn goodbye(&mut self, room: &mut Room<'_>) {
        room.deadlines[self.place] = u64::MAX;
        if let Session::Open(conversation) = &mut self.session {
            conversation.goodbye(&mut room.scratch);
        }
    }

    /// The session of one transaction ends with it.
    #[inline]
    fn transaction_ended(&mut self, room: &mut Room<'_>) {
        if room.shared.plan.connects_each {
            self.goodbye(room);
            self.session = Session::Closed;
        }
    }

    /// Nothing was asked, and the server has gone.
    #[cold]
    fn hung_up(&mut self, room: &mut Room<'_>) -> Status {
        let Session::Open(conversation) = &mut self.session else {
            return Status::Open;
        };
        let gone = io::Error::from(io::ErrorKind::UnexpectedEof);
        self.answer.clear(Keep::Count);
        let error = conversation.last_words(&gone, &mut room.scratch, &mut self.answer);
        self.lost(&error, room)
    }

    /// Begins to open a session.
    fn connect(&mut self, room: &mut Room<'_>) -> Status {
        let mut entrant = Box::new(Entrant::new());
        let patience_ns = u64::try_from(room.site.connect_timeout.as_nanos()).unwrap_or(u64::MAX);
        room.deadlines[self.place] = room.now_ns.saturating_add(patience_ns);
        let script = self.client.script_to_connect_for();
        let begun = entrant.begin(&mut room.door(script), Token(self.place));
        self.session = Session::Opening(entrant);
        self.at_the_door(begun, room)
    }

    /// The socket of a session that is not open yet is ready for something.
    #[cold]
    fn ready_to_open(&mut self, event: &Event, room: &mut Room<'_>) -> Status {
        let Session::Opening(entrant) = &mut self.session else {
            return Status::Open;
        };
        let script = self.client.script_to_connect_for();
        let result = entrant.ready(&mut room.door(script), event);
        self.at_the_door(result, room)
    }

    /// It may be time to try again, or to give up.
    fn look_at_door(&mut self, room: &mut Room<'_>) -> Status {
        let Session::Opening(entrant) = &mut self.session else {
            return Status::Open;
        };
        let script = self.client.script_to_connect_for();
        let looked = entrant.look(&mut room.door(script), Instant::now(), Token(self.place));
        self.at_the_door(looked, room)
    }

    fn at_the_door(&mut self, result: Result<(), Trouble>, room: &mut Room<'_>) -> Status {
        if let Err(trouble) = result {
            self.session = Session::Closed;
            let now_ns = room.read_clock();
            let error = trouble.into_error();
            let after = self.client.not_connected(now_ns, &error, &mut room.ledger);
            return self.follow(after, room);
        }
        match std::mem::replace(&mut self.session, Session::Closed) {
            Session::Opening(entrant) if entrant.is_open() => {
                let Some(conversation) = entrant.into_conversation() else {
                    unreachable!("it is open")
                };
                room.deadlines[self.place] = u64::MAX;
                self.wake_ns = u64::MAX;
                let now_ns = room.read_clock();
                self.client
                    .connected(conversation.pipelines(), &mut room.ledger);
                self.session = Session::Open(conversation);
                self.go_on(now_ns, room)
            }
            session => {
                if let Session::Opening(entrant) = &session
                    && entrant.patience() < Duration::MAX
                {
                    let patience_ns = u64::try_from(entrant.patience().as_nanos());
                    let until_ns = room.now_ns + patience_ns.unwrap_or(0);
                    self.sleep(until_ns, room);
                }
                self.session = session;
                Status::Open
            }
        }
    }

    /// What comes after a session was lost, or could not be had.
    fn follow(&mut self, after: After, room: &mut Room<'_>) -> Status {
        room.deadlines[self.place] = u64::MAX;
        match after {
            After::Ended => Status::Ended,
            After::GoOn => self.go_on(room.now_ns, room),
            After::Pause { until_ns } => {
                self.sleep(until_ns, room);
                Status::Open
            }
        }
    }

    fn sleep(&mut self, until_ns: u64, room: &mut Room<'_>) {
        self.wake_ns = until_ns;
        room.timers.set(until_ns, self.place);
    }

    /// A request is to be sent with those of the others.
    #[inline]
    fn has_put(&mut self, now_ns: u64, room: &mut Room<'_>) -> Status {
        if let Some(timeout_ns) = room.shared.plan.statement_timeout_ns {
            room.deadlines[self.place] = now_ns.saturating_add(timeout_ns);
        }
        if !self.is_waiting_to_send {
            self.is_waiting_to_send = true;
            room.to_send.push(self.place);
        }
        Status::Open
    }

    /// Whether it still has something to send, which will now be done.
    #[inline]
    pub fn sends(&mut self) -> bool {
        std::mem::take(&mut self.is_waiting_to_send) && self.parcel().is_some()
    }

    /// What it has to send.
    #[inline]
    pub fn parcel(&self) -> Option<Parcel<'_>> {
        match &self.session {
            Session::Open(conversation) if conversation.has_unsent() => {
                Some(conversation.to_send())
            }
            _ => None,
        }
    }

    /// That is what came of sending it.
    #[inline]
    pub fn has_sent(&mut self, result: io::Result<usize>, room: &mut Room<'_>) -> Status {
        let Session::Open(conversation) = &mut self.session else {
            return Status::Open;
        };
        let sent = conversation.sent(result);
        if sent.is_ok() && !conversation.has_unsent() {
            return Status::Open;
        }
        let watched = match sent {
            Ok(()) => watch(conversation, self.place, room),
            // The server may have said why.
            Err(error) => Err(conversation.last_words(&error, &mut room.scratch, &mut self.answer)),
        };
        match watched {
            Ok(()) => Status::Open,
            Err(error) => self.lost(&error, room),
        }
    }
}

#[cold]
fn send_rest(
    conversation: &mut Conversation,
    place: usize,
    room: &mut Room<'_>,
) -> Result<(), SystemError> {
    conversation
        .writable(&mut room.scratch)
        .map_err(|error| lost(&error))?;
    watch(conversation, place, room)
}

fn watch(
    conversation: &mut Conversation,
    place: usize,
    room: &Room<'_>,
) -> Result<(), SystemError> {
    conversation
        .watch(room.poll.registry(), Token(place))
        .map_err(|error| out_of_resources(&error))
}

/// The client's own deadline has passed.
pub fn timed_out(plan: &Plan) -> SystemError {
    let timeout = Duration::from_nanos(plan.statement_timeout_ns.unwrap_or(0));
    let message = format!("no answer within {timeout:?} (statement_timeout_s)");
    SystemError::new(ErrorClass::Timeout, "", message)
}

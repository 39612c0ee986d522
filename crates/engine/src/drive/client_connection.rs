//! One client and its session in an event loop: handles readiness, answers, pauses and deadlines.

use std::io;
use std::time::{Duration, Instant};

use assay_drivers::{Answer, ErrorClass, Keep, Progress, SystemError};
use mio::Token;
use mio::event::Event;

use super::arrivals::Arrival;
use super::client::{AfterLoss, Client, Next};
use super::loop_context::LoopContext;
use super::open_loop::NextArrival;
use super::plan::Plan;
use super::schedule::Draining;
use super::session_opener::{OpenError, SessionOpener};
use crate::session::{Connection, lost, out_of_resources};

/// How many turns without waiting a client may take before the other clients get theirs.
const MAX_IDLE_ITERATIONS: u32 = 64;

pub struct ClientConnection<'a> {
    /// Its index in the thread's list of clients and in its timers.
    place: usize,
    /// The index of its server endpoint.
    endpoint: usize,
    client: Client<'a>,
    session: Session,
    answer: Answer,
    /// When the current pause ends; `u64::MAX` outside a pause.
    wake_ns: u64,
}

#[expect(
    clippy::large_enum_variant,
    reason = "nearly all sessions are open, and the hot path should not follow one more pointer"
)]
enum Session {
    Open(Connection),
    Opening(Box<SessionOpener>),
    Closed,
}

/// Whether a client still has work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClientStatus {
    Open,
    Ended,
}

impl<'a> ClientConnection<'a> {
    /// Without a connection, the client opens one for each transaction.
    #[must_use]
    pub fn new(
        place: usize,
        mut client: Client<'a>,
        endpoint: usize,
        connection: Option<Connection>,
    ) -> Self {
        if let Some(connection) = &connection {
            client.begins_with(connection.pipelines());
        }
        Self {
            place,
            endpoint,
            client,
            session: connection.map_or(Session::Closed, Session::Open),
            answer: Answer::new(Keep::Count),
            wake_ns: u64::MAX,
        }
    }

    /// Stops waiting for an arrival, if the client waits for one.
    fn wait_no_longer(&self, context: &mut LoopContext<'_>) {
        if self.client.is_idle() {
            context.wait_no_longer(self.client.group(), self.place);
        }
    }

    /// Starts an arrival that was reserved for this client.
    pub fn begin(
        &mut self,
        arrival: Arrival,
        now_ns: u64,
        context: &mut LoopContext<'_>,
    ) -> ClientStatus {
        self.client.arrive(arrival, now_ns, &mut context.recorder);
        self.go_on(now_ns, context)
    }

    /// The socket is readable, writable or closed.
    #[inline]
    pub fn ready(&mut self, event: &Event, context: &mut LoopContext<'_>) -> ClientStatus {
        let Session::Open(connection) = &mut self.session else {
            return self.ready_to_open(event, context);
        };
        if connection.has_unsent()
            && let Err(error) = send_rest(connection, self.place, context)
        {
            return self.lost(&error, context);
        }
        let is_closed = event.is_read_closed() || event.is_error();
        if !self.client.is_waiting() {
            // What arrives during a pause is read with the next answer. A closed connection is handled at
            // once, before the client's next transaction.
            return if is_closed {
                self.hung_up(context)
            } else {
                ClientStatus::Open
            };
        }
        if !event.is_readable() && !is_closed {
            return ClientStatus::Open;
        }
        self.receive(is_closed, context)
    }

    /// Reads what has arrived, and continues the client once its answer is complete.
    #[inline]
    fn receive(&mut self, is_closed: bool, context: &mut LoopContext<'_>) -> ClientStatus {
        loop {
            let Session::Open(connection) = &mut self.session else {
                return ClientStatus::Open;
            };
            let progress = connection.receive(is_closed, &mut context.scratch, &mut self.answer);
            let progress = match progress {
                Ok(Progress::NeedMore) => return ClientStatus::Open,
                Ok(progress) => progress,
                Err(error) => return self.lost(&error, context),
            };
            let now_ns = context.read_clock();
            match progress {
                Progress::Answered => {
                    let answer = &mut self.answer;
                    let keep = self.client.answered(now_ns, answer, &mut context.recorder);
                    self.answer.clear(keep);
                }
                Progress::Ready if self.client.is_syncing() => {
                    self.client.synced(&self.answer);
                    return self.go_on(now_ns, context);
                }
                Progress::Ready => {
                    let answer = &mut self.answer;
                    self.client.answered(now_ns, answer, &mut context.recorder);
                    return self.go_on(now_ns, context);
                }
                _ => {
                    let error = SystemError::protocol("the answer of a statement", "a bulk load");
                    return self.lost(&error, context);
                }
            }
        }
    }

    /// Continues the client until it waits for something.
    #[inline]
    pub fn go_on(&mut self, mut now_ns: u64, context: &mut LoopContext<'_>) -> ClientStatus {
        let mut idle_iterations = 0;
        loop {
            match self.client.next(now_ns, &mut context.recorder) {
                Next::Request { request, keep } => {
                    self.answer.clear(keep);
                    let Session::Open(connection) = &mut self.session else {
                        unreachable!("a client without a session has no request")
                    };
                    match connection.put(&request, &mut context.scratch) {
                        Ok(()) => return self.send_soon(now_ns, context),
                        // The request cannot be encoded; nothing is sent.
                        Err(error) => {
                            self.answer.error = Some(error);
                            let answer = &mut self.answer;
                            self.client.answered(now_ns, answer, &mut context.recorder);
                        }
                    }
                }
                Next::Queue { request } => {
                    let Session::Open(connection) = &mut self.session else {
                        unreachable!("a client without a session has no pipeline")
                    };
                    let queued = connection.queue(&request);
                    self.client.queued(queued);
                    continue;
                }
                Next::Sync { keep } => {
                    self.answer.clear(keep);
                    let Session::Open(connection) = &mut self.session else {
                        unreachable!("a client without a session has no pipeline")
                    };
                    connection.put_sync();
                    return self.send_soon(now_ns, context);
                }
                Next::Pause { until_ns } => {
                    self.sleep(until_ns, context);
                    return ClientStatus::Open;
                }
                Next::Connect => return self.connect(context),
                Next::Arrival => match context.take_arrival(self.client.group(), now_ns) {
                    NextArrival::Due(arrival) => {
                        self.client.arrive(arrival, now_ns, &mut context.recorder);
                        continue;
                    }
                    NextArrival::Later => {
                        context.wait_for_arrival(self.client.group(), self.place);
                        return ClientStatus::Open;
                    }
                    NextArrival::Over => {
                        self.client.finish(now_ns, &mut context.recorder);
                        return ClientStatus::Ended;
                    }
                },
                Next::Abandoned => return self.abandon(context),
                Next::Unusable { error } => return self.lost(&error, context),
                Next::Done => return ClientStatus::Ended,
                Next::Ended => self.transaction_ended(context),
                Next::Again => {}
            }
            // Usually a transaction has ended and the next begins at the same instant. A further iteration means
            // that the client does not wait for anything.
            idle_iterations += 1;
            if idle_iterations > 1 {
                now_ns = context.read_clock();
            }
            if idle_iterations == MAX_IDLE_ITERATIONS {
                self.sleep(now_ns, context);
                return ClientStatus::Open;
            }
        }
    }

    /// The timer that was set for `at_ns` has expired.
    pub fn woken(&mut self, at_ns: u64, context: &mut LoopContext<'_>) -> ClientStatus {
        // A pause that was cut short leaves its timer behind.
        if self.wake_ns != at_ns {
            return ClientStatus::Open;
        }
        self.wake_ns = u64::MAX;
        if let Session::Opening(_) = self.session {
            return self.check_opening(context);
        }
        self.client.woken(context.now_ns);
        self.go_on(context.now_ns, context)
    }

    /// The deadline has passed.
    pub fn deadline_passed(&mut self, context: &mut LoopContext<'_>) -> ClientStatus {
        context.deadlines[self.place] = u64::MAX;
        match self.session {
            Session::Opening(_) => self.check_opening(context),
            _ if self.client.is_waiting() => self.lost(&timed_out(&context.shared.plan), context),
            _ => ClientStatus::Open,
        }
    }

    /// The run is stopping.
    pub fn drain(&mut self, draining: Draining, context: &mut LoopContext<'_>) -> ClientStatus {
        if draining == Draining::TooLong {
            return self.abandon(context);
        }
        self.wait_no_longer(context);
        if !self.client.cut_pause(context.now_ns, &mut context.recorder) {
            return ClientStatus::Open;
        }
        self.wake_ns = u64::MAX;
        self.go_on(context.now_ns, context)
    }

    /// The run no longer waits for the client. The session stays open, so that its statement on the server
    /// can be cancelled.
    #[cold]
    fn abandon(&mut self, context: &mut LoopContext<'_>) -> ClientStatus {
        let is_waiting = self.client.is_waiting();
        self.wait_no_longer(context);
        self.client.abandoned(context.now_ns, &mut context.recorder);
        match std::mem::replace(&mut self.session, Session::Closed) {
            Session::Open(connection) if is_waiting => {
                context.unanswered.push((self.endpoint, connection))
            }
            session => self.session = session,
        }
        ClientStatus::Ended
    }

    #[cold]
    pub fn lost(&mut self, error: &SystemError, context: &mut LoopContext<'_>) -> ClientStatus {
        let now_ns = context.read_clock();
        self.wait_no_longer(context);
        self.session = Session::Closed;
        let after = self.client.lost(now_ns, error, &mut context.recorder);
        self.follow(after, context)
    }

    /// The event loop has failed: the client cannot continue.
    #[cold]
    pub fn event_loop_failed(&mut self, error: &SystemError, context: &mut LoopContext<'_>) {
        self.client
            .event_loop_failed(context.now_ns, error, &mut context.recorder);
    }

    pub fn goodbye(&mut self, context: &mut LoopContext<'_>) {
        context.deadlines[self.place] = u64::MAX;
        if let Session::Open(connection) = &mut self.session {
            connection.goodbye(&mut context.scratch);
        }
    }

    /// Closes a session that is opened for each transaction.
    #[inline]
    fn transaction_ended(&mut self, context: &mut LoopContext<'_>) {
        if context.shared.plan.connects_each {
            self.goodbye(context);
            self.session = Session::Closed;
        }
    }

    /// The server has closed the session while no request was pending.
    #[cold]
    fn hung_up(&mut self, context: &mut LoopContext<'_>) -> ClientStatus {
        let Session::Open(connection) = &mut self.session else {
            return ClientStatus::Open;
        };
        let gone = io::Error::from(io::ErrorKind::UnexpectedEof);
        self.answer.clear(Keep::Count);
        let error = connection.error_before_close(&gone, &mut context.scratch, &mut self.answer);
        self.lost(&error, context)
    }

    /// Starts to open a session.
    fn connect(&mut self, context: &mut LoopContext<'_>) -> ClientStatus {
        let mut opener = Box::new(SessionOpener::new());
        let patience_ns = u64::try_from(context.sites[self.endpoint].connect_timeout.as_nanos())
            .unwrap_or(u64::MAX);
        context.deadlines[self.place] = context.now_ns.saturating_add(patience_ns);
        let to_prepare = self.client.to_prepare();
        let begun = opener.begin(
            &mut context.opening(self.endpoint, to_prepare),
            Token(self.place),
        );
        self.session = Session::Opening(opener);
        self.opening_progressed(begun, context)
    }

    /// The socket of a session that is being opened is ready.
    #[cold]
    fn ready_to_open(&mut self, event: &Event, context: &mut LoopContext<'_>) -> ClientStatus {
        let Session::Opening(opener) = &mut self.session else {
            return ClientStatus::Open;
        };
        let to_prepare = self.client.to_prepare();
        let result = opener.ready(&mut context.opening(self.endpoint, to_prepare), event);
        self.opening_progressed(result, context)
    }

    /// Retries to open the session, or fails at the deadline.
    fn check_opening(&mut self, context: &mut LoopContext<'_>) -> ClientStatus {
        let Session::Opening(opener) = &mut self.session else {
            return ClientStatus::Open;
        };
        let to_prepare = self.client.to_prepare();
        let checked = opener.check(
            &mut context.opening(self.endpoint, to_prepare),
            Instant::now(),
            Token(self.place),
        );
        self.opening_progressed(checked, context)
    }

    fn opening_progressed(
        &mut self,
        result: Result<(), OpenError>,
        context: &mut LoopContext<'_>,
    ) -> ClientStatus {
        if let Err(error) = result {
            self.session = Session::Closed;
            let now_ns = context.read_clock();
            let error = error.into_error();
            let after = self
                .client
                .not_connected(now_ns, &error, &mut context.recorder);
            return self.follow(after, context);
        }
        match std::mem::replace(&mut self.session, Session::Closed) {
            Session::Opening(opener) if opener.is_open() => {
                let Some(connection) = opener.into_connection() else {
                    unreachable!("it is open")
                };
                context.deadlines[self.place] = u64::MAX;
                self.wake_ns = u64::MAX;
                let now_ns = context.read_clock();
                self.client
                    .connected(connection.pipelines(), &mut context.recorder);
                self.session = Session::Open(connection);
                self.go_on(now_ns, context)
            }
            session => {
                if let Session::Opening(opener) = &session
                    && opener.retry_delay() < Duration::MAX
                {
                    let patience_ns = u64::try_from(opener.retry_delay().as_nanos());
                    let until_ns = context.now_ns + patience_ns.unwrap_or(0);
                    self.sleep(until_ns, context);
                }
                self.session = session;
                ClientStatus::Open
            }
        }
    }

    /// Continues after a session was lost or could not be opened.
    fn follow(&mut self, after: AfterLoss, context: &mut LoopContext<'_>) -> ClientStatus {
        context.deadlines[self.place] = u64::MAX;
        match after {
            AfterLoss::Ended => ClientStatus::Ended,
            AfterLoss::GoOn => self.go_on(context.now_ns, context),
            AfterLoss::Pause { until_ns } => {
                self.sleep(until_ns, context);
                ClientStatus::Open
            }
        }
    }

    fn sleep(&mut self, until_ns: u64, context: &mut LoopContext<'_>) {
        self.wake_ns = until_ns;
        context.timers.set(until_ns, self.place);
    }

    /// The request is sent together with those of the other clients ([`EventLoop`]).
    ///
    /// [`EventLoop`]: super::event_loop::EventLoop
    #[inline]
    fn send_soon(&mut self, now_ns: u64, context: &mut LoopContext<'_>) -> ClientStatus {
        if let Some(timeout_ns) = context.shared.plan.statement_timeout_ns {
            context.deadlines[self.place] = now_ns.saturating_add(timeout_ns);
        }
        context.to_send.push(self.place);
        ClientStatus::Open
    }

    /// Sends the pending bytes as far as the socket takes them.
    #[inline]
    pub fn send(&mut self, context: &mut LoopContext<'_>) -> ClientStatus {
        let Session::Open(connection) = &mut self.session else {
            return ClientStatus::Open;
        };
        let sent = connection.flush();
        if sent.is_ok() && !connection.has_unsent() {
            return ClientStatus::Open;
        }
        let watched = match sent {
            Ok(()) => watch(connection, self.place, context),
            // The server may have sent the reason before it closed the connection.
            Err(error) => {
                Err(connection.error_before_close(&error, &mut context.scratch, &mut self.answer))
            }
        };
        match watched {
            Ok(()) => ClientStatus::Open,
            Err(error) => self.lost(&error, context),
        }
    }
}

#[cold]
fn send_rest(
    connection: &mut Connection,
    place: usize,
    context: &mut LoopContext<'_>,
) -> Result<(), SystemError> {
    connection
        .writable(&mut context.scratch)
        .map_err(|error| lost(&error))?;
    watch(connection, place, context)
}

fn watch(
    connection: &mut Connection,
    place: usize,
    context: &LoopContext<'_>,
) -> Result<(), SystemError> {
    connection
        .watch(context.poll.registry(), Token(place))
        .map_err(|error| out_of_resources(&error))
}

/// The error after `statement_timeout_s`.
pub fn timed_out(plan: &Plan) -> SystemError {
    let timeout = Duration::from_nanos(plan.statement_timeout_ns.unwrap_or(0));
    let message = format!("no answer within {timeout:?} (statement_timeout_s)");
    SystemError::new(ErrorClass::Timeout, "", message)
}

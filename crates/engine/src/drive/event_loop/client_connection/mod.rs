//! One client and its sessions in an event loop: handles readiness, answers, pauses and deadlines, and sends its requests.

mod ending;

use assay_drivers::{Answer, Keep, Progress, SystemError};
use mio::event::Event;

use crate::drive::client::{Client, Next};
use crate::drive::event_loop::context::LoopContext;
use crate::drive::event_loop::helper_threads::Ended;
use crate::drive::event_loop::session_opener::SessionOpener;
use crate::drive::pace::arrivals::Arrival;
use crate::drive::pace::open_loop::NextArrival;
use crate::drive::supervision::call_timeout::over_limit;
use crate::session::Connection;

/// How many iterations without waiting a client may run before the other clients continue.
const MAX_IDLE_ITERATIONS: u32 = 64;

#[repr(C)]
pub struct ClientConnection<'a> {
    /// Its index in the thread's list of clients and in its timers.
    place: usize,
    /// The session in use.
    session: Session,
    answer: Answer,
    client: Client<'a>,
    /// When the current pause ends; `u64::MAX` outside a pause.
    wake_ns: u64,
    /// The token of its session.
    token: usize,
    /// The index of its session's server endpoint.
    endpoint: usize,
    /// The index of its session's route.
    route: usize,
    /// By route: the sessions that it does not use now; empty where it has only one.
    parked: Vec<ParkedSession>,
    /// The current statement took longer than its limit, and the server was asked to cancel it.
    is_over_limit: bool,
    /// The number of the request to cancel it that is under way; 0: there is none. Until it has ended nothing more is
    /// read, so that it cannot cancel a later statement.
    cancel_number: u64,
    /// The server has closed the session while a command of the script ran.
    is_closed_meanwhile: bool,
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

/// A session that its client does not use at present.
struct ParkedSession {
    token: usize,
    endpoint: usize,
    session: Session,
    /// Why it is closed.
    lost: Option<SystemError>,
}

impl ParkedSession {
    /// In the place of the session that is in use.
    fn none() -> Self {
        Self {
            token: usize::MAX,
            endpoint: 0,
            session: Session::Closed,
            lost: None,
        }
    }
}

/// Whether a client still has work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClientStatus {
    Open,
    Ended,
}

impl<'a> ClientConnection<'a> {
    /// Without a session, which [`ClientConnection::begins_with`] gives it, the client opens one for each transaction.
    pub fn new(place: usize, client: Client<'a>) -> Self {
        Self {
            place,
            session: Session::Closed,
            answer: Answer::new(Keep::Count),
            token: place,
            endpoint: client.endpoint(),
            route: 0,
            parked: Vec::new(),
            client,
            wake_ns: u64::MAX,
            is_over_limit: false,
            cancel_number: 0,
            is_closed_meanwhile: false,
        }
    }

    /// The client starts with this session; that of the first route comes first.
    pub fn begins_with(&mut self, route: usize, token: usize, connection: Connection) {
        if route > 0 {
            self.park(route, token, connection);
            return;
        }
        self.client.begins_with(connection.pipelines());
        self.token = token;
        self.session = Session::Open(connection);
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
        if event.token().0 != self.token {
            self.parked_ready(event, context);
            return ClientStatus::Open;
        }
        let Session::Open(connection) = &mut self.session else {
            return self.ready_to_open(event, context);
        };
        if connection.has_unsent()
            && let Err(error) = context.send_rest(connection, self.token, &mut self.answer)
        {
            return self.lost(&error, context);
        }
        let is_closed = event.is_read_closed() || event.is_error();
        if !self.client.is_waiting() {
            // What arrives during a pause is read with the next answer. A closed connection is handled at
            // once, before the client's next transaction; but a command of the script goes on to its end.
            let is_in_command = self.client.is_in_command();
            self.is_closed_meanwhile |= is_closed && is_in_command;
            return if is_closed && !is_in_command {
                self.hung_up(context)
            } else {
                ClientStatus::Open
            };
        }
        if self.cancel_number != 0 || (!event.is_readable() && !is_closed) {
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
                Ok(Progress::NeedMore) if connection.has_unread => {
                    return match context.watch(connection, self.token) {
                        Ok(()) => ClientStatus::Open,
                        Err(error) => self.lost(&error, context),
                    };
                }
                Ok(Progress::NeedMore) => return ClientStatus::Open,
                Ok(progress) => progress,
                Err(error) => return self.lost(&error, context),
            };
            let now_ns = context.read_clock();
            if self.is_over_limit {
                self.answered_over_limit(progress, context);
            }
            match progress {
                Progress::Answered => {
                    let answer = &mut self.answer;
                    let keep = self.client.answered(now_ns, answer, &mut context.recorder);
                    self.answer.clear(keep);
                }
                Progress::Ready if self.client.is_syncing() => {
                    let answer = &mut self.answer;
                    self.client.synced(now_ns, answer, &mut context.recorder);
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
            let (recorder, values) = (&mut context.recorder, &mut context.values);
            match self.client.next(now_ns, recorder, values) {
                Next::Request { request, keep } => {
                    self.answer.clear(keep);
                    let Session::Open(connection) = &mut self.session else {
                        unreachable!("a client without a session has no request")
                    };
                    let start = context.send_buffer.bytes.len();
                    let put = connection.put(
                        &request,
                        &mut context.send_buffer.bytes,
                        &mut context.scratch,
                        &mut self.answer,
                    );
                    match put {
                        Ok(Progress::NeedMore) => return self.send_soon(start, now_ns, context),
                        // The answer needed no server.
                        Ok(_) => {
                            let answer = &mut self.answer;
                            self.client.answered(now_ns, answer, &mut context.recorder);
                        }
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
                    let start = context.send_buffer.bytes.len();
                    connection.put_sync(&mut context.send_buffer.bytes);
                    return self.send_soon(start, now_ns, context);
                }
                Next::Pause { mut until_ns } => {
                    if until_ns <= now_ns {
                        // After long work it would be due already, and the client would be woken at once.
                        until_ns = context.read_clock();
                    }
                    self.sleep(until_ns, context);
                    return ClientStatus::Open;
                }
                Next::Run { command } => {
                    let helpers = context.helpers.as_mut();
                    let helpers = helpers.expect("the program runs commands");
                    helpers.run(self.place, command);
                    return ClientStatus::Open;
                }
                Next::Connect => return self.connect(context),
                Next::Route { route } => match self.use_route(route) {
                    Ok(()) => continue,
                    Err(error) => return self.lost(&error, context),
                },
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
            // The request to cancel ends by itself, and is followed by the answer.
            _ if self.cancel_number > 0 => self.wait_for_cancelled(context),
            _ if self.client.is_waiting() => self.waited_too_long(context),
            _ => ClientStatus::Open,
        }
    }

    /// The answer after the server was asked to cancel the statement; where it had already ended, it counts.
    #[cold]
    fn answered_over_limit(&mut self, progress: Progress, context: &LoopContext<'_>) {
        let said = self.answer.error.take();
        self.answer.error = said.map(|said| over_limit(&context.shared.plan, &said));
        self.is_over_limit = progress != Progress::Ready;
    }

    /// What another thread had to do for the client has ended.
    pub fn task_ended(&mut self, ended: Ended, context: &mut LoopContext<'_>) -> ClientStatus {
        match ended {
            Ended::Cancel(number) => self.cancel_ended(number, context),
            Ended::Run(result) => {
                self.client.ran(result);
                if std::mem::take(&mut self.is_closed_meanwhile) {
                    return self.hung_up(context);
                }
                let now_ns = context.read_clock();
                self.go_on(now_ns, context)
            }
        }
    }

    fn sleep(&mut self, until_ns: u64, context: &mut LoopContext<'_>) {
        self.wake_ns = until_ns;
        context.timers.set(until_ns, self.place);
    }
}

impl ClientConnection<'_> {
    /// The request, whose bytes begin at `start`, is sent together with those of the other clients ([`EventLoop`]).
    ///
    /// [`EventLoop`]: crate::drive::event_loop::EventLoop
    #[inline]
    pub(super) fn send_soon(
        &mut self,
        start: usize,
        now_ns: u64,
        context: &mut LoopContext<'_>,
    ) -> ClientStatus {
        if let Some(timeout_ns) = context.shared.plan.longest_wait_ns() {
            context.deadlines[self.place] = now_ns.saturating_add(timeout_ns);
        }
        context.send_buffer.push(self.place, start);
        ClientStatus::Open
    }

    /// Sends a request, which was put at `start`, at `now_ns`, as far as the socket takes it.
    #[inline]
    pub fn send(
        &mut self,
        (start, bytes): (usize, &[u8]),
        now_ns: u64,
        context: &mut LoopContext<'_>,
    ) -> ClientStatus {
        let Session::Open(connection) = &mut self.session else {
            return ClientStatus::Open;
        };
        self.client.sent(now_ns);
        let sent = connection.send_put(start, bytes);
        if sent.is_ok() && !connection.has_unsent() {
            return ClientStatus::Open;
        }
        let watched = match sent {
            Ok(()) => context.watch(connection, self.token),
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

//! Ends the session of a client in an event loop: when the client ends, after a loss, or when the run no longer waits for it; and
//! keeps those that it does not use at present, each at another kind of server, where other scripts are sent.

use std::io;
use std::time::{Duration, Instant};

use assay_drivers::{Answer, Keep, SystemError};
use mio::Token;
use mio::event::Event;

use crate::drive::client::AfterLoss;
use crate::drive::event_loop::cancel_statements::CANCEL_TIMEOUT;
use crate::drive::event_loop::client_connection::{
    ClientConnection, ClientStatus, ParkedSession, Session,
};
use crate::drive::event_loop::context::LoopContext;
use crate::drive::event_loop::helper_threads::CancelRequest;
use crate::drive::event_loop::session_opener::{OpenError, SessionOpener};
use crate::drive::pace::schedule::Draining;
use crate::drive::supervision::call_timeout::timed_out;
use crate::session::Connection;

impl ClientConnection<'_> {
    /// Stops waiting for an arrival, if the client waits for one.
    pub(super) fn wait_no_longer(&self, context: &mut LoopContext<'_>) {
        if self.client.is_idle() {
            context.wait_no_longer(self.client.group(), self.place);
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
    pub(super) fn abandon(&mut self, context: &mut LoopContext<'_>) -> ClientStatus {
        let is_waiting = self.client.is_waiting();
        self.wait_no_longer(context);
        self.client.abandoned(context.now_ns, &mut context.recorder);
        match std::mem::replace(&mut self.session, Session::Closed) {
            Session::Open(connection) if is_waiting => {
                context.unanswered.push((self.endpoint, connection));
            }
            session => self.session = session,
        }
        ClientStatus::Ended
    }

    /// No answer came in time. With a limit for statements the server is asked once to cancel this one, and the
    /// client waits a little longer; else its session is lost.
    #[cold]
    pub(super) fn waited_too_long(&mut self, context: &mut LoopContext<'_>) -> ClientStatus {
        let has_limit = context.shared.plan.statement_limit_ns.is_some();
        if let Session::Open(connection) = &self.session
            && has_limit
            && !self.is_over_limit
        {
            self.is_over_limit = true;
            if let Some(helpers) = &mut context.helpers
                && let Some(cancel) = connection.cancel()
            {
                let request = CancelRequest {
                    endpoint: self.endpoint,
                    address: connection.place,
                    cancel,
                };
                self.cancel_number = helpers.cancel(self.place, request);
            }
            return self.wait_for_cancelled(context);
        }
        self.lost(&timed_out(&context.shared.plan), context)
    }

    /// How long the answer to a cancelled statement may take.
    pub(super) fn wait_for_cancelled(&self, context: &mut LoopContext<'_>) -> ClientStatus {
        let longest_ns = u64::try_from(CANCEL_TIMEOUT.as_nanos()).unwrap_or(u64::MAX);
        context.deadlines[self.place] = context.read_clock().saturating_add(longest_ns);
        ClientStatus::Open
    }

    /// The request of this number to cancel the statement was sent, or cannot be sent: reads what was answered
    /// meanwhile.
    #[cold]
    pub(super) fn cancel_ended(
        &mut self,
        number: u64,
        context: &mut LoopContext<'_>,
    ) -> ClientStatus {
        if self.cancel_number != number {
            return ClientStatus::Open;
        }
        self.cancel_number = 0;
        if !self.client.is_waiting() {
            return ClientStatus::Open;
        }
        _ = self.wait_for_cancelled(context);
        // The end of the connection may have been reported before.
        let may_be_closed = true;
        self.receive(may_be_closed, context)
    }

    #[cold]
    pub fn lost(&mut self, error: &SystemError, context: &mut LoopContext<'_>) -> ClientStatus {
        let now_ns = context.read_clock();
        self.wait_no_longer(context);
        self.session = Session::Closed;
        // The limit, and the request to cancel, were those of a statement of this session.
        self.is_over_limit = false;
        self.cancel_number = 0;
        let after = self.client.lost(now_ns, error, &mut context.recorder);
        self.follow(after, context)
    }

    /// The event loop has failed: the client cannot continue.
    #[cold]
    pub fn event_loop_failed(&mut self, error: &SystemError, context: &mut LoopContext<'_>) {
        self.client
            .event_loop_failed(context.now_ns, error, &mut context.recorder);
    }

    pub fn terminate(&mut self, context: &mut LoopContext<'_>) {
        context.deadlines[self.place] = u64::MAX;
        if let Session::Open(connection) = &mut self.session {
            connection.terminate(&mut context.scratch);
        }
        self.terminate_parked(context);
    }

    /// Closes a session that is opened for each transaction.
    #[inline]
    pub(super) fn transaction_ended(&mut self, context: &mut LoopContext<'_>) {
        if context.shared.plan.connects_each {
            self.terminate(context);
            self.session = Session::Closed;
        }
    }

    /// The server has closed the session while no request was pending.
    #[cold]
    pub(super) fn hung_up(&mut self, context: &mut LoopContext<'_>) -> ClientStatus {
        let Session::Open(connection) = &mut self.session else {
            return ClientStatus::Open;
        };
        let gone = io::Error::from(io::ErrorKind::UnexpectedEof);
        self.answer.clear(Keep::Count);
        let error = connection.error_before_close(&gone, &mut context.scratch, &mut self.answer);
        self.lost(&error, context)
    }

    /// Continues after a session was lost or could not be opened.
    pub(super) fn follow(
        &mut self,
        after: AfterLoss,
        context: &mut LoopContext<'_>,
    ) -> ClientStatus {
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
}

impl ClientConnection<'_> {
    /// The client starts with this session beside the one in use; routes come in their order.
    pub(super) fn park(&mut self, route: usize, token: usize, connection: Connection) {
        if self.parked.is_empty() {
            self.parked.push(ParkedSession::none());
        }
        debug_assert_eq!(route, self.parked.len(), "routes come in their order");
        self.parked.push(ParkedSession {
            token,
            endpoint: self.client.endpoint_of(route),
            session: Session::Open(connection),
            lost: None,
        });
    }

    /// Uses the session of a route for what follows.
    ///
    /// # Errors
    /// If it was closed meanwhile; it is the one in use then.
    pub(super) fn use_route(&mut self, route: usize) -> Result<(), SystemError> {
        // Where each transaction opens its own session, none is parked.
        if route == self.route || self.parked.is_empty() {
            return Ok(());
        }
        self.swap_with(self.route);
        self.swap_with(route);
        self.route = route;
        match self.parked[route].lost.take() {
            None => Ok(()),
            Some(error) => Err(error),
        }
    }

    fn swap_with(&mut self, route: usize) {
        let parked = &mut self.parked[route];
        std::mem::swap(&mut self.session, &mut parked.session);
        std::mem::swap(&mut self.token, &mut parked.token);
        std::mem::swap(&mut self.endpoint, &mut parked.endpoint);
    }

    /// A socket that is not in use is ready. What arrives there is read with the next answer; that it was closed is
    /// noticed when it is used again, as an application notices it whose connections wait in a pool.
    #[cold]
    pub(super) fn parked_ready(&mut self, event: &Event, context: &mut LoopContext<'_>) {
        if !event.is_read_closed() && !event.is_error() {
            return;
        }
        let token = event.token().0;
        let its_own = self.parked.iter_mut().find(|parked| parked.token == token);
        let Some(parked) = its_own else { return };
        let Session::Open(connection) = &mut parked.session else {
            return;
        };
        let gone = io::Error::from(io::ErrorKind::UnexpectedEof);
        let mut answer = Answer::new(Keep::Count);
        parked.lost = Some(connection.error_before_close(&gone, &mut context.scratch, &mut answer));
        parked.session = Session::Closed;
    }

    pub(super) fn terminate_parked(&mut self, context: &mut LoopContext<'_>) {
        for parked in &mut self.parked {
            if let Session::Open(connection) = &mut parked.session {
                connection.terminate(&mut context.scratch);
            }
        }
    }
}

// Opens the session of a client in an event loop: again after a loss, or for each transaction.

impl ClientConnection<'_> {
    /// Starts to open a session.
    pub(super) fn connect(&mut self, context: &mut LoopContext<'_>) -> ClientStatus {
        // With a session for each transaction, it may be at another server than the last one.
        self.endpoint = self.client.endpoint();
        let mut opener = Box::new(SessionOpener::new());
        let timeout_ns = u64::try_from(
            context.deployments[self.endpoint]
                .connect_timeout
                .as_nanos(),
        )
        .unwrap_or(u64::MAX);
        context.deadlines[self.place] = context.now_ns.saturating_add(timeout_ns);
        let to_prepare = self.client.to_prepare();
        let begun = opener.begin(
            &mut context.opening(self.endpoint, to_prepare),
            Token(self.token),
        );
        self.session = Session::Opening(opener);
        self.opening_progressed(begun, context)
    }

    /// The socket of a session that is being opened is ready.
    #[cold]
    pub(super) fn ready_to_open(
        &mut self,
        event: &Event,
        context: &mut LoopContext<'_>,
    ) -> ClientStatus {
        let Session::Opening(opener) = &mut self.session else {
            return ClientStatus::Open;
        };
        let to_prepare = self.client.to_prepare();
        let result = opener.ready(&mut context.opening(self.endpoint, to_prepare), event);
        self.opening_progressed(result, context)
    }

    /// Retries to open the session, or fails at the deadline.
    pub(super) fn check_opening(&mut self, context: &mut LoopContext<'_>) -> ClientStatus {
        let Session::Opening(opener) = &mut self.session else {
            return ClientStatus::Open;
        };
        let to_prepare = self.client.to_prepare();
        let checked = opener.check(
            &mut context.opening(self.endpoint, to_prepare),
            Instant::now(),
            Token(self.token),
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
                    let timeout_ns = u64::try_from(opener.retry_delay().as_nanos());
                    let until_ns = context.now_ns + timeout_ns.unwrap_or(0);
                    self.sleep(until_ns, context);
                }
                self.session = session;
                ClientStatus::Open
            }
        }
    }
}

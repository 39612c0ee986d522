//! Opens the session of a client in an event loop: again after a loss, or for each transaction.

use std::time::{Duration, Instant};

use mio::Token;
use mio::event::Event;

use crate::drive::event_loop::client_connection::{ClientConnection, ClientStatus, Session};
use crate::drive::event_loop::context::LoopContext;
use crate::drive::event_loop::session_opener::{OpenError, SessionOpener};

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

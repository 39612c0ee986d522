//! The sessions of a client that it does not use at present: each is at another kind of server, where other scripts
//! are sent.

use std::io;

use assay_drivers::{Answer, Keep, SystemError};
use mio::event::Event;

use super::{ClientConnection, ParkedSession, Session};
use crate::drive::loop_context::LoopContext;
use crate::session::Connection;

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

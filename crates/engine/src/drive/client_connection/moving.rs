//! What a client does when another thread continues it.

use std::io;

use super::{ClientConnection, ClientStatus, Session};
use crate::drive::loop_context::LoopContext;

impl ClientConnection<'_> {
    /// Its index in the thread's list of clients.
    #[must_use]
    pub fn place(&self) -> usize {
        self.place
    }

    /// Whether another thread could go on with it: an answer is owed, and everything was sent.
    #[must_use]
    pub fn can_move(&self) -> bool {
        match &self.session {
            Session::Open(connection) => self.client.is_waiting() && !connection.has_unsent(),
            _ => false,
        }
    }

    /// It goes to another thread.
    ///
    /// # Errors
    /// Where it cannot be taken out of this thread's poll.
    pub fn leave(&mut self, context: &LoopContext<'_>) -> io::Result<()> {
        match &mut self.session {
            Session::Open(connection) => connection.unwatch(context.poll.registry()),
            _ => Ok(()),
        }
    }

    /// It comes from another thread. What its socket has received meanwhile is announced anew.
    pub fn arrive_at(&mut self, place: usize, context: &mut LoopContext<'_>) -> ClientStatus {
        self.place = place;
        let Session::Open(connection) = &mut self.session else {
            return ClientStatus::Open;
        };
        match context.watch(connection, place) {
            Ok(()) => ClientStatus::Open,
            Err(error) => self.lost(&error, context),
        }
    }
}

//! Sends the requests of a client in an event loop, and sets the deadlines of their answers.

use super::{ClientConnection, ClientStatus, Session};
use crate::drive::loop_context::LoopContext;

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

//! Takes clients out of the event loop of a busy thread; gives them to that of a thread without clients.

use super::client_connection::ClientConnection;
use super::event_loop::EventLoop;
use super::handover::Moving;

impl<'a> EventLoop<'a, '_> {
    /// Hands every second of its clients that wait for an answer to a thread that has none, if there is one.
    pub(super) fn hand_half_over(&mut self) {
        let (clients, context) = (&mut self.clients, &mut self.context);
        let open = &mut self.open;
        self.handover.hand_over(|| {
            let mut moving = Vec::new();
            let can_move = |client: &&mut Option<ClientConnection<'_>>| {
                client.as_ref().is_some_and(ClientConnection::can_move)
            };
            for slot in clients.iter_mut().filter(can_move).skip(1).step_by(2) {
                let Some(mut client) = slot.take() else {
                    continue;
                };
                let deadline_ns =
                    std::mem::replace(&mut context.deadlines[client.place()], u64::MAX);
                match client.leave(context) {
                    Ok(()) => moving.push(Moving {
                        client,
                        deadline_ns,
                    }),
                    // It stays as it was.
                    Err(_) => {
                        context.deadlines[client.place()] = deadline_ns;
                        *slot = Some(client);
                    }
                }
            }
            *open -= moving.len();
            moving
        });
    }

    /// Goes on with clients of another thread.
    pub(super) fn take_in(&mut self, moving: Vec<Moving<'a>>) {
        for Moving {
            client,
            deadline_ns,
        } in moving
        {
            let place = self.clients.len();
            self.clients.push(Some(client));
            self.context.deadlines.push(deadline_ns);
            self.open += 1;
            self.context.read_clock();
            self.with(place, |client, context| client.arrive_at(place, context));
        }
    }
}

//! The state that all clients of one event loop share.

use std::collections::VecDeque;

use assay_drivers::{Answer, SystemError};
use assay_values::Value;
use mio::{Poll, Token};

use crate::account::ThreadRecorder;
use crate::clock::TimerQueue;
use crate::drive::event_loop::helper_threads::HelperThreads;
use crate::drive::event_loop::session_opener::Opening;
use crate::drive::pace::open_loop::{NextArrival, OpenLoop};
use crate::drive::shared::Shared;
use crate::session::{Connection, Scratch, WireDeployment, out_of_resources};

pub struct LoopContext<'a> {
    pub shared: &'a Shared,
    /// By endpoint.
    pub deployments: &'a [WireDeployment],
    pub poll: Poll,
    pub scratch: Scratch,
    pub timers: TimerQueue,
    pub recorder: ThreadRecorder,
    /// By group; `None` in a closed loop.
    pub open_loops: Vec<Option<&'a OpenLoop>>,
    /// By group: clients that wait for an arrival, the longest waiting first.
    pub idle: Vec<VecDeque<usize>>,
    /// Its index among the threads of the run.
    pub thread: usize,
    /// By client: the deadline of the current request or connection attempt; `u64::MAX` if there is none.
    pub deadlines: Vec<u64>,
    /// The places of the clients of sessions whose tokens follow those of the clients' first sessions.
    pub places_of_others: Vec<usize>,
    /// The requests that were not sent yet.
    pub send_buffer: SendBuffer,
    /// The values of the statement that a client is about to execute.
    pub values: Vec<Value>,
    /// Where statements have a limit, or scripts run commands.
    pub helpers: Option<HelperThreads<'a>>,
    /// Sessions of clients that were abandoned while they waited for an answer, with their endpoints.
    pub unanswered: Vec<(usize, Connection)>,
    /// The last reading of the clock.
    pub now_ns: u64,
}

impl LoopContext<'_> {
    #[inline]
    pub fn read_clock(&mut self) -> u64 {
        self.now_ns = self.shared.clock.now_ns();
        self.now_ns
    }

    /// The place of the client whose session has this token.
    #[inline]
    pub fn place_of(&self, token: Token) -> usize {
        let clients = self.deadlines.len();
        match token.0.checked_sub(clients) {
            None => token.0,
            Some(other) => self.places_of_others[other],
        }
    }

    /// The next arrival for a client of this group.
    pub fn take_arrival(&mut self, group: usize, now_ns: u64) -> NextArrival {
        let Some(open_loop) = self.open_loops[group] else {
            return NextArrival::Over;
        };
        let plan = &self.shared.plan.groups[group];
        let (next, to_wake) = open_loop.take(self.thread, now_ns, plan, &mut self.recorder);
        self.shared.wake(to_wake);
        next
    }

    /// A client starts to wait for an arrival.
    pub fn wait_for_arrival(&mut self, group: usize, place: usize) {
        self.idle[group].push_back(place);
        if let Some(open_loop) = self.open_loops[group] {
            open_loop.wait(self.thread);
        }
    }

    /// A client stops waiting without an arrival.
    pub fn wait_no_longer(&mut self, group: usize, place: usize) {
        self.idle[group].retain(|waiting| *waiting != place);
        if let Some(open_loop) = self.open_loops[group] {
            // If it was reserved for an arrival, that arrival will find no client and be given back.
            open_loop.reserve(self.thread);
        }
    }

    /// The longest waiting client of this group, unless all are reserved for arrivals.
    pub fn next_idle(&mut self, group: usize) -> Option<usize> {
        let open_loop = self.open_loops[group]?;
        if self.idle[group].is_empty() || !open_loop.reserve(self.thread) {
            return None;
        }
        self.idle[group].pop_front()
    }

    /// Hands an arrival that is due over to another thread; returns whether one had a free client.
    pub fn hand_over(&mut self, group: usize) -> bool {
        let Some(open_loop) = self.open_loops[group] else {
            return false;
        };
        let plan = &self.shared.plan.groups[group];
        match open_loop.hand_over(self.thread, self.now_ns, plan, &mut self.recorder) {
            Some(to_wake) => {
                self.shared.wake(to_wake);
                true
            }
            None => false,
        }
    }

    /// When the next timer expires or the next arrival that a free client can start is due.
    #[inline]
    pub fn due_ns(&self) -> u64 {
        let timer_ns = self.timers.next_ns().unwrap_or(u64::MAX);
        let groups = 0..self.open_loops.len();
        let arrivals = groups.map(|group| self.arrival_ns(group));
        timer_ns.min(arrivals.min().unwrap_or(u64::MAX))
    }

    /// When the group's arrivals must be checked; `u64::MAX` if no client can start one.
    #[inline]
    pub fn arrival_ns(&self, group: usize) -> u64 {
        self.open_loops[group].map_or(u64::MAX, |open_loop| {
            open_loop.next_check_ns(self.thread, self.now_ns)
        })
    }

    /// What opening a session at an endpoint needs; the session prepares these statements.
    pub fn opening<'o>(&'o mut self, endpoint: usize, to_prepare: &'o [u32]) -> Opening<'o> {
        Opening {
            deployment: &self.deployments[endpoint],
            plan: &self.shared.plan,
            to_prepare,
            registry: self.poll.registry(),
            scratch: &mut self.scratch,
            asks_server: false,
        }
    }

    /// Sends bytes that the socket did not accept before.
    ///
    /// # Errors
    /// If the connection was closed, or the operating system cannot watch another socket.
    #[cold]
    pub fn send_rest(
        &mut self,
        connection: &mut Connection,
        token: usize,
        answer: &mut Answer,
    ) -> Result<(), SystemError> {
        match connection.writable(&mut self.scratch) {
            Ok(()) => self.watch(connection, token),
            Err(error) => Err(connection.error_before_close(&error, &mut self.scratch, answer)),
        }
    }

    /// Registers what the session with this token waits for.
    ///
    /// # Errors
    /// If the operating system cannot watch another socket.
    pub fn watch(&self, connection: &mut Connection, token: usize) -> Result<(), SystemError> {
        connection
            .watch(self.poll.registry(), Token(token))
            .map_err(|error| out_of_resources(&error))
    }
}

/// The token with which other threads wake the loop.
pub const WAKER: Token = Token(usize::MAX - 2);
/// The token of the loop's timer; the tokens of clients' first sessions are their places, and those of other
/// sessions follow.
pub const TIMER: Token = Token(usize::MAX - 1);

// Takes the requests of clients; holds their bytes, one request behind the other, until they are sent.
//
// All clients of an event loop share these bytes. So they are still in the processor's caches when they are sent,
// which bytes of each client's own would not be with many clients.

/// A buffer that a large request has grown beyond this size is released.
const KEPT_BYTES: usize = 1024 * 1024;

#[derive(Debug, Default)]
pub struct SendBuffer {
    /// Append a request here, then call [`SendBuffer::push`].
    pub bytes: Vec<u8>,
    requests: Vec<Request>,
}

/// A request of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// The place of its client.
    pub place: usize,
    /// Where its bytes begin, and end.
    pub start: usize,
    end: usize,
}

impl SendBuffer {
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.requests.is_empty()
    }

    /// How many requests there are.
    #[inline]
    pub fn len(&self) -> usize {
        self.requests.len()
    }

    /// The bytes from `start` on are a request of the client at this place.
    #[inline]
    pub fn push(&mut self, place: usize, start: usize) {
        let end = self.bytes.len();
        self.requests.push(Request { place, start, end });
    }

    /// Each request, with its bytes.
    pub fn requests(&self) -> impl Iterator<Item = (Request, &[u8])> {
        let requests = self.requests.iter();
        requests.map(|request| (*request, &self.bytes[request.start..request.end]))
    }

    pub fn clear(&mut self) {
        self.requests.clear();
        self.bytes.clear();
        if self.bytes.capacity() > KEPT_BYTES {
            self.bytes = Vec::new();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::SendBuffer;

    #[test]
    fn each_request_has_its_own_bytes() {
        let mut send_buffer = SendBuffer::default();
        assert_eq!(send_buffer.requests().count(), 0);
        for (place, text) in [(3, "select 1"), (0, "commit"), (3, "begin")] {
            let start = send_buffer.bytes.len();
            send_buffer.bytes.extend_from_slice(text.as_bytes());
            send_buffer.push(place, start);
        }
        let requests: Vec<_> = (send_buffer.requests())
            .map(|(request, bytes)| (request.place, request.start, bytes))
            .collect();
        let expected: [(usize, usize, &[u8]); 3] =
            [(3, 0, b"select 1"), (0, 8, b"commit"), (3, 14, b"begin")];
        assert_eq!(requests, expected);
        send_buffer.clear();
        assert!(send_buffer.is_empty() && send_buffer.bytes.is_empty());
    }
}

//! One session of a null server: its socket, the server side of its protocol, and the session model, which
//! decides the reply to each statement.
//!
//! ```text
//!   socket ──► partial ──► wire server ──► planned reply ──► (later) ──► answer ──► unsent ──► socket
//! ```
//!
//! Usually no buffer of its own is used: a request arrives in one system call and its answer is sent in one.
//! While an answer is delayed, further requests stay in the kernel's buffer.

use std::io;
use std::io::{Read as _, Write as _};
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

use assay_drivers::null::{PlannedReply, ResultSize, SessionModel};
use assay_drivers::servers::{AnyServer, NewServer};
use assay_drivers::{ServerEvent, SystemError, WireServer as _};
use mio::event::{Event, Source as _};
use mio::{Interest, Registry, Token, Waker};

use crate::clock::{Clock, TimerQueue};
use crate::transport::{Socket, Unsent};

pub struct NullSession {
    socket: Socket,
    server: AnyServer,
    /// `None` for a client that is refused.
    model: Option<SessionModel>,
    /// An answer that is not written yet.
    pending: Option<PendingAnswer>,
    /// When it is due; `u64::MAX` if no answer is delayed.
    due_ns: u64,
    /// The beginning of a message, or everything after a delayed statement.
    partial: Vec<u8>,
    /// Bytes that the socket did not accept.
    unsent: Unsent,
    /// Whether the socket may hold more bytes.
    has_input: bool,
    /// The session ends as soon as everything is sent.
    is_over: bool,
    watches_writing: bool,
}

/// A buffer that a large message has grown beyond this size is released.
const KEPT_BYTES: usize = 1024 * 1024;

enum PendingAnswer {
    Rows(ResultSize),
    Error(SystemError),
}

impl NullSession {
    pub fn new(new_client: NewClient, new_server: NewServer) -> Self {
        let (model, admission) = match new_client.model {
            Ok(model) => {
                let low = model.ordinal & u64::from(u32::MAX);
                (Some(model), Ok(u32::try_from(low).expect("it has 32 bits")))
            }
            Err(refusal) => (None, Err(refusal)),
        };
        Self {
            socket: new_client.socket,
            server: new_server(admission),
            model,
            pending: None,
            due_ns: u64::MAX,
            partial: Vec::new(),
            unsent: Unsent::default(),
            has_input: false,
            is_over: false,
            watches_writing: false,
        }
    }

    /// The client has connected.
    pub fn begin(&mut self, context: &mut WorkerContext<'_>) -> SessionStatus {
        let watched =
            (self.socket).register(context.registry, Token(context.place), Interest::READABLE);
        if watched.is_err() {
            return SessionStatus::Ended;
        }
        let mut out = std::mem::take(&mut context.scratch.out);
        out.clear();
        self.server.connected(&mut out);
        let (_, status) = self.handle(&[], &mut out, context);
        context.scratch.out = out;
        status
    }

    /// The socket is readable, writable or closed.
    #[inline]
    pub fn ready(&mut self, event: &Event, context: &mut WorkerContext<'_>) -> SessionStatus {
        if !self.unsent.is_empty() && event.is_writable() {
            if self.flush().is_err() {
                return SessionStatus::Ended;
            }
            return self.go_on(context);
        }
        let is_closed = event.is_read_closed() || event.is_error();
        if !event.is_readable() && !is_closed {
            return SessionStatus::Open;
        }
        if is_closed && self.is_busy() {
            // The client no longer waits for the answer.
            return SessionStatus::Ended;
        }
        self.read(is_closed, context)
    }

    /// The timer that was set for `at_ns` has expired.
    pub fn woken(&mut self, at_ns: u64, context: &mut WorkerContext<'_>) -> SessionStatus {
        // Ignores the timer of an earlier session at this index.
        if self.due_ns != at_ns {
            return SessionStatus::Open;
        }
        self.due_ns = u64::MAX;
        self.go_on(context)
    }

    fn is_busy(&self) -> bool {
        self.pending.is_some() || !self.unsent.is_empty()
    }

    /// Sends the pending answer if it is due, and continues to read.
    fn go_on(&mut self, context: &mut WorkerContext<'_>) -> SessionStatus {
        if !self.unsent.is_empty() || self.due_ns != u64::MAX {
            return SessionStatus::Open;
        }
        let mut out = std::mem::take(&mut context.scratch.out);
        out.clear();
        let status = self.handle_partial(&mut out, context);
        context.scratch.out = out;
        if status == SessionStatus::Open && self.has_input && !self.is_busy() {
            return self.read(false, context);
        }
        status
    }

    #[inline]
    fn read(&mut self, is_closed: bool, context: &mut WorkerContext<'_>) -> SessionStatus {
        let mut out = std::mem::take(&mut context.scratch.out);
        let mut input = std::mem::take(&mut context.scratch.input);
        let status = loop {
            if self.is_busy() {
                self.has_input = true;
                break SessionStatus::Open;
            }
            let count = match self.socket.read(&mut input) {
                Ok(0) => break SessionStatus::Ended,
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.has_input = false;
                    break SessionStatus::Open;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(_) => break SessionStatus::Ended,
            };
            out.clear();
            let status = if self.partial.is_empty() {
                let (used, status) = self.handle(&input[..count], &mut out, context);
                self.partial.extend_from_slice(&input[used..count]);
                status
            } else {
                self.partial.extend_from_slice(&input[..count]);
                self.handle_partial(&mut out, context)
            };
            // A read that does not fill its buffer has emptied the socket.
            if status == SessionStatus::Ended || (count < input.len() && !is_closed) {
                self.has_input = false;
                break status;
            }
        };
        (context.scratch.out, context.scratch.input) = (out, input);
        status
    }

    /// The same with the bytes that were kept. The rest stays in place: a message in a thousand pieces is not
    /// copied a thousand times.
    fn handle_partial(
        &mut self,
        out: &mut Vec<u8>,
        context: &mut WorkerContext<'_>,
    ) -> SessionStatus {
        let mut bytes = std::mem::take(&mut self.partial);
        let (used, status) = self.handle(&bytes, out, context);
        if used == bytes.len() && bytes.capacity() > KEPT_BYTES {
            bytes = Vec::new();
        } else {
            bytes.drain(..used);
        }
        self.partial = bytes;
        status
    }

    /// Writes the pending answer, if any, and then handles the requests in `bytes`, until an answer is
    /// delayed or the bytes are used up. Returns how many it has used.
    #[inline]
    fn handle(
        &mut self,
        bytes: &[u8],
        out: &mut Vec<u8>,
        context: &mut WorkerContext<'_>,
    ) -> (usize, SessionStatus) {
        let mut used = 0;
        loop {
            if self.pending.is_some() && !self.write_pending(out) {
                break;
            }
            let Ok((size, demand)) = self.server.receive(&bytes[used..], out) else {
                // The bytes are no message of this protocol, so there is no answer.
                return (used, SessionStatus::Ended);
            };
            used += size;
            match (demand, &mut self.model) {
                (ServerEvent::Execute(statement), Some(model)) => {
                    *context.statements += 1;
                    let PlannedReply::Answered { after, error } =
                        model.plan_reply(statement, Instant::now())
                    else {
                        return (used, SessionStatus::Ended);
                    };
                    self.pending = Some(match error {
                        Some(error) => PendingAnswer::Error(error),
                        None => PendingAnswer::Rows(model.answer(statement)),
                    });
                    if after > Duration::ZERO {
                        let after_ns = u64::try_from(after.as_nanos()).unwrap_or(u64::MAX >> 1);
                        self.due_ns = context.clock.now_ns() + after_ns;
                        context.timers.set(self.due_ns, context.place);
                        break;
                    }
                }
                (ServerEvent::Loaded { table, rows }, Some(model)) => model.loaded(table, rows),
                (ServerEvent::More, _) => break,
                (_, None) | (ServerEvent::Over, _) => {
                    self.is_over = true;
                    break;
                }
            }
        }
        let sent = push(&mut self.socket, &mut self.unsent, out);
        if sent.is_err() || (self.is_over && self.unsent.is_empty()) {
            return (used, SessionStatus::Ended);
        }
        (used, self.watch(context))
    }

    /// Writes the pending answer; returns false if the client must first read some of it.
    #[inline]
    fn write_pending(&mut self, out: &mut Vec<u8>) -> bool {
        match &mut self.pending {
            None => {}
            Some(PendingAnswer::Error(error)) => self.server.fail(error, out),
            Some(PendingAnswer::Rows(given)) => {
                while !self.server.answer(given, out) {
                    let sent = push(&mut self.socket, &mut self.unsent, out);
                    out.clear();
                    if sent.is_err() {
                        self.is_over = true;
                        self.unsent.clear();
                    }
                    if self.is_over || !self.unsent.is_empty() {
                        return false;
                    }
                }
            }
        }
        self.pending = None;
        true
    }

    fn flush(&mut self) -> io::Result<()> {
        while !self.unsent.is_empty() {
            match self.socket.write(self.unsent.bytes()) {
                Ok(count) => self.unsent.advance(count),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Registers for writability only while it matters.
    #[inline]
    fn watch(&mut self, context: &mut WorkerContext<'_>) -> SessionStatus {
        let wants_writing = !self.unsent.is_empty();
        if wants_writing == self.watches_writing {
            return SessionStatus::Open;
        }
        self.watches_writing = wants_writing;
        let interest = if wants_writing {
            Interest::READABLE | Interest::WRITABLE
        } else {
            Interest::READABLE
        };
        match (self.socket).reregister(context.registry, Token(context.place), interest) {
            Ok(()) => SessionStatus::Open,
            Err(_) => SessionStatus::Ended,
        }
    }
}

/// Sends as far as the socket accepts it; keeps the rest in `unsent`.
#[inline]
fn push(socket: &mut Socket, unsent: &mut Unsent, mut bytes: &[u8]) -> io::Result<()> {
    while unsent.is_empty() && !bytes.is_empty() {
        match socket.write(bytes) {
            Ok(count) => bytes = &bytes[count..],
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    unsent.buffer().extend_from_slice(bytes);
    Ok(())
}

// The state that all sessions of one worker share.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionStatus {
    Open,
    Ended,
}

/// The state that all sessions of a thread share.
pub struct WorkerContext<'r> {
    /// The session's index in the thread's list.
    pub place: usize,
    pub registry: &'r Registry,
    pub timers: &'r mut TimerQueue,
    pub clock: Clock,
    pub scratch: &'r mut Buffers,
    pub statements: &'r mut u64,
}

pub struct Buffers {
    pub input: Box<[u8]>,
    pub out: Vec<u8>,
}

impl Default for Buffers {
    fn default() -> Self {
        // About what a Unix socket delivers at once during a bulk load.
        const INPUT_BYTES: usize = 256 * 1024;
        Self {
            input: vec![0; INPUT_BYTES].into(),
            out: Vec::new(),
        }
    }
}

/// A client that has connected.
pub struct NewClient {
    pub socket: Socket,
    pub model: Result<SessionModel, SystemError>,
}

/// The channel to a worker.
pub struct WorkerHandle {
    pub new_clients: Sender<NewClient>,
    pub waker: Waker,
}

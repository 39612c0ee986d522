//! Takes listening sockets, each with the address of a server; passes the bytes of all their connections on,
//! delayed, from one thread.
//!
//! The thread sleeps until a socket is ready or the next bytes are due (a kernel timer, [`Timer`]): it never
//! sleeps for a packet, so packets on the way overlap.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, Ordering};
use std::time::Duration;

use mio::event::Event;
use mio::net::{TcpListener, TcpStream};
use mio::{Events, Interest, Poll, Token, Waker};

use crate::clock::{Clock, Timer, TimerQueue, nanoseconds};
use crate::cost;
use crate::delay_proxy::relayed_connection::RelayedConnection;
use crate::transport::{Address, Socket};

const TIMER: Token = Token(0);
const WAKER: Token = Token(1);
/// The first of the listeners; connections follow them.
const FIRST_LISTENER: usize = 2;

/// How long a server's socket that takes no connection at the moment is left alone.
const RETRY_NS: u64 = 1_000_000;

const SCRATCH_BYTES: usize = 256 << 10;

/// A listening socket, and the server to which its connections lead.
pub type Route = (TcpListener, Address);

/// What the relay has done so far.
#[derive(Debug, Default)]
pub struct Progress {
    /// Set to end it.
    pub is_over: AtomicBool,
    /// The kernel's id of the relay's thread.
    pub thread: AtomicI32,
    /// Connections that were accepted.
    pub connections: AtomicU64,
}

/// All connections through a proxy.
pub struct Relay<'a> {
    poll: Poll,
    clock: Clock,
    timer: Timer,
    timers: TimerQueue,
    routes: Vec<Route>,
    /// By number; `None` once the connection has ended. Each has the number of its route.
    connections: Vec<Option<(RelayedConnection, usize)>>,
    free: Vec<usize>,
    one_way_ns: u64,
    scratch: Vec<u8>,
    /// Clients wait to be accepted until a connection ends: there are no more open files.
    is_full: bool,
    has_closed: bool,
    progress: &'a Progress,
}

impl<'a> Relay<'a> {
    /// The relay, and what wakes it after `Progress::is_over` was set.
    ///
    /// # Errors
    /// If the operating system lacks resources.
    pub fn new(
        mut routes: Vec<Route>,
        one_way: Duration,
        progress: &'a Progress,
    ) -> io::Result<(Self, Waker)> {
        let poll = Poll::new()?;
        let clock = Clock::start();
        let timer = Timer::new(poll.registry(), TIMER, clock)?;
        let waker = Waker::new(poll.registry(), WAKER)?;
        for (number, (listener, _)) in routes.iter_mut().enumerate() {
            let token = Token(FIRST_LISTENER + number);
            poll.registry().register(listener, token, Interest::READABLE)?;
        }
        let relay = Self {
            poll,
            clock,
            timer,
            timers: TimerQueue::default(),
            routes,
            connections: Vec::new(),
            free: Vec::new(),
            one_way_ns: nanoseconds(one_way),
            scratch: vec![0; SCRATCH_BYTES],
            is_full: false,
            has_closed: false,
            progress,
        };
        Ok((relay, waker))
    }

    /// Passes bytes on until it is over.
    ///
    /// # Errors
    /// If the operating system fails; a connection that fails is no error.
    pub fn run(mut self) -> io::Result<()> {
        let mut events = Events::with_capacity(256);
        let mut ready = Vec::new();
        self.progress.thread.store(cost::thread_id(), Ordering::Relaxed);
        while !self.progress.is_over.load(Ordering::Relaxed) {
            if let Some(next_ns) = self.timers.next_ns() {
                self.timer.set(next_ns);
            }
            match self.poll.poll(&mut events, None) {
                Err(error) if error.kind() != io::ErrorKind::Interrupted => return Err(error),
                _ => {}
            }
            let now_ns = self.clock.now_ns();
            for event in &events {
                self.note(event, &mut ready);
            }
            for number in ready.drain(..) {
                self.pass_on(number, now_ns);
            }
            let now_ns = self.clock.now_ns();
            while let Some((_, number)) = self.timers.due(now_ns) {
                self.pass_on(number, now_ns);
            }
            if std::mem::take(&mut self.has_closed) && std::mem::take(&mut self.is_full) {
                (0..self.routes.len()).for_each(|route| self.accept_all(route));
            }
        }
        Ok(())
    }

    /// Notes what a socket is ready for; the numbers of its connection go to `ready`.
    fn note(&mut self, event: &Event, ready: &mut Vec<usize>) {
        let first_connection = FIRST_LISTENER + self.routes.len();
        match event.token() {
            TIMER => self.timer.expired(),
            WAKER => {}
            Token(token) if token < first_connection => self.accept_all(token - FIRST_LISTENER),
            Token(token) => {
                let (number, is_server) =
                    ((token - first_connection) / 2, (token - first_connection) % 2 == 1);
                let Some(Some((connection, _))) = self.connections.get_mut(number) else {
                    return;
                };
                let is_readable = event.is_readable() || event.is_read_closed() || event.is_error();
                let is_writable =
                    event.is_writable() || event.is_write_closed() || event.is_error();
                match is_server {
                    true => connection.server_is(is_readable, is_writable),
                    false => connection.client_is(is_readable, is_writable),
                }
                ready.push(number);
            }
        }
    }

    /// Accepts every client that waits.
    fn accept_all(&mut self, route: usize) {
        loop {
            match self.routes[route].0.accept() {
                Ok((stream, _)) => self.open(stream, route),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(error) if matches!(error.raw_os_error(), Some(libc::EMFILE | libc::ENFILE)) => {
                    self.is_full = true;
                    return;
                }
                // The client has disconnected already.
                Err(_) => {}
            }
        }
    }

    fn open(&mut self, stream: TcpStream, route: usize) {
        // A connection that is gone already shows itself at its first read.
        let _ = stream.set_nodelay(true);
        let connection =
            RelayedConnection::new(Socket::Tcp(stream), self.one_way_ns, self.clock.now_ns());
        self.progress.connections.fetch_add(1, Ordering::Relaxed);
        let number = self.free.pop().unwrap_or_else(|| {
            self.connections.push(None);
            self.connections.len() - 1
        });
        let (client_token, _) = self.tokens(number);
        let (connection, _) = self.connections[number].insert((connection, route));
        match connection.watch_client(self.poll.registry(), client_token) {
            Ok(()) => self.connect(number),
            Err(_) => self.close(number),
        }
    }

    /// The tokens of the client's socket and of the server's.
    fn tokens(&self, number: usize) -> (Token, Token) {
        let first = FIRST_LISTENER + self.routes.len() + 2 * number;
        (Token(first), Token(first + 1))
    }

    fn connect(&mut self, number: usize) {
        let (_, server_token) = self.tokens(number);
        let Some((connection, route)) = &mut self.connections[number] else {
            return;
        };
        match connection.connect(&self.routes[*route].1, self.poll.registry(), server_token) {
            Ok(true) => {}
            Ok(false) => self.timers.set(self.clock.now_ns() + RETRY_NS, number),
            Err(_) => self.close(number),
        }
    }

    fn pass_on(&mut self, number: usize, now_ns: u64) {
        self.connect(number);
        let Some((connection, _)) = &mut self.connections[number] else {
            return;
        };
        match connection.pass_on(now_ns, &mut self.scratch) {
            Ok(due) => {
                for at_ns in due.into_iter().flatten() {
                    self.timers.set(at_ns, number);
                }
            }
            Err(_) => self.close(number),
        }
    }

    /// Closes both sockets. Its number may be used again at once: what is still noted under it is only a
    /// reason to look.
    fn close(&mut self, number: usize) {
        self.connections[number] = None;
        self.free.push(number);
        self.has_closed = true;
    }
}

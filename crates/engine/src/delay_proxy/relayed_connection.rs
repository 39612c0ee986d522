//! Takes an accepted client and the server's address; passes bytes between them, delayed in both directions.

use std::collections::VecDeque;
use std::io;
use std::io::{Read as _, Write as _};

use mio::{Interest, Registry, Token};

use crate::transport::{Address, Socket};

/// A client and its connection to the server.
#[derive(Debug)]
pub struct RelayedConnection {
    client: Socket,
    /// `None` until the server's socket accepts another connection.
    server: Option<Socket>,
    /// Whether the connection to the server is known to stand.
    is_connected: bool,
    /// From the client to the server.
    up: Direction,
    down: Direction,
}

impl RelayedConnection {
    /// A connection that takes as long to open as one over this distance: the client can send one round trip
    /// after it began, and the server half a round trip later.
    pub fn new(client: Socket, one_way_ns: u64, now_ns: u64) -> Self {
        Self {
            client,
            server: None,
            is_connected: false,
            up: Direction::new(one_way_ns, now_ns + 2 * one_way_ns),
            down: Direction::new(one_way_ns, now_ns + 3 * one_way_ns),
        }
    }

    /// Registers the client's socket.
    ///
    /// # Errors
    /// If the operating system cannot watch another socket.
    pub fn watch_client(&mut self, registry: &Registry, token: Token) -> io::Result<()> {
        let both = Interest::READABLE | Interest::WRITABLE;
        registry.register(&mut self.client, token, both)
    }

    /// Starts to connect to the server, unless that has begun; returns whether it has.
    ///
    /// # Errors
    /// If the server refuses.
    pub fn connect(
        &mut self,
        address: &Address,
        registry: &Registry,
        token: Token,
    ) -> io::Result<bool> {
        if self.server.is_some() {
            return Ok(true);
        }
        let mut server = match Socket::connect(address, 0) {
            Ok(server) => server,
            // A Unix socket whose listen queue is full.
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
            Err(error) => return Err(error),
        };
        registry.register(&mut server, token, Interest::READABLE | Interest::WRITABLE)?;
        self.server = Some(server);
        Ok(true)
    }

    /// Notes what the client's socket is ready for.
    pub fn client_is(&mut self, is_readable: bool, is_writable: bool) {
        self.up.is_readable |= is_readable;
        self.down.is_writable |= is_writable;
    }

    /// Notes what the server's socket is ready for.
    pub fn server_is(&mut self, is_readable: bool, is_writable: bool) {
        self.down.is_readable |= is_readable;
        self.up.is_writable |= is_writable;
    }

    /// Passes on what is due and takes in what has arrived; returns when that is due.
    ///
    /// # Errors
    /// If the server cannot be reached, or both directions have ended.
    pub fn pass_on(&mut self, now_ns: u64, scratch: &mut [u8]) -> io::Result<[Option<u64>; 2]> {
        let Self {
            client,
            server: Some(server),
            up,
            down,
            ..
        } = self
        else {
            return Ok([None, None]);
        };
        if !self.is_connected {
            if !up.is_writable || !server.is_connected()? {
                return Ok([None, None]);
            }
            self.is_connected = true;
        }
        up.deliver(server, now_ns);
        down.deliver(client, now_ns);
        if up.is_over && down.is_over {
            return Err(io::ErrorKind::ConnectionAborted.into());
        }
        // Behind the delivery: a buffer that was full has room again.
        Ok([up.receive(client, now_ns, scratch), down.receive(server, now_ns, scratch)])
    }
}

// Takes what one side of a connection sends; gives it to the other side when its delay is over, in order.
//
// Each read is stamped with the instant at which it is due, and waits in one buffer: neither the number of
// packets nor their size changes the delay.

/// Bytes that may be on the way in one direction; then the sender waits, as behind a full window. With 10 ms
/// one way they are 6.4 GB/s.
const MOST_BYTES: usize = 64 << 20;

/// One direction of a connection.
#[derive(Debug)]
pub struct Direction {
    delay_ns: u64,
    /// Nothing is sent before the handshake of a connection this long would have ended.
    not_before_ns: u64,
    bytes: VecDeque<u8>,
    /// The instant at which so many further bytes are due.
    due: VecDeque<(u64, usize)>,
    /// Bytes that are due and not written yet.
    ready: usize,
    /// When the end of the stream is due; `None` while the sender goes on.
    end_ns: Option<u64>,
    /// The sender may have something to read.
    pub is_readable: bool,
    /// The receiver may take something.
    pub is_writable: bool,
    /// The end was passed on.
    pub is_over: bool,
}

impl Direction {
    pub fn new(delay_ns: u64, not_before_ns: u64) -> Self {
        Self {
            delay_ns,
            not_before_ns,
            bytes: VecDeque::new(),
            due: VecDeque::new(),
            ready: 0,
            end_ns: None,
            is_readable: false,
            is_writable: false,
            is_over: false,
        }
    }

    /// Reads what has arrived; returns when it is due, or `None` if there was nothing. An error of the sender is
    /// its end: what it sent before is still on the way.
    pub fn receive(&mut self, from: &mut Socket, now_ns: u64, scratch: &mut [u8]) -> Option<u64> {
        let due_ns = now_ns.max(self.not_before_ns) + self.delay_ns;
        let before = self.bytes.len();
        while self.is_readable && self.end_ns.is_none() && self.bytes.len() < MOST_BYTES {
            match from.read(scratch) {
                Ok(0) => self.end_ns = Some(due_ns),
                Ok(count) => self.bytes.extend(&scratch[..count]),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.is_readable = false,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => self.end_ns = Some(due_ns),
            }
        }
        let received = self.bytes.len() - before;
        if received > 0 {
            self.due.push_back((due_ns, received));
        }
        (received > 0 || self.end_ns == Some(due_ns)).then_some(due_ns)
    }

    /// Writes what is due, and passes the end on behind the last byte. A receiver that is gone is the end, too.
    pub fn deliver(&mut self, to: &mut Socket, now_ns: u64) {
        while let Some((due_ns, count)) = self.due.front().copied()
            && due_ns <= now_ns
        {
            self.due.pop_front();
            self.ready += count;
        }
        while self.ready > 0 && self.is_writable {
            let (head, _) = self.bytes.as_slices();
            let head = &head[..head.len().min(self.ready)];
            match to.write(head) {
                Ok(count) if count > 0 => {
                    self.bytes.drain(..count);
                    self.ready -= count;
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.is_writable = false,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Ok(_) | Err(_) => return self.give_up(now_ns),
            }
        }
        let is_due = self.end_ns.is_some_and(|end_ns| end_ns <= now_ns);
        if is_due && self.bytes.is_empty() && !self.is_over {
            self.is_over = true;
            // The receiver may have closed the connection already.
            let _ = to.end_sending();
        }
    }

    /// What is on the way arrives nowhere. The other direction goes on: its sender may have said why it left.
    fn give_up(&mut self, now_ns: u64) {
        self.bytes.clear();
        self.due.clear();
        self.ready = 0;
        self.end_ns = Some(now_ns);
        self.is_over = true;
    }
}

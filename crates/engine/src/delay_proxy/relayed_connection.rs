//! Takes an accepted client and the server's address; passes bytes between them, delayed in both directions.

use std::io;

use mio::{Interest, Registry, Token};

use crate::delay_proxy::direction::Direction;
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
    #[must_use]
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
        Ok([
            up.receive(client, now_ns, scratch),
            down.receive(server, now_ns, scratch),
        ])
    }
}

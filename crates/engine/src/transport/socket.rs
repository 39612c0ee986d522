//! Takes an address; returns one non-blocking stream, TCP or Unix.

use std::io;
use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::fd::{AsFd, BorrowedFd};

use mio::event::Source;
use mio::net::{TcpStream, UnixStream};
use mio::{Interest, Registry, Token};
use rustix::net::{RecvFlags, SendFlags, recv, send};

use crate::transport::Address;

#[derive(Debug)]
pub enum Socket {
    Unix(UnixStream),
    Tcp(TcpStream),
}

impl Socket {
    /// Starts to connect to the address at index `place`. Call [`Socket::is_connected`] each time the socket
    /// becomes writable, until it returns true.
    ///
    /// # Errors
    /// If connecting failed at once; `WouldBlock` means that a Unix socket's listen queue is full at the
    /// moment.
    pub fn connect(address: &Address, place: usize) -> io::Result<Self> {
        match address {
            Address::Unix(path) => UnixStream::connect(path).map(Self::Unix),
            Address::Tcp { places, .. } => {
                let stream = TcpStream::connect(places[place])?;
                // Requests are small and wait for their answers: Nagle's algorithm would only delay them.
                stream.set_nodelay(true)?;
                Ok(Self::Tcp(stream))
            }
        }
    }

    /// Whether the socket is connected.
    ///
    /// # Errors
    /// If connecting has failed.
    pub fn is_connected(&self) -> io::Result<bool> {
        let (error, peer) = match self {
            Self::Unix(stream) => (stream.take_error()?, stream.peer_addr().map(drop)),
            Self::Tcp(stream) => (stream.take_error()?, stream.peer_addr().map(drop)),
        };
        match (error, peer) {
            (Some(error), _) => Err(error),
            (None, Ok(())) => Ok(true),
            (None, Err(error)) if error.kind() == io::ErrorKind::NotConnected => Ok(false),
            (None, Err(error)) => Err(error),
        }
    }

    /// Ends this direction: no more bytes follow.
    ///
    /// # Errors
    /// If the connection is gone.
    pub fn end_sending(&self) -> io::Result<()> {
        match self {
            Self::Unix(stream) => stream.shutdown(Shutdown::Write),
            Self::Tcp(stream) => stream.shutdown(Shutdown::Write),
        }
    }
}

impl AsFd for Socket {
    #[inline]
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Unix(stream) => stream.as_fd(),
            Self::Tcp(stream) => stream.as_fd(),
        }
    }
}

// Both calls go to the kernel directly: the C library makes each a point where the thread can be cancelled, which
// costs four atomic writes and some 150 instructions for each statement.
impl Read for Socket {
    #[inline]
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let (count, _) = recv(self.as_fd(), buffer, RecvFlags::empty())?;
        Ok(count)
    }
}

impl Write for Socket {
    #[inline]
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(send(self.as_fd(), bytes, SendFlags::NOSIGNAL)?)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Source for Socket {
    fn register(&mut self, to: &Registry, token: Token, interest: Interest) -> io::Result<()> {
        match self {
            Self::Unix(stream) => stream.register(to, token, interest),
            Self::Tcp(stream) => stream.register(to, token, interest),
        }
    }

    fn reregister(&mut self, to: &Registry, token: Token, interest: Interest) -> io::Result<()> {
        match self {
            Self::Unix(stream) => stream.reregister(to, token, interest),
            Self::Tcp(stream) => stream.reregister(to, token, interest),
        }
    }

    fn deregister(&mut self, from: &Registry) -> io::Result<()> {
        match self {
            Self::Unix(stream) => stream.deregister(from),
            Self::Tcp(stream) => stream.deregister(from),
        }
    }
}

// Takes bytes for a socket; returns those that it has not accepted yet. Nothing is moved when the socket
// accepts a part, so that a very long message costs no more per byte than a short one.

/// A buffer that a large message has grown beyond this size is released.
const KEPT_BYTES: usize = 1024 * 1024;

#[derive(Debug, Default)]
pub struct Unsent {
    bytes: Vec<u8>,
    /// How many of them have been sent; less than all, or 0.
    sent: usize,
}

impl Unsent {
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The bytes to send next.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[self.sent..]
    }

    /// Append more bytes here.
    #[inline]
    pub fn buffer(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }

    /// The socket has accepted the first `count` bytes.
    #[inline]
    pub fn advance(&mut self, count: usize) {
        self.sent += count;
        if self.sent >= self.bytes.len() {
            self.clear();
        }
    }

    /// Discards what has not been sent.
    #[inline]
    pub fn clear(&mut self) {
        self.sent = 0;
        self.bytes.clear();
        if self.bytes.capacity() > KEPT_BYTES {
            self.bytes = Vec::new();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sent_bytes_are_dropped_and_appended_bytes_follow() {
        let mut unsent = Unsent::default();
        unsent.buffer().extend_from_slice(b"abcdef");
        unsent.advance(2);
        unsent.buffer().extend_from_slice(b"gh");
        assert_eq!(unsent.bytes(), b"cdefgh");
        unsent.advance(6);
        assert!(unsent.is_empty() && unsent.bytes().is_empty());
        unsent.buffer().push(b'x');
        assert_eq!(unsent.bytes(), b"x");
    }
}

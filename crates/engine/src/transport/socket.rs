//! Takes an address; returns one non-blocking stream, TCP or Unix.

use std::io::{self, Read, Write};
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

//! Takes a serve document; returns the listening socket and the clients that connect to it.

use std::fs::File;
use std::io;
use std::net::{SocketAddr, ToSocketAddrs as _};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use assay_drivers::null::ServerModel;
use assay_drivers::{ErrorClass, SystemError};
use mio::event::Source;
use mio::net::{TcpListener, UnixListener};
use mio::{Events, Interest, Poll, Registry, Token};
use serde::Serialize;

use crate::EngineError;
use crate::document::ServeDocument;
use crate::null_server::session::{NewClient, WorkerHandle};
use crate::session::CHECK_EVERY;
use crate::transport::Socket;

pub enum Listener {
    /// With the socket file, which is removed with the listener.
    Unix(UnixListener, PathBuf),
    Tcp(TcpListener, SocketAddr),
}

const THIS_MACHINE: &str = "127.0.0.1";

impl Listener {
    /// # Errors
    /// If the document has no address, or the address cannot be used.
    pub fn open(document: &ServeDocument) -> Result<Self, EngineError> {
        match (&document.unix, document.port) {
            (Some(path), None) => {
                let listener =
                    UnixListener::bind(path).map_err(|error| cannot_listen(path, &error))?;
                Ok(Self::Unix(listener, path.into()))
            }
            (None, Some(port)) => {
                let host = document.host.as_deref().unwrap_or(THIS_MACHINE);
                let place = format!("{host} port {port}");
                let listener = (host, port)
                    .to_socket_addrs()
                    .and_then(|mut places| places.next().ok_or(io::ErrorKind::NotFound.into()))
                    .and_then(TcpListener::bind)
                    .map_err(|error| cannot_listen(&place, &error))?;
                let address = listener.local_addr();
                Ok(Self::Tcp(
                    listener,
                    address.map_err(|error| cannot_listen(&place, &error))?,
                ))
            }
            _ => Err(EngineError::Document(
                "the serve document: expected one of `unix` and `port`".to_owned(),
            )),
        }
    }

    /// Its address; the caller adds the protocol and the limit.
    pub fn address(&self) -> Listening {
        let (unix, tcp) = match self {
            Self::Unix(_, path) => (Some(path.display().to_string()), None),
            Self::Tcp(_, address) => (None, Some(address)),
        };
        Listening {
            protocol: String::new(),
            unix,
            host: tcp.map(|address| address.ip().to_string()),
            port: tcp.map(SocketAddr::port),
            open_files_limit: 0,
        }
    }

    /// Accepts the next client.
    ///
    /// # Errors
    /// `WouldBlock` if no client is waiting; other errors are limits of this process.
    pub fn accept(&self) -> io::Result<Socket> {
        match self {
            Self::Unix(listener, _) => listener.accept().map(|(stream, _)| Socket::Unix(stream)),
            Self::Tcp(listener, _) => {
                let (stream, _) = listener.accept()?;
                stream.set_nodelay(true)?;
                Ok(Socket::Tcp(stream))
            }
        }
    }

    /// Registers the listener with the poll of `registry` as `token`.
    ///
    /// # Errors
    /// If the operating system cannot watch another socket.
    pub fn watch(&mut self, registry: &Registry, token: Token) -> io::Result<()> {
        match self {
            Self::Unix(listener, _) => listener.register(registry, token, Interest::READABLE),
            Self::Tcp(listener, _) => listener.register(registry, token, Interest::READABLE),
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        if let Self::Unix(_, path) = self {
            // It does not matter if the file was removed before.
            let _ = std::fs::remove_file(path);
        }
    }
}

fn cannot_listen(place: &str, error: &io::Error) -> EngineError {
    let fix = match error.kind() {
        io::ErrorKind::AddrInUse => "; the address is in use: choose another, or remove it",
        _ => "",
    };
    let error = SystemError::new(ErrorClass::Other, "", format!("{error}{fix}"));
    EngineError::System(error, format!("listening at {place}"))
}

// The reports of a null server: its address, and its totals at the end.

/// The address of a running server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Listening {
    /// The protocol that the server speaks.
    pub protocol: String,
    /// The path of its Unix socket, if it listens at one.
    pub unix: Option<String>,
    /// The address of its TCP socket, if it listens at one.
    pub host: Option<String>,
    /// The port of its TCP socket, if it listens at one.
    pub port: Option<u16>,
    /// How many files, and so about how many sessions, this process may open.
    pub open_files_limit: u64,
}

/// The totals of a server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Served {
    /// Sessions that were opened.
    pub sessions: u64,
    /// Sessions that were refused.
    pub refused: u64,
    /// Statements that were answered.
    pub statements: u64,
}

#[derive(Debug, Default)]
pub struct Counts {
    pub sessions: AtomicU64,
    pub refused: AtomicU64,
    /// Each thread adds its own count when it ends.
    pub statements: AtomicU64,
}

impl Counts {
    pub fn total(&self) -> Served {
        Served {
            sessions: self.sessions.load(Ordering::Relaxed),
            refused: self.refused.load(Ordering::Relaxed),
            statements: self.statements.load(Ordering::Relaxed),
        }
    }
}

// Takes the clients that connect to the listener; passes each to the next worker in turn, with its session
// model or the error that refuses it.

pub struct Acceptor<'a> {
    listener: Listener,
    poll: Poll,
    server_model: &'a Arc<ServerModel>,
    counts: &'a Counts,
    handles: Vec<WorkerHandle>,
    next: usize,
    /// A file that is closed when no more files are allowed, so that one more client can be accepted and get
    /// the error.
    spare: Option<File>,
}

impl<'a> Acceptor<'a> {
    /// # Errors
    /// If the operating system lacks resources.
    pub fn new(
        mut listener: Listener,
        server_model: &'a Arc<ServerModel>,
        counts: &'a Counts,
        handles: Vec<WorkerHandle>,
    ) -> io::Result<Self> {
        let poll = Poll::new()?;
        listener.watch(poll.registry(), Token(0))?;
        Ok(Self {
            listener,
            poll,
            server_model,
            counts,
            handles,
            next: 0,
            spare: spare(),
        })
    }

    pub fn address(&self) -> Listening {
        self.listener.address()
    }

    /// Accepts clients until `go_on` breaks.
    ///
    /// # Errors
    /// If the operating system fails; a client that fails is no error.
    pub fn receive(&mut self, go_on: &mut dyn FnMut() -> ControlFlow<()>) -> io::Result<()> {
        let mut events = Events::with_capacity(4);
        while go_on().is_continue() {
            if let Err(error) = self.poll.poll(&mut events, Some(CHECK_EVERY))
                && error.kind() != io::ErrorKind::Interrupted
            {
                return Err(error);
            }
            // Even without an event: after running out of files the listener reports no further events.
            self.accept_all();
        }
        Ok(())
    }

    /// Wakes all workers so that they end.
    pub fn close(&self) {
        for handle in &self.handles {
            // A worker that cannot be woken checks periodically.
            let _ = handle.waker.wake();
        }
    }

    fn accept_all(&mut self) {
        loop {
            match self.listener.accept() {
                Ok(socket) => {
                    let model = self.server_model.open_session();
                    self.assign(NewClient { socket, model });
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(error) if lacks_files(&error) => {
                    self.spare = None;
                    let accepted = self.listener.accept();
                    self.spare = spare();
                    let Ok(socket) = accepted else {
                        return;
                    };
                    let model = Err(no_files());
                    self.assign(NewClient { socket, model });
                }
                // The client has disconnected already.
                Err(_) => {}
            }
        }
    }

    fn assign(&mut self, new_client: NewClient) {
        let count = match &new_client.model {
            Ok(_) => &self.counts.sessions,
            Err(_) => &self.counts.refused,
        };
        count.fetch_add(1, Ordering::Relaxed);
        let handle = &self.handles[self.next];
        self.next = (self.next + 1) % self.handles.len();
        // If the worker has panicked, its clients are disconnected, and the scope reports the panic.
        if handle.new_clients.send(new_client).is_ok() {
            let _ = handle.waker.wake();
        }
    }
}

fn spare() -> Option<File> {
    File::open("/dev/null").ok()
}

fn lacks_files(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EMFILE | libc::ENFILE))
}

fn no_files() -> SystemError {
    let message = "the null server cannot open more files; raise the limit: ulimit -n";
    SystemError::new(ErrorClass::TooManyConnections, "", message)
}

//! Takes a serve document; returns the listening socket and the clients that connect to it.

use std::io;
use std::net::{SocketAddr, ToSocketAddrs as _};
use std::path::PathBuf;

use assay_drivers::{ErrorClass, SystemError};
use mio::event::Source;
use mio::net::{TcpListener, UnixListener};
use mio::{Interest, Registry, Token};

use crate::EngineError;
use crate::document::ServeDocument;
use crate::null_server::report::Listening;
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
    #[must_use]
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

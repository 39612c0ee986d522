//! Takes a serve document; gives the socket at which clients knock, and those who do.

use std::io;
use std::net::{SocketAddr, ToSocketAddrs as _};
use std::path::PathBuf;

use assay_drivers::{ErrorClass, SystemError};
use mio::event::Source;
use mio::net::{TcpListener, UnixListener};
use mio::{Interest, Registry, Token};

use super::Listening;
use crate::EngineError;
use crate::document::ServeDocument;
use crate::transport::Socket;

pub enum Listener {
    /// With the file, which goes away with the listener.
    Unix(UnixListener, PathBuf),
    Tcp(TcpListener, SocketAddr),
}

const THIS_MACHINE: &str = "127.0.0.1";

impl Listener {
    /// # Errors
    /// If the document names no place, or nobody can listen there.
    pub fn open(document: &ServeDocument) -> Result<Self, EngineError> {
        match (&document.unix, document.port) {
            (Some(path), None) => {
                let listener = UnixListener::bind(path).map_err(|error| taken(path, &error))?;
                Ok(Self::Unix(listener, path.into()))
            }
            (None, Some(port)) => {
                let host = document.host.as_deref().unwrap_or(THIS_MACHINE);
                let place = format!("{host} port {port}");
                let listener = (host, port)
                    .to_socket_addrs()
                    .and_then(|mut places| places.next().ok_or(io::ErrorKind::NotFound.into()))
                    .and_then(TcpListener::bind)
                    .map_err(|error| taken(&place, &error))?;
                let address = listener.local_addr();
                Ok(Self::Tcp(
                    listener,
                    address.map_err(|error| taken(&place, &error))?,
                ))
            }
            _ => Err(EngineError::Document(
                "the serve document: expected one of `unix` and `port`".to_owned(),
            )),
        }
    }

    /// Where it is; the protocol and the limit are the caller's to say.
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

    /// Lets the next client in.
    ///
    /// # Errors
    /// `WouldBlock` where no client waits to connect; anything else is a limit of this process.
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

    /// Lets the poll of `registry` announce clients as `token`.
    ///
    /// # Errors
    /// If the operating system cannot watch one more socket.
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
            // Whoever removed it before has done what is wanted.
            let _ = std::fs::remove_file(path);
        }
    }
}

fn taken(place: &str, error: &io::Error) -> EngineError {
    let cure = match error.kind() {
        io::ErrorKind::AddrInUse => {
            "; something is there already: name another place, or remove it"
        }
        _ => "",
    };
    let error = SystemError::new(ErrorClass::Other, "", format!("{error}{cure}"));
    EngineError::System(error, format!("listening at {place}"))
}

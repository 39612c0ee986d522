//! Takes requests for one session; returns their answers. Combines a socket, optionally TLS, and a wire
//! driver. It never blocks: the caller knows when the socket is ready.
//!
//! ```text
//!   request ──► wire driver ──► [TLS] ──► unsent ──► socket
//!   answer  ◄── wire driver ◄── partial ◄── [TLS] ◄── socket
//! ```
//!
//! `unsent` holds what the socket did not accept; `partial` holds the beginning of an incomplete message. Usually an answer arrives in one system call and is parsed where it was
//! received.

mod receiving;

use std::io;
use std::io::Write as _;

use assay_drivers::registry::AnyWire;
use assay_drivers::{Answer, Cancel, Progress, Request, SystemError, Wire as _};
use mio::{Interest, Registry, Token};

use crate::session::WireDeployment;
use crate::session::connect_errors::{HandshakeBytes, connect_timed_out, preparing_timed_out};
use crate::session::security::Security;
use crate::transport::{Socket, Unsent};

/// In this order: first what every statement needs, so that it takes few lines of the processor's caches.
#[repr(C)]
pub struct Connection {
    socket: Socket,
    /// Where the request begins that was put last; `usize::MAX` before the first.
    put_at: usize,
    /// It was not sent yet.
    has_put: bool,
    is_connected: bool,
    /// An answer of a pipeline was parsed, and the next may already be in `partial`.
    more_to_take: bool,
    /// The socket may hold more than was read: no event will say so.
    pub has_unread: bool,
    /// The bytes that were received before the session was open; `None` once it is.
    opening: Option<Box<HandshakeBytes>>,
    /// Why nothing more can be sent: what the server sent before is read first.
    send_error: Option<io::Error>,
    unsent: Unsent,
    partial: Vec<u8>,
    /// A pipeline that is not complete yet.
    queued: Vec<u8>,
    wire: AnyWire,
    security: Security,
    /// How much of `partial` has been read: the answers of a pipeline are parsed one by one.
    taken: usize,
    registered: Option<Interest>,
    /// The index of the address it is connected to.
    pub place: usize,
}

impl Connection {
    /// Starts to connect to the address at index `place`; the session is open with the first
    /// [`Progress::Ready`] from [`Connection::receive`].
    ///
    /// # Errors
    /// If connecting failed at once (`WouldBlock`: retry a little later).
    pub fn begin(deployment: &WireDeployment, place: usize) -> io::Result<Self> {
        Ok(Self {
            socket: Socket::connect(&deployment.address, place)?,
            put_at: usize::MAX,
            has_put: false,
            is_connected: false,
            more_to_take: false,
            has_unread: false,
            opening: Some(Box::default()),
            send_error: None,
            unsent: Unsent::default(),
            partial: Vec::new(),
            queued: Vec::new(),
            wire: deployment.driver(),
            security: Security::new(deployment.tls.as_ref()),
            taken: 0,
            registered: None,
            place,
        })
    }

    pub fn is_connected(&self) -> bool {
        self.is_connected
    }

    pub fn has_unsent(&self) -> bool {
        !self.unsent.is_empty()
    }

    /// The error of a session that is not open in time.
    pub fn timed_out(&self, deployment: &WireDeployment) -> SystemError {
        match &self.opening {
            Some(opening) if self.is_connected => {
                let error = opening.timed_out(&deployment.address, deployment.connect_timeout);
                opening.explain(error, self.wire.name(), self.security.is_tls())
            }
            Some(_) => connect_timed_out(deployment),
            None => preparing_timed_out(deployment),
        }
    }

    /// The driver, for bulk rows.
    pub fn wire(&mut self) -> &mut AnyWire {
        &mut self.wire
    }

    /// How to cancel what the server runs for this session.
    pub fn cancel(&self) -> Option<Cancel> {
        self.wire.cancel()
    }

    pub fn server_version(&self) -> &str {
        self.wire.server_version()
    }

    /// The id of this session that the server gave at login; 0 where there is none.
    pub fn session_id(&self) -> u64 {
        self.wire.session_id()
    }

    /// Registers what this connection waits for, if that has changed. Writability is registered only while
    /// bytes are unsent: otherwise each answer would cause two events.
    ///
    /// # Errors
    /// If the operating system cannot watch another socket.
    pub fn watch(&mut self, registry: &Registry, token: Token) -> io::Result<()> {
        let interest = if self.is_connected && self.unsent.is_empty() {
            Interest::READABLE
        } else {
            Interest::READABLE | Interest::WRITABLE
        };
        match self.registered {
            // Registering again reports the bytes that are still in the socket.
            Some(current) if current == interest && !self.has_unread => return Ok(()),
            Some(_) => registry.reregister(&mut self.socket, token, interest)?,
            None => registry.register(&mut self.socket, token, interest)?,
        }
        self.registered = Some(interest);
        self.has_unread = false;
        Ok(())
    }

    /// The socket is writable: finishes connecting, or sends pending bytes.
    ///
    /// # Errors
    /// If nothing listens there, or the connection was closed.
    pub fn writable(&mut self, scratch: &mut Scratch) -> io::Result<()> {
        if self.is_connected {
            return self.flush();
        }
        if self.socket.is_connected()? {
            self.is_connected = true;
            if self.security.is_offered() && self.wire.begins_with_tls() {
                scratch.cipher.clear();
                (self.security.begin_handshake(&mut scratch.cipher)).map_err(io::Error::other)?;
                return self.push(&scratch.cipher);
            }
            scratch.out.clear();
            self.wire.connected(&mut scratch.out);
            self.send(scratch)?;
        }
        Ok(())
    }

    /// Starts a request and sends it as far as the socket accepts it; returns as [`Connection::put`].
    ///
    /// # Errors
    /// If the request cannot be encoded (the session is still usable, see [`ErrorClass::ends_the_session`]),
    /// or the connection was closed.
    #[inline]
    pub fn request(
        &mut self,
        request: &Request<'_>,
        scratch: &mut Scratch,
        answer: &mut Answer,
    ) -> Result<Progress, SystemError> {
        let mut bytes = Vec::new();
        let progress = self.put(request, &mut bytes, scratch, answer)?;
        self.has_put = false;
        match self.push(&bytes) {
            Ok(()) => Ok(progress),
            Err(error) => Err(self.error_before_close(&error, scratch, answer)),
        }
    }

    /// Starts a request and appends its bytes to `out`, for [`Connection::send_put`]: [`Progress::NeedMore`]. Anything
    /// else means that the answer needed no server and is complete; then nothing was appended.
    ///
    /// # Errors
    /// If the request cannot be encoded; nothing was appended, and the session is still usable.
    #[inline]
    pub fn put(
        &mut self,
        request: &Request<'_>,
        out: &mut Vec<u8>,
        scratch: &mut Scratch,
        answer: &mut Answer,
    ) -> Result<Progress, SystemError> {
        self.queued.clear();
        let start = out.len();
        if let Some(tls) = self.security.encrypted() {
            scratch.out.clear();
            self.wire.request(request, &mut scratch.out)?;
            if !scratch.out.is_empty() {
                tls.encrypt(&scratch.out, out);
            }
        } else if let Err(error) = self.wire.request(request, out) {
            out.truncate(start);
            return Err(error);
        }
        if out.len() == start {
            return self.answer_without_server(scratch, answer);
        }
        (self.put_at, self.has_put) = (start, true);
        Ok(Progress::NeedMore)
    }

    /// Sends a request as far as the socket accepts it: the bytes that were appended from `start` on. A request of an
    /// earlier connection, which was lost before, is dropped.
    ///
    /// # Errors
    /// If the connection was closed.
    #[inline]
    pub fn send_put(&mut self, start: usize, bytes: &[u8]) -> io::Result<()> {
        match self.put_at == start {
            true => {
                self.has_put = false;
                self.push(bytes)
            }
            false => Ok(()),
        }
    }

    fn answer_without_server(
        &mut self,
        scratch: &mut Scratch,
        answer: &mut Answer,
    ) -> Result<Progress, SystemError> {
        scratch.out.clear();
        let (_, progress) = self.wire.receive(&[], &mut scratch.out, answer)?;
        debug_assert!(
            progress != Progress::NeedMore && scratch.out.is_empty(),
            "a request without bytes is answered at once"
        );
        Ok(progress)
    }

    /// Whether several requests may be sent before the first answer.
    pub fn pipelines(&self) -> bool {
        self.wire.pipelines()
    }

    /// Adds a request to a pipeline. [`Connection::put_sync`] ends it; any other request discards it.
    ///
    /// # Errors
    /// If the request cannot be encoded; the session is still usable.
    pub fn queue(&mut self, request: &Request<'_>) -> Result<(), SystemError> {
        self.wire.queue(request, &mut self.queued)
    }

    /// Ends the pipeline and appends its bytes to `out`, which the caller sends like those of [`Connection::put`].
    /// Then [`Connection::receive`] returns [`Progress::Answered`] for each answer, and [`Progress::Ready`] at the
    /// end.
    pub fn put_sync(&mut self, out: &mut Vec<u8>) {
        self.wire.sync(&mut self.queued);
        (self.put_at, self.has_put) = (out.len(), true);
        match self.security.encrypted() {
            None => out.append(&mut self.queued),
            Some(tls) => {
                tls.encrypt(&self.queued, out);
                self.queued.clear();
            }
        }
    }

    /// Sends what the wire driver has written to `scratch.out`, as far as the socket accepts it.
    ///
    /// # Errors
    /// If the connection was closed.
    #[inline]
    pub fn send(&mut self, scratch: &mut Scratch) -> io::Result<()> {
        if let Some(tls) = self.security.encrypted() {
            scratch.cipher.clear();
            tls.encrypt(&scratch.out, &mut scratch.cipher);
            self.push(&scratch.cipher)
        } else {
            self.push(&scratch.out)
        }
    }

    /// Sends the message that ends the session, if that is possible without waiting.
    pub fn terminate(&mut self, scratch: &mut Scratch) {
        scratch.out.clear();
        if self.is_connected && self.unsent.is_empty() {
            self.wire.terminate(&mut scratch.out);
            // The session ends either way, so a failure does not matter.
            let _ = self.send(scratch);
        }
    }

    /// Sends the pending bytes of earlier requests, as far as the socket accepts them.
    ///
    /// # Errors
    /// If the connection was closed.
    pub fn flush(&mut self) -> io::Result<()> {
        while !self.unsent.is_empty() {
            match self.socket.write(self.unsent.bytes()) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
                Ok(count) => self.unsent.advance(count),
            }
        }
        Ok(())
    }

    #[inline]
    fn push(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while self.unsent.is_empty() && !bytes.is_empty() {
            match self.socket.write(bytes) {
                Ok(count) => bytes = &bytes[count..],
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        if !bytes.is_empty() {
            self.unsent.buffer().extend_from_slice(bytes);
        }
        Ok(())
    }
}

// Buffers that all sessions of a thread share, so that an idle session needs little memory.

/// The most bytes that one read returns.
const INPUT_BYTES: usize = 64 * 1024;

pub struct Scratch {
    /// The received bytes.
    pub input: Box<[u8]>,
    /// The received bytes after decryption.
    pub plain: Vec<u8>,
    /// The bytes to send.
    pub out: Vec<u8>,
    /// The bytes to send after encryption.
    pub cipher: Vec<u8>,
}

impl Scratch {
    pub fn new() -> Self {
        Self {
            input: vec![0; INPUT_BYTES].into_boxed_slice(),
            plain: Vec::new(),
            out: Vec::new(),
            cipher: Vec::new(),
        }
    }
}

//! Takes requests for one session; gives their answers: a socket, perhaps TLS, and a wire driver put
//! together. It never waits: the caller knows when the socket is ready.
//!
//! ```text
//!   request ──► wire driver ──► [TLS] ──► unsent ──► socket
//!   answer  ◄── wire driver ◄── partial ◄── [TLS] ◄── socket
//! ```
//!
//! `unsent` holds what is about to be sent and what the socket did not take; `partial` the beginning of a message
//! whose rest has not come. In the common case an answer comes in with one system call and is read
//! where it was received.

use std::io::{self, Read as _, Write as _};

use assay_drivers::registry::AnyWire;
use assay_drivers::{Answer, Cancel, ErrorClass, Progress, Request, SystemError, Wire as _};
use mio::{Interest, Registry, Token};

use super::connect_errors::lost;
use super::security::Security;
use super::{Scratch, WireSite};
use crate::transport::{Socket, Unsent};

/// A buffer of `partial` that one huge answer has blown up is given back beyond this size.
const KEPT_BYTES: usize = 1024 * 1024;

pub struct Connection {
    socket: Socket,
    /// Which place of the site's address it is connected to.
    place: usize,
    wire: AnyWire,
    security: Security,
    is_connected: bool,
    unsent: Unsent,
    partial: Vec<u8>,
    /// What of `partial` has been read: the answers of a pipeline are taken out one by one.
    taken: usize,
    /// An answer of a pipeline was taken, and the next one may have come with it.
    more_to_take: bool,
    /// A pipeline that is not complete yet.
    queued: Vec<u8>,
    registered: Option<Interest>,
}

impl Connection {
    /// Begins to connect to the `place`-th place of the site's address; the session is open with the
    /// first [`Progress::Ready`] that [`Connection::receive`] gives.
    ///
    /// # Errors
    /// Where connecting failed at once (`WouldBlock`: try again a little later).
    pub fn begin(site: &WireSite, place: usize) -> io::Result<Self> {
        Ok(Self {
            socket: Socket::connect(&site.address, place)?,
            place,
            wire: site.driver(),
            security: Security::new(site.tls.as_ref()),
            is_connected: false,
            unsent: Unsent::default(),
            partial: Vec::new(),
            taken: 0,
            more_to_take: false,
            queued: Vec::new(),
            registered: None,
        })
    }

    #[must_use]
    pub fn is_connected(&self) -> bool {
        self.is_connected
    }

    #[must_use]
    pub fn has_unsent(&self) -> bool {
        !self.unsent.is_empty()
    }

    /// The driver, for what is not a request (bulk rows).
    #[must_use]
    pub fn wire(&mut self) -> &mut AnyWire {
        &mut self.wire
    }

    /// How to break off what the server does for this session.
    #[must_use]
    pub fn cancel(&self) -> Option<Cancel> {
        self.wire.cancel()
    }

    /// The place of the site's address that it is connected to.
    #[must_use]
    pub fn place(&self) -> usize {
        self.place
    }

    #[must_use]
    pub fn server_version(&self) -> &str {
        self.wire.server_version()
    }

    /// Tells `registry` what this connection waits for, where that has changed. Writability is asked
    /// for only while it matters: otherwise each answer would be announced twice.
    ///
    /// # Errors
    /// Where the operating system cannot watch one more socket.
    pub fn watch(&mut self, registry: &Registry, token: Token) -> io::Result<()> {
        let wanted = if self.is_connected && self.unsent.is_empty() {
            Interest::READABLE
        } else {
            Interest::READABLE | Interest::WRITABLE
        };
        match self.registered {
            Some(interest) if interest == wanted => return Ok(()),
            Some(_) => registry.reregister(&mut self.socket, token, wanted)?,
            None => registry.register(&mut self.socket, token, wanted)?,
        }
        self.registered = Some(wanted);
        Ok(())
    }

    /// The socket is writable: ends connecting, or sends what is left.
    ///
    /// # Errors
    /// Where nobody listens, or the connection is over.
    pub fn writable(&mut self, scratch: &mut Scratch) -> io::Result<()> {
        if self.is_connected {
            return self.flush();
        }
        if self.socket.is_connected()? {
            self.is_connected = true;
            scratch.out.clear();
            self.wire.connected(&mut scratch.out);
            self.send(scratch)?;
        }
        Ok(())
    }

    /// Begins a request and sends it as far as the socket takes it.
    ///
    /// # Errors
    /// Where the request cannot be expressed (then the session is still good, see
    /// [`ErrorClass::ends_the_session`]), or the connection is over.
    #[inline]
    pub fn request(
        &mut self,
        request: &Request<'_>,
        scratch: &mut Scratch,
        answer: &mut Answer,
    ) -> Result<(), SystemError> {
        self.put(request, scratch)?;
        self.flush()
            .map_err(|error| self.last_words(&error, scratch, answer))
    }

    /// Begins a request, whose bytes [`Connection::flush`] sends.
    ///
    /// # Errors
    /// Where the request cannot be expressed; the session is still good.
    #[inline]
    pub fn put(&mut self, request: &Request<'_>, scratch: &mut Scratch) -> Result<(), SystemError> {
        self.queued.clear();
        let Some(tls) = self.security.encrypted() else {
            let unsent = self.unsent.buffer();
            let start = unsent.len();
            let written = self.wire.request(request, unsent);
            if written.is_err() {
                unsent.truncate(start);
            }
            return written;
        };
        scratch.out.clear();
        self.wire.request(request, &mut scratch.out)?;
        tls.encrypt(&scratch.out, self.unsent.buffer());
        Ok(())
    }

    /// Whether several requests may be sent before the first answer.
    #[must_use]
    pub fn pipelines(&self) -> bool {
        self.wire.pipelines()
    }

    /// Adds a request to a pipeline, which [`Connection::put_sync`] ends and any other request forgets.
    ///
    /// # Errors
    /// Where the request cannot be expressed; the session is still good.
    pub fn queue(&mut self, request: &Request<'_>) -> Result<(), SystemError> {
        self.wire.queue(request, &mut self.queued)
    }

    /// Ends the pipeline, whose bytes the caller then sends as those of [`Connection::put`]. Then
    /// [`Connection::receive`] gives [`Progress::Answered`] for each of its answers, and
    /// [`Progress::Ready`] at its end.
    pub fn put_sync(&mut self) {
        self.wire.sync(&mut self.queued);
        match self.security.encrypted() {
            None => self.unsent.buffer().append(&mut self.queued),
            Some(tls) => {
                tls.encrypt(&self.queued, self.unsent.buffer());
                self.queued.clear();
            }
        }
    }

    /// Sends what the wire driver has put into `scratch.out`, as far as the socket takes it.
    ///
    /// # Errors
    /// Where the connection is over.
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

    /// Reads what there is until the request under way is answered, or the socket is empty. After
    /// [`Progress::Answered`] it must be called again, without waiting for the socket: further answers
    /// may have come with the first.
    ///
    /// With `is_closed` (the server has hung up) it reads to the end, since no further readiness will
    /// be announced. Otherwise a read that did not fill its buffer has emptied the socket, and the
    /// next bytes will be announced: no second system call is spent on finding out.
    ///
    /// # Errors
    /// Where the server refused the session, hung up, or spoke against the protocol.
    #[inline]
    pub fn receive(
        &mut self,
        is_closed: bool,
        scratch: &mut Scratch,
        answer: &mut Answer,
    ) -> Result<Progress, SystemError> {
        if self.more_to_take {
            let (_, progress) = self.feed_partial(&mut scratch.out, answer)?;
            if progress != Progress::NeedMore {
                return Ok(progress);
            }
        }
        loop {
            let count = match self.socket.read(&mut scratch.input) {
                Ok(0) => return Err(in_its_words(hung_up(), answer)),
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    return Ok(Progress::NeedMore);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(in_its_words(lost(&error), answer)),
            };
            let progress = self.take(count, scratch, answer)?;
            if progress != Progress::NeedMore || (count < scratch.input.len() && !is_closed) {
                return Ok(progress);
            }
        }
    }

    /// Says goodbye as far as that is possible without waiting.
    pub fn goodbye(&mut self, scratch: &mut Scratch) {
        scratch.out.clear();
        if self.is_connected && self.unsent.is_empty() {
            self.wire.goodbye(&mut scratch.out);
            // The session ends either way: a server that no longer listens has missed nothing.
            let _ = self.send(scratch);
        }
    }

    /// Sends what is left of earlier requests, as far as the socket takes it.
    ///
    /// # Errors
    /// Where the connection is over.
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

    fn push(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while self.unsent.is_empty() && !bytes.is_empty() {
            match self.socket.write(bytes) {
                Ok(count) => bytes = &bytes[count..],
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        self.unsent.buffer().extend_from_slice(bytes);
        Ok(())
    }

    /// Hands `count` bytes that have just been read to TLS and to the driver.
    #[inline]
    fn take(
        &mut self,
        count: usize,
        scratch: &mut Scratch,
        answer: &mut Answer,
    ) -> Result<Progress, SystemError> {
        let Scratch {
            input,
            plain,
            out,
            cipher,
        } = scratch;
        out.clear();
        let mut bytes = &input[..count];
        if let Some(tls) = self.security.layer() {
            plain.clear();
            cipher.clear();
            let decrypted = tls.decrypt(bytes, plain, cipher);
            // Also what TLS has to say of its own end: the server may print why we left.
            let pushed = self.push(cipher);
            decrypted?;
            pushed.map_err(|error| lost(&error))?;
            bytes = plain;
        }
        if self.security.ends_handshake() {
            self.wire.secured(out);
        }
        let progress = if bytes.is_empty() {
            Progress::NeedMore
        } else {
            let (used, progress) = self.feed(bytes, out, answer)?;
            self.security.settle(used > 0, progress)?;
            progress
        };
        if !out.is_empty() {
            self.send(scratch).map_err(|error| lost(&error))?;
        }
        if progress != Progress::StartTls {
            return Ok(progress);
        }
        if !self.partial.is_empty() {
            // Whatever stands between the offer and the handshake, a listener may have put there.
            return Err(SystemError::protocol("a TLS handshake", "bytes before it"));
        }
        scratch.cipher.clear();
        self.security.begin_handshake(&mut scratch.cipher)?;
        self.push(&scratch.cipher).map_err(|error| lost(&error))?;
        Ok(Progress::NeedMore)
    }

    /// Gives bytes to the driver; what is left of them is the beginning of a message, and kept.
    #[inline]
    fn feed(
        &mut self,
        bytes: &[u8],
        out: &mut Vec<u8>,
        answer: &mut Answer,
    ) -> Result<(usize, Progress), SystemError> {
        if self.partial.is_empty() {
            let (used, progress) = self.wire.receive(bytes, out, answer)?;
            self.partial.extend_from_slice(&bytes[used..]);
            self.more_to_take = progress == Progress::Answered;
            return Ok((used, progress));
        }
        self.partial.extend_from_slice(bytes);
        self.feed_partial(out, answer)
    }

    /// Gives the driver what is left of earlier bytes.
    fn feed_partial(
        &mut self,
        out: &mut Vec<u8>,
        answer: &mut Answer,
    ) -> Result<(usize, Progress), SystemError> {
        let (used, progress) = self
            .wire
            .receive(&self.partial[self.taken..], out, answer)?;
        self.more_to_take = progress == Progress::Answered;
        self.taken += used;
        // The bytes of a pipeline's answers move only once, when the last whole one is taken.
        if !self.more_to_take {
            self.partial.drain(..self.taken);
            self.taken = 0;
            if self.partial.is_empty() && self.partial.capacity() > KEPT_BYTES {
                self.partial = Vec::new();
            }
        }
        Ok((used, progress))
    }

    /// Writing failed: reads what the server said before it hung up, which tells more than «broken
    /// pipe».
    #[cold]
    pub fn last_words(
        &mut self,
        error: &io::Error,
        scratch: &mut Scratch,
        answer: &mut Answer,
    ) -> SystemError {
        match self.receive(true, scratch, answer) {
            Err(said) if said.class != ErrorClass::Protocol => said,
            _ => in_its_words(lost(error), answer),
        }
    }
}

fn hung_up() -> SystemError {
    SystemError::new(
        ErrorClass::LostConnection,
        "",
        "the server closed the connection",
    )
}

/// An error that the server sent and took for one of the statement's says why it then hung up.
#[cold]
fn in_its_words(lost: SystemError, answer: &mut Answer) -> SystemError {
    match answer.error.take() {
        Some(said) => said.lost(),
        None => lost,
    }
}

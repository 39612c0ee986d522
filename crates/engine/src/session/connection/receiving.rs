//! Takes bytes from the socket of a session; passes them to the wire driver, which fills the answer.

use std::io::{self, Read as _};

use assay_drivers::{Answer, ErrorClass, Progress, SystemError, Wire as _};

use crate::session::Scratch;
use crate::session::connect_errors::lost;
use crate::session::connection::Connection;

/// How often a socket is read at most before others get their turn: a server may send without an end.
const MOST_READS: usize = 256;

/// The longest message that servers of any protocol send, with a value of 1 GiB in a row.
const MOST_MESSAGE_BYTES: usize = 1100 * 1024 * 1024;

/// A `partial` buffer that a large answer has grown beyond this size is released.
const KEPT_BYTES: usize = 1024 * 1024;

impl Connection {
    /// Reads until the current request is answered or the socket is empty. After [`Progress::Answered`] call
    /// it again without waiting for the socket: more answers may have arrived with the first.
    ///
    /// With `is_closed` (the server has closed the connection) it reads to the end, since no further
    /// readiness is reported. Otherwise a read that does not fill its buffer has emptied the socket, and new
    /// bytes will be reported: no second system call is needed.
    ///
    /// # Errors
    /// If the server refused the session, closed the connection, or violated the protocol.
    #[inline]
    pub fn receive(
        &mut self,
        is_closed: bool,
        scratch: &mut Scratch,
        answer: &mut Answer,
    ) -> Result<Progress, SystemError> {
        (self.receive_bytes(is_closed, scratch, answer)).map_err(|error| self.explained(error))
    }

    /// While a session opens, an error may come from the server of another protocol.
    #[cold]
    fn explained(&self, error: SystemError) -> SystemError {
        match &self.opening {
            Some(opening) => opening.explain(error, self.wire.name(), self.security.is_tls()),
            None => error,
        }
    }

    #[inline]
    fn receive_bytes(
        &mut self,
        is_closed: bool,
        scratch: &mut Scratch,
        answer: &mut Answer,
    ) -> Result<Progress, SystemError> {
        if self.more_to_take {
            scratch.out.clear();
            let (_, progress) = self.feed_partial(&mut scratch.out, answer)?;
            if !scratch.out.is_empty() {
                self.reply(scratch);
            }
            if progress != Progress::NeedMore {
                return Ok(progress);
            }
        }
        for _ in 0..MOST_READS {
            let count = match self.socket.read(&mut scratch.input) {
                Ok(0) => return Err(with_sent_error(closed_by_server(), answer)),
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    return match self.send_error.take() {
                        None => Ok(Progress::NeedMore),
                        Some(error) => Err(with_sent_error(lost(&error), answer)),
                    };
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(with_sent_error(lost(&error), answer)),
            };
            if let Some(opening) = &mut self.opening {
                opening.add(&scratch.input[..count])?;
            }
            let progress = self.take(count, scratch, answer)?;
            if progress == Progress::Ready {
                self.opening = None;
            }
            let is_emptied = count < scratch.input.len() && !is_closed;
            if progress != Progress::NeedMore || (is_emptied && self.send_error.is_none()) {
                return Ok(progress);
            }
        }
        self.has_unread = true;
        Ok(Progress::NeedMore)
    }

    /// Sends what the driver answers to the server's message. Where that fails, the server may have said why
    /// before it closed the connection: reading goes on.
    fn reply(&mut self, scratch: &mut Scratch) {
        let sent = self.send(scratch);
        self.note_sent(sent);
    }

    #[inline]
    fn note_sent(&mut self, sent: io::Result<()>) {
        if let Err(error) = sent {
            self.send_error = Some(error);
        }
    }

    /// Passes `count` received bytes through TLS to the driver.
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
            let decrypted = tls.decrypt(bytes, plain);
            // A request that waits to be sent was encrypted before TLS's own messages: these go with the next one.
            if !self.has_put || decrypted.is_err() {
                tls.take_records(cipher);
            }
            // Sends TLS alerts as well: the server may log why the client left.
            let pushed = self.push(cipher);
            decrypted?;
            self.note_sent(pushed);
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
            self.reply(scratch);
        }
        if progress != Progress::StartTls {
            return Ok(progress);
        }
        if !self.partial.is_empty() {
            // Bytes between the offer and the handshake may have been injected.
            return Err(SystemError::protocol("a TLS handshake", "bytes before it"));
        }
        scratch.cipher.clear();
        self.security.begin_handshake(&mut scratch.cipher)?;
        let pushed = self.push(&scratch.cipher);
        self.note_sent(pushed);
        Ok(Progress::NeedMore)
    }

    /// Passes bytes to the driver; keeps the rest, the beginning of a message.
    #[inline]
    fn feed(
        &mut self,
        bytes: &[u8],
        out: &mut Vec<u8>,
        answer: &mut Answer,
    ) -> Result<(usize, Progress), SystemError> {
        if self.partial.is_empty() {
            let (used, progress) = self.wire.receive(bytes, out, answer)?;
            self.note_read(used);
            self.partial.extend_from_slice(&bytes[used..]);
            self.more_to_take = progress == Progress::Answered;
            return Ok((used, progress));
        }
        if self.partial.len() > MOST_MESSAGE_BYTES {
            return Err(endless("the end of a message", self.partial.len()));
        }
        self.partial.extend_from_slice(bytes);
        self.feed_partial(out, answer)
    }

    #[inline]
    fn note_read(&mut self, used: usize) {
        if used > 0
            && let Some(opening) = &mut self.opening
        {
            opening.driver_has_read();
        }
    }

    /// Passes the rest of earlier bytes to the driver.
    fn feed_partial(
        &mut self,
        out: &mut Vec<u8>,
        answer: &mut Answer,
    ) -> Result<(usize, Progress), SystemError> {
        let (used, progress) = self
            .wire
            .receive(&self.partial[self.taken..], out, answer)?;
        self.note_read(used);
        self.more_to_take = progress == Progress::Answered;
        self.taken += used;
        // The bytes of a pipeline's answers are moved only once, after the last complete answer.
        if !self.more_to_take {
            self.partial.drain(..self.taken);
            self.taken = 0;
            if self.partial.is_empty() && self.partial.capacity() > KEPT_BYTES {
                self.partial = Vec::new();
            }
        }
        Ok((used, progress))
    }

    /// Writing failed: reads the error that the server may have sent before it closed the connection, which
    /// says more than “broken pipe”.
    #[cold]
    pub fn error_before_close(
        &mut self,
        error: &io::Error,
        scratch: &mut Scratch,
        answer: &mut Answer,
    ) -> SystemError {
        match self.receive(true, scratch, answer) {
            Err(sent) if sent.class != ErrorClass::Protocol => sent,
            _ => with_sent_error(lost(error), answer),
        }
    }
}

#[cold]
fn endless(expected: &str, received: usize) -> SystemError {
    SystemError::protocol(expected, format!("{received} bytes without it"))
}

fn closed_by_server() -> SystemError {
    SystemError::new(
        ErrorClass::LostConnection,
        "",
        "the server closed the connection",
    )
}

/// An error that the server sent before it closed the connection is the reason for the loss.
#[cold]
fn with_sent_error(lost: SystemError, answer: &mut Answer) -> SystemError {
    match answer.error.take() {
        Some(sent) => sent.lost(),
        None => lost,
    }
}

#[cfg(test)]
mod tests;

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
mod tests {
    #![expect(clippy::unwrap_used, reason = "in a test a panic is the message")]

    use std::io::{ErrorKind, Read as _, Write as _};
    use std::net::{TcpListener, TcpStream};
    use std::process::{Command, Stdio};
    use std::sync::Arc;
    use std::time::{Duration, Instant};

    use assay_drivers::{Keep, Request};
    use rustls::pki_types::pem::PemObject as _;
    use rustls::pki_types::{CertificateDer, PrivateKeyDer};
    use rustls::{ServerConfig, ServerConnection};
    use serde_json::json;

    use super::*;
    use crate::document::DeploymentDocument;
    use crate::session::Deployment;

    /// A key and its certificate in one text; `None` where this machine has no openssl.
    fn certificate() -> Option<Vec<u8>> {
        let made = Command::new("openssl")
            .args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"])
            .args(["-nodes", "-subj", "/CN=localhost", "-keyout", "-", "-out", "-"])
            .stderr(Stdio::null())
            .output();
        let made = made.ok()?;
        made.status.success().then_some(made.stdout)
    }

    /// A server's side of one session, step by step.
    struct Peer {
        stream: TcpStream,
        tls: ServerConnection,
    }

    impl Peer {
        /// Passes on what has arrived; returns the decrypted bytes.
        fn turn(&mut self) -> Vec<u8> {
            let mut bytes = [0; 64 * 1024];
            if let Ok(count) = self.stream.read(&mut bytes) {
                let mut received = &bytes[..count];
                while !received.is_empty() {
                    self.tls.read_tls(&mut received).unwrap();
                    self.tls.process_new_packets().expect("records in order");
                }
            }
            self.flush();
            let mut plain = Vec::new();
            match self.tls.reader().read_to_end(&mut plain) {
                Err(error) if error.kind() != ErrorKind::WouldBlock => panic!("{error}"),
                _ => plain,
            }
        }

        fn flush(&mut self) {
            while self.tls.wants_write() {
                self.tls.write_tls(&mut self.stream).unwrap();
            }
        }

        /// Waits for these bytes.
        fn hear(&mut self, expected: &[u8]) {
            let mut heard = Vec::new();
            until(|| {
                heard.extend(self.turn());
                heard.len() >= expected.len()
            });
            assert_eq!(heard, expected);
        }

        fn say(&mut self, plain: &[u8]) {
            self.tls.writer().write_all(plain).unwrap();
            self.flush();
        }
    }

    fn message(tag: u8, body: &[u8]) -> Vec<u8> {
        let length = u32::try_from(body.len() + 4).unwrap();
        [&[tag], &length.to_be_bytes()[..], body].concat()
    }

    /// Repeats a step until it has had its effect.
    fn until(mut step: impl FnMut() -> bool) {
        let begun = Instant::now();
        while !step() {
            assert!(begun.elapsed() < Duration::from_secs(60), "nothing arrives");
            std::thread::yield_now();
        }
    }

    /// The server asks for new keys while a request, encrypted with the old ones, waits to be sent.
    #[test]
    fn a_change_of_keys_comes_after_the_request_that_waits_to_be_sent() {
        let Some(pem) = certificate() else {
            return eprintln!("skipped: no openssl on this machine to create a certificate");
        };
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let deployment = json!({
            "driver": "postgresql", "host": "127.0.0.1", "port": port, "user": "test", "tls": "require",
        });
        let deployment = DeploymentDocument::parse(&deployment.to_string()).unwrap();
        let Deployment::Wire(deployment) = Deployment::of(&deployment).unwrap() else {
            panic!("it is a server")
        };
        let mut connection = Connection::begin(&deployment, 0).unwrap();
        let (mut stream, _) = listener.accept().unwrap();
        let (mut scratch, mut answer) = (Scratch::new(), Answer::new(Keep::Count));

        // The request for TLS, the handshake and the login.
        until(|| {
            connection.writable(&mut scratch).unwrap();
            connection.is_connected()
        });
        let mut asked = [0; 8];
        stream.read_exact(&mut asked).unwrap();
        stream.write_all(b"S").unwrap();
        stream.set_nonblocking(true).unwrap();
        let certificates = CertificateDer::pem_slice_iter(&pem);
        let ring = Arc::new(rustls::crypto::ring::default_provider());
        let accepted = ServerConfig::builder_with_provider(ring)
            .with_protocol_versions(&[&rustls::version::TLS13])
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(
                certificates.collect::<Result<_, _>>().unwrap(),
                PrivateKeyDer::from_pem_slice(&pem).unwrap(),
            )
            .unwrap();
        let tls = ServerConnection::new(Arc::new(accepted)).unwrap();
        let mut peer = Peer { stream, tls };
        until(|| {
            if !peer.turn().is_empty() {
                peer.say(&[message(b'R', &[0; 4]), message(b'Z', b"I")].concat());
            }
            let progress = connection.receive(false, &mut scratch, &mut answer);
            progress.unwrap() == Progress::Ready
        });

        let mut bytes = Vec::new();
        let request = Request::Text("SELECT 1");
        (connection.put(&request, &mut bytes, &mut scratch, &mut answer)).unwrap();
        peer.tls.refresh_traffic_keys().unwrap();
        peer.flush();
        let progress = connection.receive(false, &mut scratch, &mut answer);
        assert_eq!(progress, Ok(Progress::NeedMore));
        connection.send_put(0, &bytes).unwrap();
        peer.hear(&message(b'Q', b"SELECT 1\0"));
        peer.say(&[message(b'C', b"SELECT 1\0"), message(b'Z', b"I")].concat());
        until(|| connection.receive(false, &mut scratch, &mut answer) == Ok(Progress::Ready));
        // The next request brings the client's new keys.
        bytes.clear();
        (connection.put(&request, &mut bytes, &mut scratch, &mut answer)).unwrap();
        connection.send_put(0, &bytes).unwrap();
        peer.hear(&message(b'Q', b"SELECT 1\0"));
    }
}

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

use crate::document::DeploymentDocument;
use crate::session::Deployment;
use crate::session::connection::receiving::*;

/// A key and its certificate in one text; `None` where this machine has no openssl.
fn certificate() -> Option<Vec<u8>> {
    let made = Command::new("openssl")
        .args([
            "req",
            "-x509",
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:P-256",
        ])
        .args([
            "-nodes",
            "-subj",
            "/CN=localhost",
            "-keyout",
            "-",
            "-out",
            "-",
        ])
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

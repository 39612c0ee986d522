//! TLS between the socket and the driver, against a real server with its own certificate.

use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use assay_engine::{EngineError, Session};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use serde_json::{Value, json};

use crate::serve::served;
use crate::support::server::{Server, give_to_server};
use crate::support::{deployed, driven, of_system, outcomes};

#[test]
fn sessions_are_encrypted_as_requested() {
    let folder = tempfile::tempdir().unwrap();
    if !make_certificate(folder.path()) {
        // Written to stderr directly, since the test harness hides the output of tests that pass.
        let _ = std::io::Write::write_all(
            &mut std::io::stderr(),
            concat!(
                "skipped: no openssl on this machine to create a certificate",
                "\n"
            )
            .as_bytes(),
        );
        return;
    }
    let (certificate, key) = (
        folder.path().join("server.crt"),
        folder.path().join("server.key"),
    );
    let settings = [
        "ssl=on".to_owned(),
        format!("ssl_cert_file={}", certificate.display()),
        format!("ssl_key_file={}", key.display()),
    ];
    let settings: Vec<&str> = settings.iter().map(String::as_str).collect();
    let Some(server) = Server::start(&settings) else {
        return;
    };
    let deployment = |tls: &str, ca_file: Option<&Path>, host: &str| {
        json!({
            "driver": "postgresql", "host": host, "port": server.port, "user": "postgres",
            "tls": tls, "ca_file": ca_file,
        })
    };

    for (tls, expected) in [("off", "f"), ("prefer", "t"), ("require", "t")] {
        assert_eq!(
            is_encrypted(&deployment(tls, None, "localhost")).unwrap(),
            expected,
            "{tls}"
        );
    }
    let trusted = deployment("verify", Some(&certificate), "localhost");
    assert_eq!(is_encrypted(&trusted).unwrap(), "t");
    // Only the authority counts, not the host.
    let by_authority = deployment("verify-ca", Some(&certificate), "127.0.0.1");
    assert_eq!(is_encrypted(&by_authority).unwrap(), "t");
    // The certificate is for localhost, and its authority is not installed.
    for wrong in [
        deployment("verify", Some(&certificate), "127.0.0.1"),
        deployment("verify", None, "localhost"),
        deployment("verify-ca", None, "localhost"),
    ] {
        let error = is_encrypted(&wrong).unwrap_err();
        let (error, _) = of_system(error);
        assert_eq!(error.class.word(), "authentication", "{error}");
        assert!(error.message.contains("certificate"), "{error}");
    }

    // Answers larger than a TLS record, for many clients in one event loop.
    let text = "SELECT repeat('x', i) FROM generate_series(1, 1000) i;\n\\expect rows 1000\n";
    let more = json!({ "clients": 8, "threads": 2, "digest": true, "stop": { "passes": 5 } });
    let run = driven(trusted, &[text], more);
    assert_eq!(outcomes(&run), (40, 0, 0, 0));
    assert_eq!(run.results[0].differing, 0);
}

#[test]
fn a_server_without_tls_is_rejected_only_if_it_is_required() {
    let Some(server) = Server::start(&[]) else {
        return;
    };
    let deployment = |tls: &str| {
        json!({
            "driver": "postgresql", "host": "localhost", "port": server.port, "user": "postgres",
            "tls": tls,
        })
    };
    assert_eq!(is_encrypted(&deployment("prefer")).unwrap(), "f");
    let message = is_encrypted(&deployment("require"))
        .unwrap_err()
        .to_string();
    assert!(message.contains("does not offer TLS"), "{message}");
}

/// Protocols that do not ask for TLS begin with it. The null servers have none, so a server of TLS stands before
/// them.
#[test]
fn a_session_begins_with_tls_where_the_protocol_does_not_ask_for_it() {
    let folder = tempfile::tempdir().unwrap();
    if !make_certificate(folder.path()) {
        return;
    }
    let certificate = folder.path().join("server.crt");
    let key = folder.path().join("server.key");
    for (protocol, language, statement) in [
        ("cassandra", "cql", "SELECT a FROM t WHERE id = 1;\n"),
        ("mongodb", "json", "{\"find\": \"t\", \"filter\": {}};\n"),
    ] {
        let served = served(protocol, json!({}), |unix| {
            let port = tls_before(unix["unix"].as_str().unwrap(), &certificate, &key);
            let deployment = |tls: &str, host: &str, port: u16| {
                json!({ "driver": protocol, "host": host, "port": port, "user": "u",
                        "tls": tls, "ca_file": certificate, "connect_timeout_s": 5.0 })
            };
            let more = json!({ "lexer": language, "clients": 2, "stop": { "passes": 5 } });
            let trusted = deployment("verify", "localhost", port);
            let run = driven(trusted, &[statement], more);
            assert_eq!(
                outcomes(&run),
                (10, 0, 0, 0),
                "{protocol}: {:?}",
                run.errors
            );
            let refused = |deployment: Value| {
                Session::open(&deployed(&deployment))
                    .err()
                    .unwrap()
                    .to_string()
            };
            let message = refused(deployment("verify", "127.0.0.1", port));
            assert!(
                message.contains("certificate is for localhost"),
                "{message}"
            );
            let message = refused(deployment("off", "localhost", port));
            assert!(message.contains("begins with TLS"), "{message}");
            let plain = forwarding(unix["unix"].as_str().unwrap());
            let message = refused(deployment("require", "localhost", plain));
            let is_plain = message.contains("does not offer TLS") || message.contains("closed");
            assert!(is_plain, "{protocol}: {message}");
        });
        assert_eq!(served.statements, 10, "{protocol}");
    }
}

/// A port behind which TLS is taken off and the rest goes to the Unix socket.
fn tls_before(unix: &str, certificate: &Path, key: &Path) -> u16 {
    let pem = |path: &Path| std::fs::read(path).unwrap();
    let certificates = CertificateDer::pem_slice_iter(&pem(certificate))
        .collect::<Result<Vec<_>, _>>()
        .unwrap();
    let key = PrivateKeyDer::from_pem_slice(&pem(key)).unwrap();
    let ring = Arc::new(rustls::crypto::ring::default_provider());
    let accepted = ServerConfig::builder_with_provider(ring)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(certificates, key)
        .unwrap();
    let accepted = Arc::new(accepted);
    each_connection(unix, move |client, server| {
        let tls = ServerConnection::new(Arc::clone(&accepted)).unwrap();
        exchange(&mut StreamOwned::new(tls, client), server);
    })
}

fn forwarding(unix: &str) -> u16 {
    each_connection(unix, |mut client, server| exchange(&mut client, server))
}

fn each_connection(
    unix: &str,
    handle: impl Fn(TcpStream, UnixStream) + Send + Sync + 'static,
) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let (unix, handle) = (unix.to_owned(), Arc::new(handle));
    std::thread::spawn(move || {
        for client in listener.incoming().flatten() {
            let Ok(server) = UnixStream::connect(&unix) else {
                return;
            };
            let pause = Some(Duration::from_millis(1));
            client.set_read_timeout(pause).unwrap();
            server.set_read_timeout(pause).unwrap();
            let handle = Arc::clone(&handle);
            std::thread::spawn(move || handle(client, server));
        }
    });
    port
}

/// Passes bytes on in both directions, each read for a moment, until one side ends.
fn exchange(client: &mut (impl Read + Write), mut server: UnixStream) {
    let mut buffer = [0; 4096];
    let is_pause = |error: &io::Error| {
        matches!(
            error.kind(),
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut
        )
    };
    loop {
        let passed = match client.read(&mut buffer) {
            Ok(0) => return,
            Ok(count) => server.write_all(&buffer[..count]),
            Err(error) if is_pause(&error) => Ok(()),
            Err(error) => Err(error),
        };
        let passed = passed.and_then(|()| match server.read(&mut buffer) {
            Ok(0) => Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(count) => client.write_all(&buffer[..count]),
            Err(error) if is_pause(&error) => Ok(()),
            Err(error) => Err(error),
        });
        if passed.is_err() {
            return;
        }
    }
}

fn is_encrypted(deployment: &Value) -> Result<String, EngineError> {
    let mut session = Session::open(&deployed(deployment))?;
    let text = "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()";
    let answer = session.execute(text)?;
    Ok(String::from_utf8(answer.kept[0][0].as_deref().unwrap().to_vec()).unwrap())
}

fn make_certificate(folder: &Path) -> bool {
    let made = Command::new("openssl")
        .args(["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj"])
        .args(["/CN=localhost", "-addext", "subjectAltName=DNS:localhost"])
        // By default openssl creates a certificate of an authority, which is invalid for a server.
        .args(["-addext", "basicConstraints=critical,CA:FALSE", "-out"])
        .arg(folder.join("server.crt"))
        .arg("-keyout")
        .arg(folder.join("server.key"))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    for path in [folder.to_owned(), folder.join("server.crt"), folder.join("server.key")] {
        if path.exists() {
            give_to_server(&path);
        }
    }
    made.is_ok_and(|status| status.success())
}

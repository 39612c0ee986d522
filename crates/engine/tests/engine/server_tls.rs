//! TLS between the socket and the driver, against a real server with its own certificate.

use std::path::Path;
use std::process::{Command, Stdio};

use assay_engine::{EngineError, Session, SiteDocument};
use serde_json::{Value, json};

use crate::support::server::{Server, give_to_server};
use crate::support::{document, observe, outcomes};

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
    let site = |tls: &str, ca_file: Option<&Path>, host: &str| {
        json!({
            "driver": "postgresql", "host": host, "port": server.port, "user": "postgres",
            "tls": tls, "ca_file": ca_file,
        })
    };

    for (tls, expected) in [("off", "f"), ("prefer", "t"), ("require", "t")] {
        assert_eq!(
            is_encrypted(&site(tls, None, "localhost")).unwrap(),
            expected,
            "{tls}"
        );
    }
    let trusted = site("verify", Some(&certificate), "localhost");
    assert_eq!(is_encrypted(&trusted).unwrap(), "t");
    // Only the authority counts, not the host.
    let by_authority = site("verify-ca", Some(&certificate), "127.0.0.1");
    assert_eq!(is_encrypted(&by_authority).unwrap(), "t");
    // The certificate is for localhost, and its authority is not installed.
    for wrong in [
        site("verify", Some(&certificate), "127.0.0.1"),
        site("verify", None, "localhost"),
        site("verify-ca", None, "localhost"),
    ] {
        let error = is_encrypted(&wrong).unwrap_err();
        let EngineError::System(error, _) = error else {
            panic!("{error:?}")
        };
        assert_eq!(error.class.word(), "authentication", "{error}");
        assert!(error.message.contains("certificate"), "{error}");
    }

    // Answers larger than a TLS record, for many clients in one event loop.
    let text = "SELECT repeat('x', i) FROM generate_series(1, 1000) i;\n\\expect rows 1000\n";
    let run = observe(&document(
        trusted,
        &[text],
        json!({ "clients": 8, "threads": 2, "digest": true, "stop": { "passes": 5 } }),
    ));
    assert_eq!(outcomes(&run), (40, 0, 0, 0));
    assert_eq!(run.results[0].differing, 0);
}

#[test]
fn a_server_without_tls_is_rejected_only_if_it_is_required() {
    let Some(server) = Server::start(&[]) else {
        return;
    };
    let site = |tls: &str| {
        json!({
            "driver": "postgresql", "host": "localhost", "port": server.port, "user": "postgres",
            "tls": tls,
        })
    };
    assert_eq!(is_encrypted(&site("prefer")).unwrap(), "f");
    let message = is_encrypted(&site("require")).unwrap_err().to_string();
    assert!(message.contains("does not offer TLS"), "{message}");
}

fn is_encrypted(site: &Value) -> Result<String, EngineError> {
    let mut session = Session::open(&SiteDocument::parse(&site.to_string()).unwrap())?;
    let text = "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()";
    let answer = session.execute(text)?;
    Ok(String::from_utf8(answer.kept[0][0].as_deref().unwrap().to_vec()).unwrap())
}

fn make_certificate(folder: &Path) -> bool {
    let made = Command::new("openssl")
        .args([
            "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj",
        ])
        .args(["/CN=localhost", "-addext", "subjectAltName=DNS:localhost"])
        // By default openssl creates a certificate of an authority, which is invalid for a server.
        .args(["-addext", "basicConstraints=critical,CA:FALSE", "-out"])
        .arg(folder.join("server.crt"))
        .arg("-keyout")
        .arg(folder.join("server.key"))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    for path in [
        folder.to_owned(),
        folder.join("server.crt"),
        folder.join("server.key"),
    ] {
        if path.exists() {
            give_to_server(&path);
        }
    }
    made.is_ok_and(|status| status.success())
}

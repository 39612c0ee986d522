//! Opening and refusing sessions.

use std::time::{Duration, Instant};

use assay_drivers::{ErrorClass, Wire};

use crate::mysql_support::client::{Client, options};
use crate::mysql_support::server::Server;

pub fn greets_and_runs_the_sessions_statements(server: &Server, name: &str) {
    let mut options_of_root = options("root", None, "");
    options_of_root.session_statements = vec![
        "SET @seen = 'yes'".to_owned(),
        "SET SESSION lock_wait_timeout = 77".to_owned(),
    ];
    let mut client = Client::unix(server, options_of_root.clone()).expect("root is accepted");
    assert!(
        client.wire.server_version().starts_with(name),
        "{}",
        client.wire.server_version()
    );
    assert_eq!(
        client.cell("SELECT CONNECTION_ID()"),
        client.wire.session_id().to_string()
    );
    assert_eq!(client.cell("SELECT @seen"), "yes");
    assert_eq!(client.cell("SELECT @@session.lock_wait_timeout"), "77");
    assert_eq!(client.cell("SELECT @@character_set_client"), "utf8mb4");
    assert_eq!(client.cell("SELECT @@collation_connection"), "utf8mb4_bin");

    options_of_root
        .session_statements
        .push("SET SESSION no_such_setting = 1".to_owned());
    let error = Client::unix(server, options_of_root)
        .err()
        .expect("the third statement fails");
    assert_eq!(error.class, ErrorClass::UnknownObject);
    assert!(error.message.contains("no_such_setting = 1"), "{error}");
}

/// The default method of the server (MariaDB: `mysql_native_password`, MySQL: `caching_sha2_password`,
/// first with the server's public key, then from its cache).
pub fn proves_a_password_without_tls(server: &Server) {
    let mut root = Client::unix(server, options("root", None, "")).expect("root is accepted");
    root.rows("CREATE DATABASE IF NOT EXISTS own");
    root.rows("CREATE USER IF NOT EXISTS 'guest'@'127.0.0.1' IDENTIFIED BY 'pass wörd'");
    root.rows("CREATE USER IF NOT EXISTS 'open'@'127.0.0.1'");
    root.rows("GRANT ALL ON own.* TO 'guest'@'127.0.0.1'");

    let right = options("guest", Some("pass wörd"), "own");
    for _ in ["by key", "from the cache"] {
        let mut client = Client::tcp(server, right.clone()).expect("the password is right");
        assert_eq!(client.cell("SELECT DATABASE()"), "own");
        assert_eq!(client.cell("SELECT CURRENT_USER()"), "guest@127.0.0.1");
    }
    Client::tcp(server, options("open", None, "")).expect("no password is needed");

    for wrong in [
        options("guest", Some("password"), "own"),
        options("guest", None, "own"),
        options("guest", Some("pass wörd"), "mysql"),
        options("no such user", Some("x"), ""),
        options("guest\0root", Some("pass wörd"), "own"),
    ] {
        let error = Client::tcp(server, wrong.clone()).err().expect("refused");
        assert_eq!(
            error.class,
            ErrorClass::Authentication,
            "{wrong:?}: {error}"
        );
    }
}

pub fn is_refused_when_the_server_is_full(server: &Server) {
    let mut root = Client::unix(server, options("root", None, "")).expect("root is accepted");
    let usual = root.cell("SELECT @@global.max_connections");
    // Sessions of earlier tests count until the server has noticed that they ended.
    let sessions = "SELECT count(*) FROM information_schema.processlist \
        WHERE user <> 'system user' AND command <> 'Daemon'";
    let deadline = Instant::now() + Duration::from_secs(30);
    while root.cell(sessions) != "1" {
        assert!(Instant::now() < deadline, "earlier sessions never ended");
        std::thread::sleep(Duration::from_millis(20));
    }
    root.rows("SET GLOBAL max_connections = 10");
    let mut held = Vec::new();
    let refusal = loop {
        assert!(held.len() < 20, "no session was refused");
        match Client::tcp(server, options("guest", Some("pass wörd"), "own")) {
            Ok(client) => held.push(client),
            Err(error) => break error,
        }
    };
    assert_eq!(
        (refusal.class, &*refusal.code),
        (ErrorClass::TooManyConnections, "1040")
    );
    assert!(held.len() >= 8, "{} sessions were accepted", held.len());
    root.rows(&format!("SET GLOBAL max_connections = {usual}"));
}

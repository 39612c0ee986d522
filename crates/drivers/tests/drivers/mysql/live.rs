//! Tests the driver with real servers: MariaDB if it is installed, MySQL if `ASSAY_TEST_MYSQLD`
//! names its program. Each server is started once and stopped at the end.

use std::time::{Duration, Instant};

use assay_drivers::{BulkForm, ErrorClass, Keep, Progress, Request, Wire};
use assay_values::{Piece, Row};

use crate::mysql::client::{Client, options, row};
use crate::mysql::conversation::bulk;
use crate::mysql::statements;
use crate::server::Server;
use crate::support::OPEN;

#[test]
fn the_driver_works_with_mariadb() {
    if let Some(server) = Server::mariadb() {
        test_with(&server, "MariaDB ");
    }
}

#[test]
fn the_driver_works_with_mysql() {
    if let Some(server) = Server::mysql() {
        test_with(&server, "MySQL ");
    }
}

fn test_with(server: &Server, name: &str) {
    greets_and_runs_the_sessions_statements(server, name);
    proves_a_password_without_tls(server);
    is_refused_when_the_server_is_full(server);
    statements::returns_rows_counts_and_names(server);
    statements::takes_several_results(server);
    statements::executes_every_kind_of_value(server);
    statements::keeps_the_columns_that_the_server_does_not_send_again(server);
    statements::carries_texts_longer_than_a_packet(server);
    statements::both_protocols_give_the_same_text(server);
    statements::floating_point_numbers_are_printed_as_the_server_does(server);
    are_classed_and_leave_the_session_good(server);
    deadlocks_and_waits_have_their_classes(server);
    a_killed_session_is_lost(server);
    a_native_load_stores_the_rows_unchanged(server);
    a_row_that_the_server_changed_is_an_error(server);
    an_aborted_load_leaves_no_rows(server);
    statements_that_are_not_loads_are_refused(server);
    multi_row_inserts_store_the_rows_unchanged(server);
}

fn greets_and_runs_the_sessions_statements(server: &Server, name: &str) {
    let mut options_of_root = options("root", None, "");
    let own = ["SET @seen = 'yes'", "SET SESSION lock_wait_timeout = 77"];
    options_of_root.session_statements = own.map(str::to_owned).into();
    let mut client = Client::unix(server, options_of_root.clone()).expect("root is accepted");
    let version = client.wire.server_version();
    assert!(version.starts_with(name), "{version}");
    let id = client.cell("SELECT CONNECTION_ID()");
    assert_eq!(id, client.wire.session_id().to_string());
    assert_eq!(client.cell("SELECT @seen"), "yes");
    assert_eq!(client.cell("SELECT @@session.lock_wait_timeout"), "77");
    assert_eq!(client.cell("SELECT @@character_set_client"), "utf8mb4");
    assert_eq!(client.cell("SELECT @@collation_connection"), "utf8mb4_bin");

    let third = "SET SESSION no_such_setting = 1".to_owned();
    options_of_root.session_statements.push(third);
    let refused = Client::unix(server, options_of_root);
    let error = refused.err().expect("the third statement fails");
    assert_eq!(error.class, ErrorClass::UnknownObject);
    assert!(error.message.contains("no_such_setting = 1"), "{error}");
}

/// The default method of the server (MariaDB: `mysql_native_password`, MySQL: `caching_sha2_password`,
/// first with the server's public key, then from its cache).
fn proves_a_password_without_tls(server: &Server) {
    let mut root = Client::root(server, "");
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
        let class = error.class;
        assert_eq!(class, ErrorClass::Authentication, "{wrong:?}: {error}");
    }
}

fn is_refused_when_the_server_is_full(server: &Server) {
    let mut root = Client::root(server, "");
    let usual = root.cell("SELECT @@global.max_connections");
    // Sessions of earlier tests count until the server has noticed that they ended.
    let sessions = "SELECT count(*) FROM information_schema.processlist \
        WHERE user <> 'system user' AND command <> 'Daemon'";
    let deadline = Instant::now() + Duration::from_secs(120);
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
    assert_eq!(refusal.class, ErrorClass::TooManyConnections);
    assert_eq!(&*refusal.code, "1040");
    assert!(held.len() >= 8, "{} sessions were accepted", held.len());
    root.rows(&format!("SET GLOBAL max_connections = {usual}"));
}

fn are_classed_and_leave_the_session_good(server: &Server) {
    let mut client = Client::root(server, "own");
    client.rows("SET SESSION sql_mode = 'STRICT_ALL_TABLES'");
    client.rows("CREATE TABLE parent (id INT PRIMARY KEY) ENGINE = InnoDB");
    client.rows(
        "CREATE TABLE child (id INT NOT NULL, word VARCHAR(3), FOREIGN KEY (id) REFERENCES parent (id),
         CHECK (word <> 'bad')) ENGINE = InnoDB",
    );
    client.rows("INSERT INTO parent VALUES (1)");
    client.rows("INSERT INTO child VALUES (1, 'ok')");
    use ErrorClass as Class;
    for (statement, class) in [
        ("SELEKT 1", Class::Syntax),
        ("SELECT 1 FROM nowhere", Class::UnknownObject),
        ("SELECT nothing FROM child", Class::UnknownObject),
        ("SELECT no_such_function(1)", Class::UnknownObject),
        ("USE no_such_database", Class::UnknownObject),
        ("INSERT INTO parent VALUES (1)", Class::Constraint),
        ("INSERT INTO child VALUES (2, 'ok')", Class::Constraint),
        ("INSERT INTO child VALUES (NULL, 'ok')", Class::Constraint),
        ("INSERT INTO child VALUES (1, 'bad')", Class::Constraint),
        ("DELETE FROM parent", Class::Constraint),
        ("INSERT INTO child VALUES (1, 'long')", Class::Data),
        ("INSERT INTO child VALUES ('x', 'ok')", Class::Data),
        ("INSERT INTO child VALUES (99999999999, 'ok')", Class::Data),
    ] {
        let error = client.error(statement);
        assert_eq!(error.class, class, "{statement}: {error}");
        let mut try_ask = |request| client.try_ask(&request, Keep::Count).expect(OPEN).error;
        let pieces = &[Piece::Text(statement.into())];
        let parameters = &[];
        let prepared = try_ask(Request::Prepare { id: 0, pieces });
        let executed = prepared.or_else(|| try_ask(Request::Execute { id: 0, parameters }));
        let executed = executed.expect("it fails when it is prepared");
        assert_eq!(executed.class, class, "{statement}, prepared: {executed}");
    }
    let guest = options("guest", Some("pass wörd"), "own");
    let mut guest = Client::tcp(server, guest).expect("guest is accepted");
    for statement in ["SELECT 1 FROM mysql.user", "USE mysql"] {
        assert_eq!(
            guest.error(statement).class,
            Class::Permission,
            "{statement}"
        );
    }
    assert_eq!(client.cell("SELECT COUNT(*) FROM child"), "1");
    client.rows("DROP TABLE child, parent");
}

fn deadlocks_and_waits_have_their_classes(server: &Server) {
    let (mut first, mut second) = (Client::root(server, "own"), Client::root(server, "own"));
    first.rows("CREATE TABLE locked (id INT PRIMARY KEY, n INT) ENGINE = InnoDB");
    first.rows("INSERT INTO locked VALUES (1, 0), (2, 0)");
    for client in [&mut first, &mut second] {
        client.rows("SET SESSION innodb_lock_wait_timeout = 1");
    }
    first.rows("BEGIN; UPDATE locked SET n = 1 WHERE id = 1");
    second.rows("BEGIN; UPDATE locked SET n = 2 WHERE id = 2");
    let of_first = Request::Text("UPDATE locked SET n = 1 WHERE id = 2");
    let waiter = std::thread::scope(|scope| {
        let waits = scope.spawn(|| first.try_ask(&of_first, Keep::Count));
        let of_second = Request::Text("UPDATE locked SET n = 2 WHERE id = 1");
        let by_second = second.try_ask(&of_second, Keep::Count);
        [waits.join().expect("no panic"), by_second].map(|answer| answer.expect(OPEN).error)
    });
    let classes: Vec<ErrorClass> = waiter.iter().flatten().map(|error| error.class).collect();
    // The session that is not the victim may still wait for the victim's rollback.
    assert!(classes.contains(&ErrorClass::Deadlock), "{waiter:?}");
    first.rows("ROLLBACK");
    second.rows("ROLLBACK");
    first.rows("BEGIN; UPDATE locked SET n = 3 WHERE id = 1");
    let waited = second.error("UPDATE locked SET n = 4 WHERE id = 1");
    assert_eq!((waited.class, &*waited.code), (ErrorClass::Timeout, "1205"));
    first.rows("COMMIT");
    first.rows("DROP TABLE locked");
}

fn a_killed_session_is_lost(server: &Server) {
    let mut root = Client::root(server, "own");
    let mut idle = Client::root(server, "own");
    root.rows(&format!("KILL {}", idle.wire.session_id()));
    let lost = idle.try_ask(&Request::Text("SELECT 1"), Keep::Count);
    let error = lost.expect_err("the session has ended");
    assert_eq!(error.class, ErrorClass::LostConnection, "{error}");

    let mut working = Client::root(server, "own");
    let id = working.wire.session_id();
    let error = std::thread::scope(|scope| {
        let sleep = Request::Text("SELECT SLEEP(30)");
        let lost = scope.spawn(move || working.try_ask(&sleep, Keep::Count));
        let is_at_work = format!(
            "SELECT COUNT(*) FROM information_schema.processlist WHERE id = {id} AND info LIKE 'SELECT SLEEP%'"
        );
        while root.cell(&is_at_work) == "0" {}
        root.rows(&format!("KILL {id}"));
        let lost = lost.join().expect("no panic");
        lost.expect_err("the session has ended")
    });
    assert_eq!(error.class, ErrorClass::LostConnection, "{error}");

    let mut out = Vec::new();
    root.wire.terminate(&mut out);
    assert_eq!(out, [1, 0, 0, 0, 1]);
    let ready = root.progress(&mut assay_drivers::Answer::default());
    assert_eq!(ready.expect("no error was sent"), Progress::Ready);
}

const FILE: &str =
    "LOAD DATA LOCAL INFILE 'rows' INTO TABLE loaded CHARACTER SET utf8mb4 (id, word)";
const INSERT: &str = "INSERT INTO loaded (id, word) VALUES";

/// Cells with everything that could end a cell, a row or a literal too early.
const NASTY: [Option<&str>; 12] = [
    None,
    Some(""),
    Some("N"),
    Some("\\N"),
    Some("NULL"),
    Some("tab\there, newline\nhere, return\rhere"),
    Some("a 'quoted' \"word\" `too`"),
    Some("back\\slash\\"),
    Some("zero\0byte and \u{1a}"),
    Some("Ångström ☃ 𝒳 漢字"),
    Some("  blanks  "),
    Some("% _ -- ; # /* */ ?"),
];

fn loading(server: &Server) -> Client {
    let mut strict = options("root", None, "own");
    strict.session_statements = vec!["SET SESSION sql_mode = 'STRICT_ALL_TABLES'".to_owned()];
    let mut client = Client::unix(server, strict).expect("root is accepted");
    client.rows("DROP TABLE IF EXISTS loaded");
    client.rows(
        "CREATE TABLE loaded (id INT NOT NULL, word LONGTEXT) ENGINE = InnoDB CHARACTER SET utf8mb4",
    );
    client
}

fn special_rows(count: usize) -> impl Iterator<Item = Row> {
    (0..count).map(|at| row(&[Some(&at.to_string()), NASTY[at % NASTY.len()]]))
}

fn check_loaded_rows(client: &mut Client, count: usize) {
    let all = client.rows("SELECT id, word FROM loaded ORDER BY id");
    assert_eq!(all.kept.len(), count);
    for (at, found) in all.kept.iter().enumerate() {
        assert_eq!(found[0].as_deref(), Some(at.to_string().as_bytes()));
        let expected = NASTY[at % NASTY.len()].map(str::as_bytes);
        assert_eq!(found[1].as_deref(), expected, "row {at}");
    }
}

fn a_native_load_stores_the_rows_unchanged(server: &Server) {
    let mut client = loading(server);
    let answer = client.load(FILE, &[], special_rows(50_000));
    assert_eq!((answer.error, answer.affected), (None, 50_000));
    check_loaded_rows(&mut client, 50_000);
    let none = client.load(FILE, &[], []);
    assert_eq!((none.error, none.affected), (None, 0));
    client.rows("TRUNCATE TABLE loaded");
    let long = "é\n".repeat(9_000_000); // longer than a packet can be
    let answer = client.load(FILE, &[], [row(&[Some("1"), Some(&long)])]);
    assert_eq!((answer.error, answer.affected), (None, 1));
    let found = client.rows("SELECT word FROM loaded");
    assert!(found.kept[0][0].as_deref() == Some(long.as_bytes()));
}

/// With LOCAL the server only warns, even in strict mode.
fn a_row_that_the_server_changed_is_an_error(server: &Server) {
    let mut client = loading(server);
    client.rows("ALTER TABLE loaded MODIFY word VARCHAR(4), ADD UNIQUE (id)");
    let few_cells = "doesn't contain data for all columns";
    for (rows, words) in [
        (vec![row(&[Some("1"), Some("short")])], "word"),
        (vec![row(&[Some("one"), None])], "one"),
        (vec![row(&[Some("1"), None]); 2], "Duplicate"),
        (vec![row(&[Some("1")])], few_cells),
    ] {
        client.rows("BEGIN");
        let answer = client.load(FILE, &[], rows);
        let error = answer.error.expect("warnings make the load fail");
        let is_of_a_key = words == "Duplicate";
        let class = [ErrorClass::Data, ErrorClass::Constraint][usize::from(is_of_a_key)];
        assert_eq!(error.class, class, "{error}");
        assert!(error.message.contains(words), "{error}");
        assert!(error.message.contains("warnings: 1;"), "{error}");
        client.rows("ROLLBACK");
    }
    assert_eq!(client.cell("SELECT COUNT(*) FROM loaded"), "0");
}

fn an_aborted_load_leaves_no_rows(server: &Server) {
    for form in [BulkForm::Native, BulkForm::MultiRow] {
        let text = [FILE, INSERT][usize::from(form == BulkForm::MultiRow)];
        let mut client = loading(server);
        client.rows("BEGIN");
        let reason = Some("line 7 of x.bib is damaged");
        let answer = client.load_as(&bulk(text, form), special_rows(30_000), reason);
        let error = answer.error.expect("the load was aborted");
        assert!(error.message.contains("line 7 of x.bib"), "{error}");
        client.rows("ROLLBACK");
        assert_eq!(client.cell("SELECT COUNT(*) FROM loaded"), "0", "{form:?}");
    }
}

fn statements_that_are_not_loads_are_refused(server: &Server) {
    let mut client = loading(server);
    let load = |client: &mut Client, text: &str| client.load(text, &[], special_rows(1)).error;
    let error = load(&mut client, "SELECT 1 INTO @x").expect("the statement takes no rows");
    assert!(error.message.contains("LOAD DATA LOCAL INFILE"), "{error}");
    let error = load(&mut client, &FILE.replace("loaded", "nowhere"));
    let error = error.expect("there is no such table");
    assert_eq!(error.class, ErrorClass::UnknownObject);
    // Only a load may send a file.
    let error = client.error(FILE);
    assert_eq!(error.class, ErrorClass::Permission, "{error}");
    client.rows("SET GLOBAL local_infile = 0");
    let error = load(&mut client, FILE).expect("local_infile is off");
    client.rows("SET GLOBAL local_infile = 1");
    assert_eq!(error.class, ErrorClass::Permission, "{error}");
    assert_eq!(client.cell("SELECT COUNT(*) FROM loaded"), "0");
}

fn multi_row_inserts_store_the_rows_unchanged(server: &Server) {
    let (mut client, inserts) = (loading(server), bulk(INSERT, BulkForm::MultiRow));
    let answer = client.load_as(&inserts, special_rows(50_000), None);
    assert_eq!((answer.error, answer.affected), (None, 50_000));
    check_loaded_rows(&mut client, 50_000);
    let none = client.load_as(&inserts, [], None);
    assert_eq!((none.error, none.affected), (None, 0));

    client.rows("ALTER TABLE loaded ADD UNIQUE (id); TRUNCATE TABLE loaded; BEGIN");
    let twice = special_rows(20_000).chain(special_rows(20_000));
    let error = client.load_as(&inserts, twice, None).error.expect("twice");
    assert_eq!(error.class, ErrorClass::Constraint, "{error}");
    client.rows("ROLLBACK");
    let long = "'".repeat(17_000_000); // a statement of several packets
    let rows = [row(&[Some("1"), Some(&long)]), row(&[Some("2"), None])];
    let answer = client.load_as(&inserts, rows, None);
    assert_eq!((answer.error, answer.affected), (None, 2));
    let length = client.cell("SELECT SUM(LENGTH(word)) FROM loaded");
    assert_eq!(length, "17000000");
    client.rows("DROP TABLE loaded");
}

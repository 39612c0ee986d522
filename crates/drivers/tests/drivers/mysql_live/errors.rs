//! Server errors and their classes.

use assay_drivers::{ErrorClass, Keep, Progress, Request, Wire};
use assay_values::Piece;

use crate::mysql_support::client::{Client, options};
use crate::mysql_support::server::Server;

fn client(server: &Server) -> Client {
    Client::unix(server, options("root", None, "own")).expect("root is accepted")
}

pub fn are_classed_and_leave_the_session_good(server: &Server) {
    let mut client = client(server);
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
        let prepared = client.ask(
            &Request::Prepare {
                id: 0,
                pieces: &[Piece::Text(statement.into())],
            },
            Keep::Count,
        );
        let prepared = prepared.expect("the session stays open").error;
        let executed = match prepared {
            Some(error) => error,
            None => {
                let request = Request::Execute {
                    id: 0,
                    parameters: &[],
                };
                let answer = client
                    .ask(&request, Keep::Count)
                    .expect("the session stays open");
                answer
                    .error
                    .unwrap_or_else(|| panic!("{statement} must fail when prepared"))
            }
        };
        assert_eq!(executed.class, class, "{statement}, prepared: {executed}");
    }
    let mut guest =
        Client::tcp(server, options("guest", Some("pass wörd"), "own")).expect("guest is accepted");
    assert_eq!(
        guest.error("SELECT 1 FROM mysql.user").class,
        Class::Permission
    );
    assert_eq!(
        guest.error("USE mysql").class,
        Class::Permission,
        "after login it is a permission error"
    );
    assert_eq!(client.cell("SELECT COUNT(*) FROM child"), "1");
    client.rows("DROP TABLE child, parent");
}

pub fn deadlocks_and_waits_have_their_classes(server: &Server) {
    let (mut first, mut second) = (client(server), client(server));
    first.rows("CREATE TABLE locked (id INT PRIMARY KEY, n INT) ENGINE = InnoDB");
    first.rows("INSERT INTO locked VALUES (1, 0), (2, 0)");
    for client in [&mut first, &mut second] {
        client.rows("SET SESSION innodb_lock_wait_timeout = 1");
    }
    first.rows("BEGIN; UPDATE locked SET n = 1 WHERE id = 1");
    second.rows("BEGIN; UPDATE locked SET n = 2 WHERE id = 2");
    let waiter = std::thread::scope(|scope| {
        let waits = scope.spawn(|| {
            first.ask(
                &Request::Text("UPDATE locked SET n = 1 WHERE id = 2"),
                Keep::Count,
            )
        });
        let by_second = second.ask(
            &Request::Text("UPDATE locked SET n = 2 WHERE id = 1"),
            Keep::Count,
        );
        [waits.join().expect("no panic"), by_second]
            .map(|answer| answer.expect("the session stays open").error)
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

pub fn a_killed_session_is_lost(server: &Server) {
    let mut root = client(server);
    let mut idle = client(server);
    root.rows(&format!("KILL {}", idle.wire.session_id()));
    let error = idle
        .ask(&Request::Text("SELECT 1"), Keep::Count)
        .expect_err("the session has ended");
    assert_eq!(error.class, ErrorClass::LostConnection, "{error}");

    let mut working = client(server);
    let id = working.wire.session_id();
    let error = std::thread::scope(|scope| {
        let lost =
            scope.spawn(move || working.ask(&Request::Text("SELECT SLEEP(30)"), Keep::Count));
        let is_at_work = format!(
            "SELECT COUNT(*) FROM information_schema.processlist WHERE id = {id} AND info LIKE 'SELECT SLEEP%'"
        );
        while root.cell(&is_at_work) == "0" {}
        root.rows(&format!("KILL {id}"));
        lost.join()
            .expect("no panic")
            .expect_err("the session has ended")
    });
    assert_eq!(error.class, ErrorClass::LostConnection, "{error}");

    let mut out = Vec::new();
    root.wire.terminate(&mut out);
    assert_eq!(out, [1, 0, 0, 0, 1]);
    let ready = root.turn(&mut assay_drivers::Answer::default());
    assert_eq!(ready.expect("no error was sent"), Progress::Ready);
}

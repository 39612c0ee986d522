//! What servers refuse, in the engine's words.

use assay_drivers::{ErrorClass, Keep, Progress, Request, Wire};
use assay_values::Piece;

use crate::mysql_support::client::{Client, options};
use crate::mysql_support::server::Server;

fn client(server: &Server) -> Client {
    Client::unix(server, options("root", None, "own")).expect("root may")
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
        let prepared = prepared.expect("the session goes on").error;
        let executed = match prepared {
            Some(error) => error,
            None => {
                let request = Request::Execute {
                    id: 0,
                    parameters: &[],
                };
                let answer = client
                    .ask(&request, Keep::Count)
                    .expect("the session goes on");
                answer
                    .error
                    .unwrap_or_else(|| panic!("{statement} must fail when prepared"))
            }
        };
        assert_eq!(executed.class, class, "{statement}, prepared: {executed}");
    }
    let mut guest = Client::tcp(server, options("guest", Some("pass wörd"), "own")).expect("may");
    assert_eq!(
        guest.error("SELECT 1 FROM mysql.user").class,
        Class::Permission
    );
    assert_eq!(
        guest.error("USE mysql").class,
        Class::Permission,
        "no matter of authentication now"
    );
    assert_eq!(client.cell("SELECT COUNT(*) FROM child"), "1");
    client.rows("DROP TABLE child, parent");
}

pub fn deadlocks_and_waits_have_their_classes(server: &Server) {
    let (mut one, mut two) = (client(server), client(server));
    one.rows("CREATE TABLE locked (id INT PRIMARY KEY, n INT) ENGINE = InnoDB");
    one.rows("INSERT INTO locked VALUES (1, 0), (2, 0)");
    for client in [&mut one, &mut two] {
        client.rows("SET SESSION innodb_lock_wait_timeout = 1");
    }
    one.rows("BEGIN; UPDATE locked SET n = 1 WHERE id = 1");
    two.rows("BEGIN; UPDATE locked SET n = 2 WHERE id = 2");
    let waiter = std::thread::scope(|scope| {
        let waits = scope.spawn(|| {
            one.ask(
                &Request::Text("UPDATE locked SET n = 1 WHERE id = 2"),
                Keep::Count,
            )
        });
        let other = two.ask(
            &Request::Text("UPDATE locked SET n = 2 WHERE id = 1"),
            Keep::Count,
        );
        [waits.join().expect("no panic"), other].map(|answer| answer.expect("goes on").error)
    });
    let classes: Vec<ErrorClass> = waiter.iter().flatten().map(|error| error.class).collect();
    // The one that is not the victim may still be waiting for the victim's rollback.
    assert!(classes.contains(&ErrorClass::Deadlock), "{waiter:?}");
    one.rows("ROLLBACK");
    two.rows("ROLLBACK");
    one.rows("BEGIN; UPDATE locked SET n = 3 WHERE id = 1");
    let waited = two.error("UPDATE locked SET n = 4 WHERE id = 1");
    assert_eq!((waited.class, &*waited.code), (ErrorClass::Timeout, "1205"));
    one.rows("COMMIT");
    one.rows("DROP TABLE locked");
}

pub fn a_killed_session_is_lost(server: &Server) {
    let mut root = client(server);
    let mut idle = client(server);
    root.rows(&format!("KILL {}", idle.wire.session_id()));
    let error = idle
        .ask(&Request::Text("SELECT 1"), Keep::Count)
        .expect_err("it is over");
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
        lost.join().expect("no panic").expect_err("it is over")
    });
    assert_eq!(error.class, ErrorClass::LostConnection, "{error}");

    let mut out = Vec::new();
    root.wire.goodbye(&mut out);
    assert_eq!(out, [1, 0, 0, 0, 1]);
    let ready = root.turn(&mut assay_drivers::Answer::default());
    assert_eq!(ready.expect("nothing was said"), Progress::Ready);
}

//! Runs the same conversations on the installed server, and tests that need a live server.
//!
//! `ASSAY_RECORD_TO=FOLDER` writes the conversations with this server's bytes, to be reviewed and kept.

use std::path::Path;

use assay_drivers::postgresql::PostgresqlWire;
use assay_drivers::{Answer, ConnectOptions, ErrorClass, Keep, Request, Wire as _};
use assay_values::{Row, Value};

use crate::postgresql;
use crate::postgresql::conversation::{self, Conversation};
use crate::server::Server;
use crate::support::{self, Event};

type Client = support::Client<PostgresqlWire>;

#[test]
fn a_real_server_agrees() {
    let Some(server) = Server::start(&[]) else {
        return;
    };
    make_users(&server);
    for (name, text) in postgresql::ALL {
        hold(&server, name, text);
    }
    scram_opens_a_session_and_a_wrong_password_does_not(&server);
    a_load_larger_than_any_buffer_arrives_whole(&server);
    a_terminated_session_ends_with_the_servers_words(&server);
}

fn unix(server: &Server) -> Client {
    let options = ConnectOptions {
        user: "postgres".into(),
        is_private: true,
        ..Default::default()
    };
    Client::to_socket(&server.socket, PostgresqlWire::new(options)).expect("it lets us in")
}

fn address(server: &Server) -> String {
    format!("127.0.0.1:{}", server.port)
}

fn ask(client: &mut Client, text: &str) -> Answer {
    let answer = client.ask(&Request::Text(text));
    assert_eq!(answer.error, None, "{text}");
    answer
}

fn make_users(server: &Server) {
    ask(
        &mut unix(server),
        "SET password_encryption = 'md5'; CREATE ROLE hashed LOGIN PASSWORD 'secret';
         SET password_encryption = 'scram-sha-256'; CREATE ROLE clear LOGIN PASSWORD 'secret';
         CREATE ROLE proven LOGIN PASSWORD 'sécret';",
    );
}

/// Runs a conversation (over TCP if it has a password), and checks that the results are those recorded.
fn hold(server: &Server, name: &str, text: &str) {
    let conversation = Conversation::read(text);
    let wire = PostgresqlWire::new(conversation.options.clone());
    let client = match conversation.options.password {
        Some(_) => Client::new(support::tcp(&address(server)), wire),
        None => Client::new(support::unix(&server.socket), wire),
    };
    let copy = hold_on(client, name, &conversation);
    if let Some(folder) = std::env::var_os("ASSAY_RECORD_TO") {
        let kept = text.lines().filter(|line| line.starts_with(['#', '!']));
        let lines: Vec<&str> = kept.chain(copy.iter().map(String::as_str)).collect();
        let path = Path::new(&folder).join(format!("{name}.txt"));
        std::fs::write(path, lines.join("\n") + "\n").expect("the folder is writable");
    }
}

fn hold_on(mut client: Client, name: &str, conversation: &Conversation) -> Vec<String> {
    let is_recording = std::env::var_os("ASSAY_RECORD_TO").is_some();
    let (mut copy, mut answer) = (Vec::new(), conversation::answer());
    for step in &conversation.steps {
        answer.clear(Keep::Rows);
        client.events.clear();
        let waits = conversation::begin(&mut client.wire, &step.request, &mut client.out)
            .expect("the request is valid");
        copy.push(format!("> {}", step.request));
        let mut meaning = String::new();
        if waits {
            let result = conversation::read_all(&mut meaning, &mut answer, Keep::Rows, |answer| {
                client.progress(answer)
            });
            meaning += &conversation::meaning(&result, &answer);
            let is_expected = is_recording || meaning == step.meaning;
            assert!(is_expected, "{name}: {}\n{meaning}", step.request);
        }
        client.send();
        let (mut sent, mut received) = (Vec::new(), Vec::new());
        for event in &client.events {
            match event {
                Event::Sent(bytes) => sent.extend(bytes),
                Event::Received(bytes) => received.extend(bytes),
                Event::Said(_) => {}
            }
        }
        copy.push(format!("C {}", sent.escape_ascii()));
        if waits {
            copy.push(format!("S {}", received.escape_ascii()));
            copy.push(format!("= {meaning}"));
        }
    }
    copy
}

fn scram_opens_a_session_and_a_wrong_password_does_not(server: &Server) {
    for (password, opens) in [(Some("sécret"), true), (Some("secret"), false), (None, false)] {
        let options = ConnectOptions {
            user: "proven".into(),
            database: "postgres".into(),
            password: password.map(Into::into),
            ..Default::default()
        };
        let result = Client::to_server(&address(server), PostgresqlWire::new(options));
        assert_eq!(result.is_ok(), opens, "{password:?}");
        match result {
            Ok(client) => assert!(client.wire.server_version().starts_with("PostgreSQL ")),
            Err(error) => assert_eq!(error.class, ErrorClass::Authentication),
        }
    }
}

fn a_load_larger_than_any_buffer_arrives_whole(server: &Server) {
    let mut client = unix(server);
    ask(&mut client, "CREATE TABLE large (a int, b text)");
    let row = |number: u16| {
        let mut row = Row::new();
        row.push_int(number.into());
        row.push_bytes("a\tb\\c\nd\r".repeat(usize::from(number % 50)).as_bytes());
        row
    };
    let answer = client.load("COPY large FROM STDIN", &[], (0..20_000).map(row));
    assert_eq!((answer.error, answer.affected), (None, 20_000));
    let found = ask(
        &mut client,
        r"SELECT count(*), count(distinct a) FROM large
          WHERE b = repeat(E'a\tb\\c\nd\r', a % 50)",
    );
    assert_eq!(support::rows(&found, ""), ["20000|20000"]);
}

fn a_terminated_session_ends_with_the_servers_words(server: &Server) {
    let (mut victim, mut other) = (unix(server), unix(server));
    let pieces = &crate::support::pieces("SELECT pg_sleep(?)");
    victim.ask(&Request::Prepare { id: 0, pieces });
    let parameters = &[Value::Int(60)];
    let execute = Request::Execute { id: 0, parameters };
    let asked = victim.wire.request(&execute, &mut victim.out);
    asked.expect("it was prepared");
    victim.send();
    let id = victim.wire.session_id();
    ask(&mut other, &format!("SELECT pg_terminate_backend({id})"));
    let ended = victim.progress(&mut Answer::default());
    let error = ended.expect_err("the session was terminated");
    assert_eq!(error.class, ErrorClass::LostConnection, "{error}");
    assert_eq!(error.code.as_str(), "57P01", "{error}");
    let again = victim
        .wire
        .request(&Request::Text("SELECT 1"), &mut victim.out);
    assert!(again.is_err());
}

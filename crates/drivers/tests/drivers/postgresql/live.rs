//! Runs the same conversations on the installed server, and tests that need a live server.
//!
//! `ASSAY_RECORD_TO=FOLDER` writes the conversations with this server's bytes, to be reviewed and kept.

use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::path::Path;

use assay_drivers::postgresql::PostgresqlWire;
use assay_drivers::{
    Answer, BulkForm, ConnectOptions, ErrorClass, Keep, Progress, Request, Wire as _,
};
use assay_values::{Row, Value};

use crate::postgresql;
use crate::postgresql::conversation::{self, Conversation};
use crate::postgresql::conversation::{Pump, SILENCE};
use crate::postgresql::server::Server;

#[test]
fn a_real_server_agrees() {
    let Some(server) = Server::start() else {
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

fn unix(server: &Server) -> Pump<UnixStream> {
    let options = ConnectOptions {
        user: "postgres".into(),
        is_private: true,
        ..Default::default()
    };
    let socket = UnixStream::connect(&server.socket).expect("the server is ready");
    socket
        .set_read_timeout(Some(SILENCE))
        .expect("a socket has a timeout");
    let mut pump = Pump::new(PostgresqlWire::new(options), socket);
    pump.wire.connected(&mut pump.out);
    assert_eq!(pump.run(&mut Answer::default()), Ok(Progress::Ready));
    pump
}

fn tcp(server: &Server, options: ConnectOptions) -> Pump<TcpStream> {
    let socket = TcpStream::connect(("127.0.0.1", server.port)).expect("the server is ready");
    socket
        .set_read_timeout(Some(SILENCE))
        .expect("a socket has a timeout");
    Pump::new(PostgresqlWire::new(options), socket)
}

fn ask(pump: &mut Pump<UnixStream>, text: &str) -> Answer {
    let mut answer = Answer::new(Keep::Rows);
    pump.wire
        .request(&Request::Text(text), &mut pump.out)
        .expect("the session is idle");
    assert_eq!(pump.run(&mut answer), Ok(Progress::Ready), "{text}");
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
    let mut copy = Vec::new();
    if conversation.options.password.is_some() {
        let mut pump = tcp(server, conversation.options.clone());
        hold_on(&mut pump, name, &conversation, &mut copy);
    } else {
        let socket = UnixStream::connect(&server.socket).expect("the server is ready");
        socket
            .set_read_timeout(Some(SILENCE))
            .expect("a socket has a timeout");
        let mut pump = Pump::new(PostgresqlWire::new(conversation.options.clone()), socket);
        hold_on(&mut pump, name, &conversation, &mut copy);
    }
    if let Some(folder) = std::env::var_os("ASSAY_RECORD_TO") {
        let kept = text.lines().filter(|line| line.starts_with(['#', '!']));
        let lines: Vec<&str> = kept.chain(copy.iter().map(String::as_str)).collect();
        let path = Path::new(&folder).join(format!("{name}.txt"));
        std::fs::write(path, lines.join("\n") + "\n").expect("the folder is writable");
    }
}

fn hold_on<Socket: std::io::Read + std::io::Write>(
    pump: &mut Pump<Socket>,
    name: &str,
    conversation: &Conversation,
    copy: &mut Vec<String>,
) {
    let is_recording = std::env::var_os("ASSAY_RECORD_TO").is_some();
    let mut answer = conversation::answer();
    for step in &conversation.steps {
        answer.clear(Keep::Rows);
        pump.sent.clear();
        pump.received.clear();
        let waits = conversation::begin(&mut pump.wire, &step.request, &mut pump.out)
            .expect("the request is valid");
        copy.push(format!("> {}", step.request));
        if !waits {
            pump.send().expect("the server reads it");
            copy.push(format!("C {}", pump.sent.escape_ascii()));
            continue;
        }
        let mut meaning = String::new();
        let result = conversation::read_all(&mut meaning, &mut answer, Keep::Rows, |answer| {
            pump.run(answer)
        });
        meaning += &conversation::meaning(&result, &answer);
        assert!(
            is_recording || meaning == step.meaning,
            "{name}: {}\n{meaning}",
            step.request
        );
        copy.push(format!("C {}", pump.sent.escape_ascii()));
        copy.push(format!("S {}", pump.received.escape_ascii()));
        copy.push(format!("= {meaning}"));
    }
}

fn scram_opens_a_session_and_a_wrong_password_does_not(server: &Server) {
    for (password, opens) in [
        (Some("sécret"), true),
        (Some("secret"), false),
        (None, false),
    ] {
        let options = ConnectOptions {
            user: "proven".into(),
            database: "postgres".into(),
            password: password.map(Into::into),
            ..Default::default()
        };
        let mut pump = tcp(server, options);
        pump.wire.connected(&mut pump.out);
        let result = pump.run(&mut Answer::default());
        assert_eq!(result.is_ok(), opens, "{result:?}");
        match result {
            Ok(_) => assert!(pump.wire.server_version().starts_with("PostgreSQL ")),
            Err(error) => assert_eq!(error.class, ErrorClass::Authentication),
        }
    }
}

fn a_load_larger_than_any_buffer_arrives_whole(server: &Server) {
    let mut pump = unix(server);
    ask(&mut pump, "CREATE TABLE large (a int, b text)");
    let bulk = Request::Bulk {
        text: "COPY large FROM STDIN",
        form: BulkForm::Native,
        types: &[],
    };
    pump.wire
        .request(&bulk, &mut pump.out)
        .expect("the session is idle");
    let mut answer = Answer::default();
    assert_eq!(pump.run(&mut answer), Ok(Progress::BulkReady));
    let mut row = Row::new();
    for number in 0..20_000_u16 {
        row.clear();
        row.push_int(number.into());
        row.push_bytes("a\tb\\c\nd\r".repeat(usize::from(number % 50)).as_bytes());
        assert!(pump.wire.bulk_row(&row, &mut pump.out).is_continue());
        if pump.out.len() > 64 * 1024 {
            pump.send().expect("the server reads it");
        }
    }
    pump.wire.bulk_end(None, &mut pump.out);
    assert_eq!(pump.run(&mut answer), Ok(Progress::Ready));
    assert_eq!((answer.error, answer.affected), (None, 20_000));
    let found = ask(
        &mut pump,
        r"SELECT count(*), count(distinct a) FROM large
          WHERE b = repeat(E'a\tb\\c\nd\r', a % 50)",
    );
    assert_eq!(
        found.kept,
        [[Some(b"20000"[..].into()), Some(b"20000"[..].into())]]
    );
}

fn a_terminated_session_ends_with_the_servers_words(server: &Server) {
    let (mut victim, mut other) = (unix(server), unix(server));
    let prepare = Request::Prepare {
        id: 0,
        pieces: &crate::support::pieces("SELECT pg_sleep(?)"),
    };
    victim
        .wire
        .request(&prepare, &mut victim.out)
        .expect("the session is idle");
    victim.run(&mut Answer::default()).expect("it is prepared");
    let parameters = [Value::Int(60)];
    let execute = Request::Execute {
        id: 0,
        parameters: &parameters,
    };
    victim
        .wire
        .request(&execute, &mut victim.out)
        .expect("it was prepared");
    victim.send().expect("the server reads it");
    ask(
        &mut other,
        &format!("SELECT pg_terminate_backend({})", victim.wire.session_id()),
    );
    let error = victim
        .run(&mut Answer::default())
        .expect_err("the session was terminated");
    assert_eq!(
        (error.class, error.code.as_str()),
        (ErrorClass::LostConnection, "57P01"),
        "{error}"
    );
    assert!(
        victim
            .wire
            .request(&Request::Text("SELECT 1"), &mut victim.out)
            .is_err()
    );
}

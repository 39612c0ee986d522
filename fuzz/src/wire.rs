//! Takes any bytes; passes them to a wire codec as if the other side had sent them. It may refuse them, but must
//! not panic, read beyond them, or loop forever.
//!
//! The first byte chooses the protocol; of the others the first is the number of bytes per chunk, the second
//! chooses the request. The tests of `assay-drivers` run the same two functions with randomly mutated
//! conversations.

use std::collections::BTreeMap;
use std::time::Instant;

use assay_drivers::null::{PlannedReply, ServerModel};
use assay_drivers::registry::{AnyWire, DRIVERS, SessionKind};
use assay_drivers::servers::{AnyServer, SERVERS};
use assay_drivers::{
    Answer, BulkForm, ConnectOptions, Keep, Progress, Request, ServerEvent, SystemError, Wire as _,
    WireServer as _,
};
use assay_values::{Piece, Row, Value};

/// One side of the protocol that the first byte chooses reads the others.
pub fn any(side: fn(&str, &[u8]), data: &[u8]) {
    let protocols: Vec<_> = protocols().collect();
    if let [first, data @ ..] = data {
        side(protocols[usize::from(*first) % protocols.len()], data);
    }
}

/// All that the null server speaks, and variants of them.
pub fn protocols() -> impl Iterator<Item = &'static str> {
    SERVERS.iter().map(|known| known.name).chain(VARIANTS)
}

/// The client's side reads `data` as the bytes of a server.
pub fn client(protocol: &str, data: &[u8]) {
    let [cut, choice, data @ ..] = data else {
        return;
    };
    let mut wire = wire_of(protocol);
    let (mut out, mut answer) = (Vec::new(), Answer::new(Keep::Rows));
    wire.connected(&mut out);
    let mut input = Vec::new();
    // Half of the inputs begin like `conversation`, so that answers match their requests.
    let mut step = usize::from(*choice).saturating_sub(128);
    for part in data.chunks(usize::from(*cut).max(1)) {
        input.extend_from_slice(part);
        loop {
            out.clear();
            let Ok((used, progress)) = wire.receive(&input, &mut out, &mut answer) else {
                let mut again = Vec::new();
                let _ = wire.receive(part, &mut again, &mut answer);
                return;
            };
            assert!(used <= input.len(), "used more bytes than were received");
            input.drain(..used);
            match progress {
                Progress::NeedMore => break,
                Progress::StartTls => wire.secured(&mut out),
                Progress::BulkReady => {
                    for _ in 0..3 {
                        let _ = wire.bulk_row(&a_row(), &mut out);
                    }
                    let abort = (step % 3 == 0).then_some("enough");
                    wire.bulk_end(abort, &mut out);
                    break;
                }
                Progress::Answered => answer.clear(Keep::Rows),
                Progress::Ready => {
                    answer.clear([Keep::Count, Keep::Digest, Keep::Rows][step % 3]);
                    ask(&mut wire, step, &mut out);
                    step += 1;
                    break;
                }
            }
        }
    }
}

/// The server's side reads `data` as the bytes of a client.
pub fn server(protocol: &str, data: &[u8]) {
    let [cut, choice, data @ ..] = data else {
        return;
    };
    let options = [("rows", ["0", "1", "3"][usize::from(*choice) % 3]), ("fail", "deadlock@#4")];
    let options: BTreeMap<_, _> = options
        .map(|(name, what)| (name.to_owned(), what.to_owned()))
        .into();
    let server_model = ServerModel::new(&options).expect("the options are valid");
    let mut model = server_model
        .open_session()
        .expect("the deployment is not full");
    let mut server = server_of(protocol, Ok(1));
    let (mut out, mut input) = (Vec::new(), Vec::new());
    server.connected(&mut out);
    for part in data.chunks(usize::from(*cut).max(1)) {
        input.extend_from_slice(part);
        loop {
            out.clear();
            let Ok((used, demand)) = server.receive(&input, &mut out) else {
                return;
            };
            assert!(used <= input.len(), "used more bytes than were received");
            let goes_on = match demand {
                ServerEvent::More => false,
                ServerEvent::Over => return,
                ServerEvent::Loaded { table, rows } => {
                    model.loaded(table, rows);
                    true
                }
                ServerEvent::Execute(statement) => {
                    let reply = model.plan_reply(statement, Instant::now());
                    let mut given = model.answer(statement);
                    match reply {
                        PlannedReply::Answered {
                            error: Some(error), ..
                        } => {
                            server.fail(&error, &mut out);
                        }
                        _ => while !server.answer(&mut given, &mut out) {},
                    }
                    true
                }
            };
            input.drain(..used);
            if !goes_on {
                break;
            }
        }
    }
}

/// Whole conversations of a driver with the server of its protocol, as the bytes of each side: the seeds of
/// mutated ones.
pub fn conversation(protocol: &str) -> (Vec<u8>, Vec<u8>) {
    let server_model = ServerModel::new(&BTreeMap::from([("rows".to_owned(), "2".to_owned())]))
        .expect("the options are valid");
    let model = server_model
        .open_session()
        .expect("the deployment is not full");
    let (mut wire, mut server) = (wire_of(protocol), server_of(protocol, Ok(1)));
    let (mut sent, mut received) = (Vec::new(), Vec::new());
    let (mut to_server, mut to_client) = (Vec::new(), Vec::new());
    let mut answer = Answer::new(Keep::Rows);
    server.connected(&mut to_client);
    wire.connected(&mut to_server);
    let mut step = 0;
    while step < 2 * REQUESTS {
        sent.extend_from_slice(&to_server);
        loop {
            let (used, demand) = server
                .receive(&to_server, &mut to_client)
                .expect("the server reads what the driver writes");
            let goes_on = match demand {
                ServerEvent::More | ServerEvent::Over => false,
                ServerEvent::Loaded { .. } => true,
                ServerEvent::Execute(statement) => {
                    let mut given = model.answer(statement);
                    while !server.answer(&mut given, &mut to_client) {}
                    true
                }
            };
            to_server.drain(..used);
            if !goes_on {
                break;
            }
        }
        received.extend_from_slice(&to_client);
        loop {
            let (used, progress) = wire
                .receive(&to_client, &mut to_server, &mut answer)
                .expect("the driver reads what the server writes");
            to_client.drain(..used);
            match progress {
                Progress::NeedMore => break,
                Progress::BulkReady => {
                    let _ = wire.bulk_row(&a_row(), &mut to_server);
                    wire.bulk_end(None, &mut to_server);
                }
                Progress::Ready => {
                    answer.clear(Keep::Rows);
                    ask(&mut wire, step, &mut to_server);
                    step += 1;
                }
                Progress::Answered | Progress::StartTls => answer.clear(Keep::Rows),
            }
        }
    }
    (sent, received)
}

/// The number of different requests that [`ask`] can send.
const REQUESTS: usize = 10;

fn ask(wire: &mut AnyWire, step: usize, out: &mut Vec<u8>) {
    if matches!(wire, AnyWire::MongodbWire(_)) {
        return ask_documents(wire, step, out);
    }
    let parameters = [Value::Int(7), Value::Text("é\0'".into()), Value::Null];
    let text = |text: &str| Piece::Text(text.into());
    let pieces = [
        text("SELECT a, b FROM t WHERE c = "),
        Piece::Value,
        text(" AND d = "),
        Piece::Value,
        text(" AND e = "),
        Piece::Value,
    ];
    let request = match step % REQUESTS {
        0 => Request::Prepare {
            id: 1,
            pieces: &pieces,
        },
        1 | 4 => Request::Execute {
            id: 1,
            parameters: &parameters,
        },
        2 => Request::Text("SELECT a FROM t"),
        3 => Request::Bulk {
            text: match wire {
                AnyWire::CassandraWire(_) | AnyWire::MsqlWire(_) => {
                    "INSERT INTO t (a, b, c) VALUES (?, ?, ?)"
                }
                _ => "COPY t (a, b) FROM STDIN",
            },
            form: BulkForm::Native,
            types: &[],
        },
        5 => Request::Text("BEGIN; UPDATE t SET a = 1; COMMIT"),
        6 => {
            if wire.pipelines() {
                for _ in 0..3 {
                    let request = Request::Execute {
                        id: 1,
                        parameters: &parameters,
                    };
                    let _ = wire.queue(&request, out);
                }
                return wire.sync(out);
            }
            Request::Text("")
        }
        7 => Request::Direct {
            pieces: &pieces,
            parameters: &parameters,
        },
        8 => {
            if wire.pipelines() {
                for text in ["SELECT a FROM t", "COMMIT"] {
                    let _ = wire.queue(&Request::Text(text), out);
                }
                return wire.sync(out);
            }
            Request::Text("")
        }
        _ => Request::Text("INSERT INTO t VALUES (1, 'x') RETURNING a"),
    };
    if wire.request(&request, out).is_err() {
        // Invalid here, for example a statement that was never prepared: sends another request instead.
        let _ = wire.request(&Request::Text("SELECT 1"), out);
    }
}

/// The same for a driver whose statements are documents.
fn ask_documents(wire: &mut AnyWire, step: usize, out: &mut Vec<u8>) {
    let parameters = [Value::Int(7), Value::Text("é\0'".into())];
    let text = |text: &str| Piece::Text(text.into());
    let pieces = [
        text("{\"find\": \"t\", \"batchSize\": 1, \"filter\": {\"c\": "),
        Piece::Value,
        text(", \"d\": ["),
        Piece::Value,
        text("]}}"),
    ];
    let request = match step % REQUESTS {
        0 => Request::Prepare {
            id: 1,
            pieces: &pieces,
        },
        1 | 4 => Request::Execute {
            id: 1,
            parameters: &parameters,
        },
        2 => Request::Text("{\"count\": \"t\"}"),
        3 => Request::Bulk {
            text: "{\"insert\": \"t\", \"fields\": [\"a\", \"b\", \"c\"]}",
            form: BulkForm::Native,
            types: &[],
        },
        5 => Request::Begin,
        6 => Request::Text("{\"update\": \"t\", \"updates\": [{\"q\": {}, \"u\": {\"a\": 1}}]}"),
        7 => Request::Commit,
        8 => Request::Direct {
            pieces: &pieces,
            parameters: &parameters,
        },
        _ => Request::Text("{\"findAndModify\": \"t\", \"query\": {}, \"update\": {\"a\": 1}}"),
    };
    if wire.request(&request, out).is_err() {
        let _ = wire.request(&Request::Text("{\"ping\": 1}"), out);
    }
}

fn a_row() -> Row {
    let mut row = Row::new();
    row.push_int(-1);
    row.push_bytes(b"tab\tline\nback\\");
    row.push_null();
    row
}

/// Variants of a protocol as its driver's options. Messages with checksums are refused as soon as one byte is
/// wrong: without them more of what is behind is read.
pub const VARIANTS: [&str; 3] =
    ["cassandra protocol=4", "cassandra protocol=4 compression=lz4", "cassandra compression=lz4"];

/// The driver of a protocol, and options of it.
pub fn wire_of(variant: &str) -> AnyWire {
    let mut words = variant.split(' ');
    let protocol = words.next().unwrap_or_default();
    let option = |word: &str| {
        let (name, value) = word.split_once('=').expect("name=value");
        (name.to_owned(), value.to_owned())
    };
    let driver = DRIVERS.iter().find(|known| known.name == protocol);
    let Some(SessionKind::Wire(begin)) = driver.map(|known| known.sessions) else {
        panic!("{protocol} is not a wire driver");
    };
    let session_statement = match protocol {
        "mongodb" => "{\"ping\": 1}",
        _ => "SET a = 1",
    };
    begin(ConnectOptions {
        user: "user".to_owned(),
        password: Some("anything".to_owned()),
        database: "any".to_owned(),
        is_private: true,
        session_statements: vec![session_statement.to_owned()],
        options: words.map(option).collect(),
        ..ConnectOptions::default()
    })
}

/// The null server of the same.
pub fn server_of(variant: &str, admission: Result<u32, SystemError>) -> AnyServer {
    let protocol = variant.split(' ').next();
    let server = SERVERS.iter().find(|known| Some(known.name) == protocol);
    (server.expect("it is in the list").new_server)(admission)
}

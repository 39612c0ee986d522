//! The driver of Cassandra: on conversations recorded from a real server, on servers that speak against the
//! protocol, and on a real server where there is one.
//!
//! `ASSAY_TEST_CASSANDRA=HOST:PORT` names a server with user and password `cassandra`; with
//! `ASSAY_TEST_RECORD=1` its conversations are written down again.

mod conversation;
mod hostile;
mod scripted;

use assay_drivers::cassandra::{CassandraServer, CassandraWire};
use assay_drivers::{
    Answer, ConnectOptions, ErrorClass, Keep, Progress, Request, ServerEvent, Wire as _,
    WireServer as _,
};

use crate::cassandra::conversation::converse;
use crate::support::{has, named, read, said, write};

pub type Client = crate::support::Client<CassandraWire>;

pub fn options(more: &[(&str, &str)]) -> ConnectOptions {
    ConnectOptions {
        user: "cassandra".to_owned(),
        password: Some("cassandra".to_owned()),
        options: named(more),
        ..ConnectOptions::default()
    }
}

impl Client {
    pub fn pipeline(&mut self, requests: &[Request<'_>]) -> Vec<Answer> {
        let mut answers = Vec::new();
        for request in requests {
            let queued = self.wire.queue(request, &mut self.out);
            queued.expect("it can be expressed");
        }
        self.wire.sync(&mut self.out);
        loop {
            let mut answer = Answer::new(Keep::Rows);
            match self.progress(&mut answer).expect("the session goes on") {
                Progress::Answered => answers.push(answer),
                _ => return answers,
            }
        }
    }
}

/// What each conversation was held with.
const CONVERSATIONS: [(&str, &[(&str, &str)]); 2] = [
    ("version_5", &[("page_size", "3"), ("protocol", "5")]),
    ("version_4", &[("page_size", "3"), ("protocol", "4")]),
];

fn a_server() -> Option<String> {
    let address = std::env::var("ASSAY_TEST_CASSANDRA").ok();
    if address.is_none() {
        eprintln!("skipped: ASSAY_TEST_CASSANDRA=HOST:PORT names no server");
    }
    address
}

fn let_in(address: &str, more: &[(&str, &str)]) -> Client {
    Client::to_server(address, CassandraWire::new(options(more))).expect("it lets us in")
}

#[test]
fn recorded_conversations_are_understood() {
    for (name, more) in CONVERSATIONS {
        let events = read("cassandra", name);
        let wire = CassandraWire::new(options(more));
        let mut client = Client::to_recording(&events, wire).expect("it was let in");
        converse(&mut client);
        assert_eq!(said(&client.events), said(&events), "{name}");
    }
}

#[test]
fn a_real_server_is_understood_as_it_was() {
    let Some(address) = a_server() else { return };
    for (name, more) in CONVERSATIONS {
        // Compressed it is the same.
        for (compression, is_recorded) in [("none", true), ("lz4", false)] {
            let more = [more, &[("compression", compression)]].concat();
            let mut client = let_in(&address, &more);
            converse(&mut client);
            if is_recorded && std::env::var("ASSAY_TEST_RECORD").is_ok() {
                write("cassandra", name, &client.events);
            }
            let recorded = read("cassandra", name);
            assert_eq!(
                said(&client.events),
                said(&recorded),
                "{name} {compression}"
            );
        }
    }
}

#[test]
fn a_real_server_says_why_a_login_is_refused() {
    let Some(address) = a_server() else { return };
    let (mut wrong, mut nowhere) = (options(&[]), options(&[]));
    wrong.password = Some("wrong".to_owned());
    nowhere.database = "nowhere".to_owned();
    for options in [wrong, nowhere] {
        let opened = Client::to_server(&address, CassandraWire::new(options));
        let refusal = opened.err().expect("it is wrong or not there");
        assert_eq!(refusal.class, ErrorClass::Authentication, "{refusal}");
    }
}

/// A message that is longer than a segment, both ways.
#[test]
fn a_real_server_takes_and_gives_long_values() {
    let Some(address) = a_server() else { return };
    for compression in ["none", "lz4"] {
        let mut client = let_in(&address, &[("compression", compression)]);
        crate::cassandra::conversation::long_values(&mut client);
    }
}

const OPTIONS: u8 = 0x05;
const STARTUP: u8 = 0x01;
const QUERY: u8 = 0x07;

/// What the server sends for one message.
fn asked(server: &mut CassandraServer, version: u8, opcode: u8, body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(body.len()).expect("it is short");
    let header = [version, 0, 0, 9, opcode];
    let message = [&header[..], &length.to_be_bytes(), body].concat();
    let mut out = Vec::new();
    let (used, event) = server.receive(&message, &mut out).expect("it is a message");
    assert_eq!(used, message.len());
    let is_over = matches!(event, ServerEvent::Over);
    assert!(is_over || matches!(event, ServerEvent::More), "{event:?}");
    assert_eq!(out[2..4], [0, 9], "the answer's stream");
    out
}

fn query(server: &mut CassandraServer, text: &str) -> Vec<u8> {
    let length = u32::try_from(text.len()).expect("it is short");
    let behind = [0, 1, 0]; // consistency, no flags
    let body = [&length.to_be_bytes(), text.as_bytes(), &behind].concat();
    asked(server, 4, QUERY, &body)
}

/// Clients begin with the newest version that they know, and go on to older ones where an error has these words.
#[test]
fn a_newer_version_is_refused_in_the_words_that_clients_look_for() {
    for version in [66, 65, 6] {
        let refusal = asked(&mut CassandraServer::new(Ok(1)), version, OPTIONS, &[]);
        assert!(has(&refusal, b"unsupported protocol version"), "{version}");
    }
    let supported = asked(&mut CassandraServer::new(Ok(1)), 4, OPTIONS, &[]);
    assert!(has(&supported, b"5/v5"));
}

#[test]
fn a_client_that_asks_for_the_cluster_finds_one_node_and_no_schema() {
    let mut server = CassandraServer::new(Ok(1));
    asked(&mut server, 4, STARTUP, &[0, 0]);
    let node = query(&mut server, "SELECT * FROM system.local WHERE key='local'");
    for column in "cluster_name data_center partitioner host_id schema_version".split(' ') {
        assert!(has(&node, column.as_bytes()), "{column}");
    }
    for table in ["system.peers_v2", "system_schema.keyspaces"] {
        let rows = query(&mut server, &format!("select * from {table}"));
        assert!(rows.ends_with(&[0, 0, 0, 0]), "{table}");
    }
}

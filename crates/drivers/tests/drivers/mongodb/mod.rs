//! The driver of MongoDB's protocol: on a conversation recorded from a server, on servers that violate the
//! protocol, on scripted answers, and on a real server where there is one.
//!
//! `ASSAY_TEST_MONGODB=HOST:PORT` names a server without users; with `ASSAY_TEST_RECORD=NAME` the conversation with
//! it is written down under that name.

mod conversation;
mod hostile;
mod null_server;
mod scripted;

use assay_drivers::ConnectOptions;
use assay_drivers::mongodb::MongodbWire;

use crate::mongodb::conversation::converse;
use crate::support::{named, read, said, write};

pub type Client = crate::support::Client<MongodbWire>;

pub fn options(more: &[(&str, &str)]) -> ConnectOptions {
    ConnectOptions {
        database: "assay_recorded".to_owned(),
        options: named(more),
        ..ConnectOptions::default()
    }
}

/// The server that a conversation was recorded from.
const RECORDED: &[&str] = &["mongo_java_server"];
/// Small batches, so that there are several.
const OPTIONS: &[(&str, &str)] = &[("batch_size", "100")];

fn a_server() -> Option<String> {
    let address = std::env::var("ASSAY_TEST_MONGODB").ok();
    if address.is_none() {
        eprintln!("skipped: ASSAY_TEST_MONGODB=HOST:PORT names no server");
    }
    address
}

#[test]
fn recorded_conversations_are_understood() {
    for name in RECORDED {
        let events = read("mongodb", name);
        let wire = MongodbWire::new(options(OPTIONS));
        let mut client = Client::to_recording(&events, wire).expect("it was let in");
        converse(&mut client);
        assert_eq!(said(&client.events), said(&events), "{name}");
    }
}

#[test]
fn a_real_server_is_understood() {
    let Some(address) = a_server() else { return };
    let wire = MongodbWire::new(options(OPTIONS));
    let mut client = Client::to_server(&address, wire).expect("it lets us in");
    converse(&mut client);
    if let Ok(name) = std::env::var("ASSAY_TEST_RECORD") {
        write("mongodb", &name, &client.events);
    }
    eprintln!("{}", said(&client.events).join("\n"));
}

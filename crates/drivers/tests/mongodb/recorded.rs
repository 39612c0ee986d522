//! Conversations with a real server: as they were written down, and with one that is there now.

use assay_drivers::mongodb::MongodbWire;
use std::fmt::Write as _;
use std::path::PathBuf;

use crate::conversation::converse;
use crate::peer::{Client, Event, options};

/// The server that a conversation was recorded from.
const RECORDED: &[&str] = &["mongo_java_server"];
/// Small batches, so that there are several.
const OPTIONS: &[(&str, &str)] = &[("batch_size", "100")];

fn file(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/mongodb/conversations");
    folder.join(name).with_extension("txt")
}

fn server() -> Option<String> {
    let address = std::env::var("ASSAY_TEST_MONGODB").ok();
    if address.is_none() {
        eprintln!("skipped: ASSAY_TEST_MONGODB=HOST:PORT names no server");
    }
    address
}

fn said(events: &[Event]) -> Vec<&str> {
    (events.iter())
        .filter_map(|event| match event {
            Event::Said(text) => Some(text.as_str()),
            _ => None,
        })
        .collect()
}

#[test]
fn recorded_conversations_are_understood() {
    for name in RECORDED {
        let events = read(name);
        let mut client = Client::to_recording(&events, MongodbWire::new(options(OPTIONS)))
            .expect("it was let in");
        converse(&mut client);
        assert_eq!(said(&client.events), said(&events), "{name}");
    }
}

#[test]
fn a_real_server_is_understood() {
    let Some(address) = server() else { return };
    let mut client =
        Client::to_server(&address, MongodbWire::new(options(OPTIONS))).expect("it lets us in");
    converse(&mut client);
    if let Ok(name) = std::env::var("ASSAY_TEST_RECORD") {
        write(&name, &client.events);
    }
    eprintln!("{}", said(&client.events).join("\n"));
}

fn write(name: &str, events: &[Event]) {
    let mut text = String::new();
    for event in events {
        let (mark, line) = match event {
            Event::Sent(bytes) => ('>', hex(bytes)),
            Event::Received(bytes) => ('<', hex(bytes)),
            Event::Said(said) => ('=', said.clone()),
        };
        writeln!(text, "{mark} {line}").expect("memory is written to");
    }
    std::fs::write(file(name), text).expect("the file can be written");
}

fn read(name: &str) -> Vec<Event> {
    let text = std::fs::read_to_string(file(name)).expect("it was recorded");
    let event = |line: &str| {
        let (mark, line) = line.split_at(2);
        match mark {
            "> " => Event::Sent(bytes(line)),
            "< " => Event::Received(bytes(line)),
            _ => Event::Said(line.to_owned()),
        }
    };
    text.lines().map(event).collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn bytes(hex: &str) -> Vec<u8> {
    let pairs = hex.as_bytes().chunks_exact(2);
    let byte = |pair: &[u8]| {
        let pair = std::str::from_utf8(pair).expect("digits");
        u8::from_str_radix(pair, 16).expect("digits")
    };
    pairs.map(byte).collect()
}

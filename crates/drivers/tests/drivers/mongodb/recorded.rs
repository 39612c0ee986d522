//! Conversations with a real server: as they were written down, and with one that is there now.

use assay_drivers::mongodb::MongodbWire;

use crate::mongodb::conversation::converse;
use crate::mongodb::peer::{Client, options};
use crate::recorded_peer::conversations::{read, said, write};

/// The server that a conversation was recorded from.
const RECORDED: &[&str] = &["mongo_java_server"];
/// Small batches, so that there are several.
const OPTIONS: &[(&str, &str)] = &[("batch_size", "100")];

fn server() -> Option<String> {
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
        write("mongodb", &name, &client.events);
    }
    eprintln!("{}", said(&client.events).join("\n"));
}

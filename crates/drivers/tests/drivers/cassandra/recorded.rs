//! Conversations with a real server: as they were written down, and with one that is there now.

use assay_drivers::cassandra::CassandraWire;

use assay_drivers::ErrorClass;

use crate::cassandra::conversation::converse;
use crate::cassandra::peer::{Client, options};
use crate::recorded_peer::conversations::{read, said, write};

/// What each conversation was held with.
const CONVERSATIONS: [(&str, &[(&str, &str)]); 2] = [
    ("version_5", &[("page_size", "3"), ("protocol", "5")]),
    ("version_4", &[("page_size", "3"), ("protocol", "4")]),
];

fn server() -> Option<String> {
    let address = std::env::var("ASSAY_TEST_CASSANDRA").ok();
    if address.is_none() {
        eprintln!("skipped: ASSAY_TEST_CASSANDRA=HOST:PORT names no server");
    }
    address
}

#[test]
fn recorded_conversations_are_understood() {
    for (name, more) in CONVERSATIONS {
        let events = read("cassandra", name);
        let mut client = Client::to_recording(&events, CassandraWire::new(options(more)))
            .expect("it was let in");
        converse(&mut client);
        assert_eq!(said(&client.events), said(&events), "{name}");
    }
}

#[test]
fn a_real_server_is_understood_as_it_was() {
    let Some(address) = server() else { return };
    for (name, more) in CONVERSATIONS {
        let mut client =
            Client::to_server(&address, CassandraWire::new(options(more))).expect("it lets us in");
        converse(&mut client);
        if std::env::var("ASSAY_TEST_RECORD").is_ok() {
            write("cassandra", name, &client.events);
        }
        assert_eq!(
            said(&client.events),
            said(&read("cassandra", name)),
            "{name}"
        );
        // Compressed it is the same.
        let more = [more, &[("compression", "lz4")]].concat();
        let mut client =
            Client::to_server(&address, CassandraWire::new(options(&more))).expect("it lets us in");
        converse(&mut client);
        assert_eq!(
            said(&client.events),
            said(&read("cassandra", name)),
            "{name} compressed"
        );
    }
}

#[test]
fn a_real_server_says_why_a_login_is_refused() {
    let Some(address) = server() else { return };
    let mut wrong = options(&[]);
    wrong.password = Some("wrong".to_owned());
    let refusal = Client::to_server(&address, CassandraWire::new(wrong))
        .err()
        .expect("it is wrong");
    assert_eq!(refusal.class, ErrorClass::Authentication, "{refusal}");
    let mut nowhere = options(&[]);
    nowhere.database = "nowhere".to_owned();
    let refusal = Client::to_server(&address, CassandraWire::new(nowhere))
        .err()
        .expect("it is not there");
    assert_eq!(refusal.class, ErrorClass::Authentication, "{refusal}");
}

/// A message that is longer than a segment, both ways.
#[test]
fn a_real_server_takes_and_gives_long_values() {
    let Some(address) = server() else { return };
    for compression in ["none", "lz4"] {
        let more = [("compression", compression)];
        let mut client =
            Client::to_server(&address, CassandraWire::new(options(&more))).expect("it lets us in");
        crate::cassandra::conversation::long_values(&mut client);
    }
}

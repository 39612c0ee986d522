//! What other clients send to the null server when they connect, in the form in which they send it.

use assay_drivers::cassandra::CassandraServer;
use assay_drivers::{ServerEvent, WireServer as _};

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

fn holds(bytes: &[u8], text: &str) -> bool {
    let text = text.as_bytes();
    bytes.windows(text.len()).any(|part| part == text)
}

/// Clients begin with the newest version that they know, and go on to older ones where an error has these words.
#[test]
fn a_newer_version_is_refused_in_the_words_that_clients_look_for() {
    for version in [66, 65, 6] {
        let refusal = asked(&mut CassandraServer::new(Ok(1)), version, OPTIONS, &[]);
        assert!(holds(&refusal, "unsupported protocol version"), "{version}");
    }
    let supported = asked(&mut CassandraServer::new(Ok(1)), 4, OPTIONS, &[]);
    assert!(holds(&supported, "5/v5"));
}

#[test]
fn a_client_that_asks_for_the_cluster_finds_one_node_and_no_schema() {
    let mut server = CassandraServer::new(Ok(1));
    asked(&mut server, 4, STARTUP, &[0, 0]);
    let node = query(&mut server, "SELECT * FROM system.local WHERE key='local'");
    for column in [
        "cluster_name",
        "data_center",
        "partitioner",
        "host_id",
        "schema_version",
    ] {
        assert!(holds(&node, column), "{column}");
    }
    for table in ["system.peers_v2", "system_schema.keyspaces"] {
        let rows = query(&mut server, &format!("select * from {table}"));
        assert!(rows.ends_with(&[0, 0, 0, 0]), "{table}");
    }
}

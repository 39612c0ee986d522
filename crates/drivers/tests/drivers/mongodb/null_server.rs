//! The driver and the null server of its protocol, without a socket: each side must read what the other writes,
//! however the bytes are cut.

use assay_drivers::mongodb::{MongodbServer, MongodbWire};
use assay_drivers::{
    Answer, Certainty, ConnectOptions, ErrorClass, Progress, Request, TransactionStatus, Wire as _,
    WireServer as _,
};
use assay_values::Value;

use crate::both_sides::{self, Session, server_model};
use crate::support::{class, pieces};

fn cells(answer: &Answer) -> Vec<String> {
    both_sides::cells(answer).concat()
}

#[test]
fn commands_are_answered_however_the_bytes_are_cut() {
    for cut in [1, 7, 1 << 20] {
        for variant in ["mongodb", "mongodb batch_size=1"] {
            let model = server_model(&[("rows", "3")]);
            let mut session = Session::open(variant, &model, cut);
            let marked = r#"{"find": "t", "filter": {"a": ?, "b": [{"c": ?}]}}"#;
            let pieces = &pieces(marked);
            session.ask(&Request::Prepare { id: 2, pieces });
            for parameters in
                [[Value::Int(7), Value::Text("é\0".into())], [Value::Null, Value::Double(0.5)]]
            {
                let parameters = &parameters;
                for request in
                    [Request::Execute { id: 2, parameters }, Request::Direct { pieces, parameters }]
                {
                    let answer = session.ask(&request);
                    assert_eq!(answer.error, None);
                    assert_eq!(answer.columns, ["n"]);
                    assert_eq!(cells(&answer), ["1", "2", "3"], "{cut} {variant}");
                }
            }
            session.text(r#"{"create": "t"}"#);
            let answer = session.text(r#"{"insert": "t", "documents": [{"a": 1}, {"a": 2}]}"#);
            assert_eq!(answer.affected, 2);
            assert_eq!(cells(&session.text(r#"{"count": "t"}"#)), ["2"]);
            let answer = session.text(r#"{"findAndModify": "t", "update": {"a": 1}}"#);
            assert_eq!((answer.rows, answer.affected), (1, 1));
            let answer = session.text(r#"{"delete": "t", "deletes": [{"q": {}, "limit": 0}]}"#);
            assert_eq!(answer.affected, 2);
        }
    }
}

#[test]
fn rows_of_a_load_are_counted() {
    let model = server_model(&[]);
    let mut session = Session::open("mongodb", &model, 1 << 16);
    session.text(r#"{"create": "t"}"#);
    let answer = session.load(r#"{"insert": "t", "fields": ["a", "b", "c"]}"#, 50_000);
    assert_eq!((answer.error, answer.affected), (None, 50_000));
    assert_eq!(cells(&session.text(r#"{"count": "t"}"#)), ["50000"]);
}

/// A transaction that fails can only be rolled back, and then the session goes on.
#[test]
fn errors_are_of_the_statement_and_end_its_transaction() {
    let model = server_model(&[("fail", "serialization@#2"), ("unknown", "timeout@#5")]);
    let mut session = Session::open("mongodb write_concern=majority", &model, 5);
    let begun = session.ask(&Request::Begin);
    assert_eq!(begun.transaction, TransactionStatus::Open);
    let update = r#"{"update": "t", "updates": [{"q": {"a": 1}, "u": {"$set": {"a": 2}}}]}"#;
    let answer = session.text(update);
    assert_eq!(answer.affected, 1);
    assert_eq!(answer.transaction, TransactionStatus::Open);
    let answer = session.text(update);
    assert_eq!(answer.transaction, TransactionStatus::Failed);
    assert_eq!(class(answer), Some(ErrorClass::Serialization));
    let answer = session.ask(&Request::Rollback);
    assert_eq!(answer.error, None);
    assert_eq!(answer.transaction, TransactionStatus::None);
    // Nothing is open: nothing is sent.
    assert_eq!(session.ask(&Request::Rollback).error, None);
    assert_eq!(session.text(update).error, None);
    let error = session.text(update).error.expect("an option asks for it");
    assert_eq!(error.certainty, Certainty::Unknown);
}

/// SCRAM proves that both sides know the password, which the null server does not.
#[test]
fn a_login_that_needs_the_password_is_refused_with_what_can_be_done() {
    let options = [("auth_mechanism".to_owned(), "SCRAM-SHA-256".to_owned())];
    let mut wire = MongodbWire::new(ConnectOptions {
        user: "user".to_owned(),
        password: Some("anything".to_owned()),
        options: options.into(),
        ..ConnectOptions::default()
    });
    let mut server = MongodbServer::new(Ok(7));
    let (mut to_server, mut to_client) = (Vec::new(), Vec::new());
    wire.connected(&mut to_server);
    let refusal = loop {
        let received = server.receive(&to_server, &mut to_client);
        received.expect("a message");
        to_server.clear();
        match wire.receive(&to_client, &mut to_server, &mut Answer::default()) {
            Ok((used, Progress::NeedMore)) => drop(to_client.drain(..used)),
            Ok(other) => panic!("{other:?}"),
            Err(error) => break error,
        }
    };
    assert_eq!(refusal.class, ErrorClass::Authentication);
    assert!(refusal.message.contains("authMechanism=PLAIN"), "{refusal}");
}

#[test]
fn a_client_that_lists_what_there_is_finds_nothing() {
    let model = server_model(&[]);
    let mut session = Session::open("mongodb", &model, 1 << 20);
    for command in ["listCollections", "listIndexes", "listDatabases"] {
        let answer = session.text(&format!("{{\"{command}\": 1}}"));
        assert_eq!(answer.error, None, "{command}");
    }
    assert_eq!(session.text("{\"listCollections\": 1}").rows, 0);
}

//! The driver and the null server of its protocol, without a socket: each side must read what the other writes,
//! however the bytes are cut.

use std::time::Instant;

use assay_drivers::mongodb::{MongodbServer, MongodbWire};
use assay_drivers::null::{PlannedReply, ServerModel, SessionModel};
use assay_drivers::{
    Answer, BulkForm, Certainty, ConnectOptions, ErrorClass, Keep, Progress, Request, ServerEvent,
    SystemError, TransactionStatus, Wire as _, WireServer as _,
};
use assay_values::{Row, Value};

use crate::pieces::pieces;

struct Session {
    wire: MongodbWire,
    server: MongodbServer,
    model: SessionModel,
    to_server: Vec<u8>,
    to_client: Vec<u8>,
    /// How many bytes are read at a time.
    cut: usize,
}

fn model(options: &[(&str, &str)]) -> ServerModel {
    let options = options
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect();
    ServerModel::new(&options).expect("the options are valid")
}

impl Session {
    fn open(model: &ServerModel, cut: usize, options: &[(&str, &str)]) -> Self {
        let option = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        let mut session = Self {
            wire: MongodbWire::new(ConnectOptions {
                user: "user".to_owned(),
                password: Some("anything".to_owned()),
                is_private: true,
                session_statements: vec!["{\"ping\": 1}".to_owned()],
                options: options.iter().map(option).collect(),
                ..ConnectOptions::default()
            }),
            server: MongodbServer::new(Ok(7)),
            model: model.open_session().expect("the deployment is not full"),
            to_server: Vec::new(),
            to_client: Vec::new(),
            cut,
        };
        session.wire.connected(&mut session.to_server);
        let opened = session.exchange(&mut Answer::default());
        assert_eq!(opened, Ok(Progress::Ready));
        assert_eq!(session.wire.session_id(), 7);
        session
    }

    /// Passes bytes between the two until the client is ready.
    fn exchange(&mut self, answer: &mut Answer) -> Result<Progress, SystemError> {
        for _ in 0..100_000 {
            self.serve()?;
            let mut end = 0;
            loop {
                end = (end + self.cut).min(self.to_client.len());
                let (used, progress) =
                    self.wire
                        .receive(&self.to_client[..end], &mut self.to_server, answer)?;
                self.to_client.drain(..used);
                end -= used;
                if progress != Progress::NeedMore {
                    return Ok(progress);
                }
                if end == self.to_client.len() {
                    break;
                }
            }
        }
        panic!("neither side sends anything any more");
    }

    fn serve(&mut self) -> Result<(), SystemError> {
        let mut end = 0;
        while end < self.to_server.len() {
            end = (end + self.cut).min(self.to_server.len());
            loop {
                let input = &self.to_server[..end];
                let (used, event) = self.server.receive(input, &mut self.to_client)?;
                let goes_on = match event {
                    ServerEvent::Execute(statement) => {
                        let reply = self.model.plan_reply(statement, Instant::now());
                        let mut given = self.model.answer(statement);
                        match reply {
                            PlannedReply::Answered {
                                error: Some(error), ..
                            } => self.server.fail(&error, &mut self.to_client),
                            _ => while !self.server.answer(&mut given, &mut self.to_client) {},
                        }
                        true
                    }
                    _ => false,
                };
                self.to_server.drain(..used);
                end -= used;
                if !goes_on {
                    break;
                }
            }
        }
        Ok(())
    }

    fn ask(&mut self, request: &Request<'_>) -> Answer {
        let mut answer = Answer::new(Keep::Rows);
        self.wire
            .request(request, &mut self.to_server)
            .expect("it can be expressed");
        let progress = self.exchange(&mut answer).expect("the session goes on");
        assert_eq!(progress, Progress::Ready);
        answer
    }

    fn text(&mut self, text: &str) -> Answer {
        self.ask(&Request::Text(text))
    }
}

fn cells(answer: &Answer) -> Vec<String> {
    let text = |row: &Vec<Option<Box<[u8]>>>| {
        let cell = row[0].as_deref().unwrap_or(b"NULL");
        String::from_utf8_lossy(cell).into_owned()
    };
    answer.kept.iter().map(text).collect()
}

#[test]
fn commands_are_answered_however_the_bytes_are_cut() {
    for cut in [1, 7, 1 << 20] {
        for options in [&[][..], &[("batch_size", "1")]] {
            let model = model(&[("rows", "3")]);
            let mut session = Session::open(&model, cut, options);
            let marked = r#"{"find": "t", "filter": {"a": ?, "b": [{"c": ?}]}}"#;
            let pieces = &pieces(marked);
            session.ask(&Request::Prepare { id: 2, pieces });
            for parameters in [
                [Value::Int(7), Value::Text("é\0".into())],
                [Value::Null, Value::Double(0.5)],
            ] {
                let parameters = &parameters;
                for request in [
                    Request::Execute { id: 2, parameters },
                    Request::Direct { pieces, parameters },
                ] {
                    let answer = session.ask(&request);
                    assert_eq!(answer.error, None);
                    assert_eq!(answer.columns, ["n"]);
                    assert_eq!(cells(&answer), ["1", "2", "3"], "{cut} {options:?}");
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
    let model = model(&[]);
    let mut session = Session::open(&model, 1 << 16, &[]);
    session.text(r#"{"create": "t"}"#);
    let request = Request::Bulk {
        text: r#"{"insert": "t", "fields": ["a", "b", "c"]}"#,
        form: BulkForm::Native,
        types: &[],
    };
    session
        .wire
        .request(&request, &mut session.to_server)
        .expect("it can be expressed");
    let mut answer = Answer::default();
    assert_eq!(session.exchange(&mut answer), Ok(Progress::BulkReady));
    let mut row = Row::new();
    for number in 0..50_000 {
        row.clear();
        row.push_int(number);
        row.push_bytes(b"text of some length");
        row.push_null();
        assert!(
            session
                .wire
                .bulk_row(&row, &mut session.to_server)
                .is_continue()
        );
        while session.wire.bulk_is_full() {
            session.serve().expect("well formed");
            let (used, progress) = (session.wire)
                .receive(&session.to_client, &mut session.to_server, &mut answer)
                .expect("well formed");
            session.to_client.drain(..used);
            assert_eq!(progress, Progress::NeedMore);
        }
    }
    session.wire.bulk_end(None, &mut session.to_server);
    assert_eq!(session.exchange(&mut answer), Ok(Progress::Ready));
    assert_eq!((answer.error, answer.affected), (None, 50_000));
    assert_eq!(cells(&session.text(r#"{"count": "t"}"#)), ["50000"]);
}

/// A transaction that fails can only be rolled back, and then the session goes on.
#[test]
fn errors_are_of_the_statement_and_end_its_transaction() {
    let model = model(&[("fail", "serialization@#2"), ("unknown", "timeout@#5")]);
    let mut session = Session::open(&model, 5, &[("write_concern", "majority")]);
    assert_eq!(
        session.ask(&Request::Begin).transaction,
        TransactionStatus::Open
    );
    let update = r#"{"update": "t", "updates": [{"q": {"a": 1}, "u": {"$set": {"a": 2}}}]}"#;
    let answer = session.text(update);
    assert_eq!(
        (answer.affected, answer.transaction),
        (1, TransactionStatus::Open)
    );
    let answer = session.text(update);
    assert_eq!(
        answer.error.map(|error| error.class),
        Some(ErrorClass::Serialization)
    );
    assert_eq!(answer.transaction, TransactionStatus::Failed);
    let answer = session.ask(&Request::Rollback);
    assert_eq!(
        (answer.error, answer.transaction),
        (None, TransactionStatus::None)
    );
    // Nothing is open: nothing is sent.
    assert_eq!(session.ask(&Request::Rollback).error, None);
    assert_eq!(session.text(update).error, None);
    let error = session.text(update).error.expect("an option asks for it");
    assert_eq!(error.certainty, Certainty::Unknown);
}

#[test]
fn a_refused_client_gets_the_reason() {
    let full = SystemError::new(ErrorClass::TooManyConnections, "", "100 are enough");
    let mut server = MongodbServer::new(Err(full));
    let mut wire = MongodbWire::new(ConnectOptions::default());
    let (mut to_server, mut to_client) = (Vec::new(), Vec::new());
    wire.connected(&mut to_server);
    let event = server
        .receive(&to_server, &mut to_client)
        .expect("well formed")
        .1;
    assert!(matches!(event, ServerEvent::Over));
    let error = wire
        .receive(&to_client, &mut to_server, &mut Answer::default())
        .expect_err("refused");
    assert_eq!(error.class, ErrorClass::TooManyConnections);
    assert_eq!(error.message, "100 are enough");
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
        server
            .receive(&to_server, &mut to_client)
            .expect("a message");
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
    let model = model(&[]);
    let mut session = Session::open(&model, 1 << 20, &[]);
    for command in ["listCollections", "listIndexes", "listDatabases"] {
        let answer = session.text(&format!("{{\"{command}\": 1}}"));
        assert_eq!(answer.error, None, "{command}");
    }
    assert_eq!(session.text("{\"listCollections\": 1}").rows, 0);
}

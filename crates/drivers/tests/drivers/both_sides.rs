//! Connects each driver with the server side of its own protocol, without a socket: each side must
//! read what the other side writes, however the bytes are cut.

use std::time::Instant;

use assay_drivers::null::{PlannedReply, ServerModel, SessionModel};
use assay_drivers::registry::{AnyWire, DRIVERS};
use assay_drivers::servers::{AnyServer, SERVERS};
use assay_drivers::{
    Answer, ErrorClass, Keep, Progress, Request, ServerEvent, SystemError, Wire as _,
    WireServer as _,
};
use assay_values::{Piece, Row, Value};

use crate::fuzz::wire::{server_of, wire_of};
use crate::support::{class, named, native, pieces, sent};

/// Both sides of one session, and the bytes in transit.
pub struct Session {
    pub wire: AnyWire,
    server: AnyServer,
    model: SessionModel,
    pub to_server: Vec<u8>,
    pub to_client: Vec<u8>,
    /// How many bytes are read at a time.
    cut: usize,
}

pub fn server_model(options: &[(&str, &str)]) -> ServerModel {
    ServerModel::new(&named(options)).expect("the options are valid")
}

impl Session {
    /// `variant`: a protocol, then options of its driver.
    pub fn open(variant: &str, server_model: &ServerModel, cut: usize) -> Self {
        let model = server_model.open_session().expect("there is room");
        let mut session = Self {
            wire: wire_of(variant),
            server: server_of(variant, Ok(7)),
            model,
            to_server: Vec::new(),
            to_client: Vec::new(),
            cut,
        };
        session.server.connected(&mut session.to_client);
        session.wire.connected(&mut session.to_server);
        let mut answer = Answer::default();
        assert_eq!(session.exchange(&mut answer), Ok(Progress::Ready));
        let number = match session.wire {
            AnyWire::CassandraWire(_) | AnyWire::MsqlWire(_) => 0,
            _ => 7,
        };
        assert_eq!(session.wire.session_id(), number);
        session
    }

    /// Moves bytes between both sides until the client is ready.
    pub fn exchange(&mut self, answer: &mut Answer) -> Result<Progress, SystemError> {
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
        panic!("neither side sends anything");
    }

    pub fn serve(&mut self) -> Result<(), SystemError> {
        let mut end = 0;
        while end < self.to_server.len() {
            end = (end + self.cut).min(self.to_server.len());
            loop {
                let input = &self.to_server[..end];
                let (used, demand) = self.server.receive(input, &mut self.to_client)?;
                let can_continue = match demand {
                    ServerEvent::Execute(statement) => {
                        let PlannedReply::Answered { error, .. } =
                            self.model.plan_reply(statement, Instant::now())
                        else {
                            panic!("no option loses a session");
                        };
                        let mut given = self.model.answer(statement);
                        match error {
                            Some(error) => self.server.fail(&error, &mut self.to_client),
                            None => while !self.server.answer(&mut given, &mut self.to_client) {},
                        }
                        true
                    }
                    ServerEvent::Loaded { table, rows } => {
                        self.model.loaded(table, rows);
                        true
                    }
                    ServerEvent::More | ServerEvent::Over => false,
                };
                self.to_server.drain(..used);
                end -= used;
                if !can_continue {
                    break;
                }
            }
        }
        Ok(())
    }

    pub fn ask(&mut self, request: &Request<'_>) -> Answer {
        let mut answer = Answer::new(Keep::Rows);
        self.to_server.extend(sent(&mut self.wire, request));
        assert_eq!(self.exchange(&mut answer), Ok(Progress::Ready));
        answer
    }

    pub fn text(&mut self, text: &str) -> Answer {
        self.ask(&Request::Text(text))
    }

    pub fn load(&mut self, text: &str, rows: i64) -> Answer {
        self.to_server.extend(sent(&mut self.wire, &native(text)));
        let mut answer = Answer::new(Keep::Rows);
        assert_eq!(self.exchange(&mut answer), Ok(Progress::BulkReady));
        for at in 0..rows {
            let mut row = Row::new();
            row.push_int(at);
            row.push_bytes("tab\tline\nback\\".as_bytes());
            row.push_null();
            let taken = self.wire.bulk_row(&row, &mut self.to_server);
            assert!(taken.is_continue(), "the protocol can express the row");
            while self.wire.bulk_is_full() {
                self.serve().expect("well formed");
                let (used, progress) = (self.wire)
                    .receive(&self.to_client, &mut self.to_server, &mut answer)
                    .expect("well formed");
                self.to_client.drain(..used);
                assert_eq!(progress, Progress::NeedMore);
            }
        }
        self.wire.bulk_end(None, &mut self.to_server);
        assert_eq!(self.exchange(&mut answer), Ok(Progress::Ready));
        answer
    }
}

/// What is agreed on otherwise than by default.
const VARIANTS: [&str; 4] = [
    "cassandra protocol=4 page_size=7",
    "cassandra compression=lz4",
    "cassandra protocol=4 compression=lz4",
    "cassandra page_size=1",
];

/// Every protocol of SQL, and its variants.
fn protocols() -> impl Iterator<Item = &'static str> {
    let sql = SERVERS.iter().filter(|known| known.language == "sql");
    sql.map(|known| known.name).chain(VARIANTS)
}

/// Whether it takes several statements in one text, has transactions, and says how many rows were changed.
fn is_sql(variant: &str) -> bool {
    let protocol = variant.split(' ').next();
    let driver = DRIVERS.iter().find(|known| Some(known.name) == protocol);
    driver.expect("it has a driver").has_transactions
}

/// Statements of a load into a table with three columns.
fn load_texts(variant: &str) -> &'static [&'static str] {
    const COPY: &str = "COPY t (a, b, c) FROM STDIN";
    match is_sql(variant) {
        true => &[COPY, COPY],
        false => &[COPY, "INSERT INTO t (a, b, c) VALUES (?, ?, ?)"],
    }
}

pub fn cells(answer: &Answer) -> Vec<Vec<String>> {
    let text = |cell: &Option<Box<[u8]>>| {
        String::from_utf8_lossy(cell.as_deref().unwrap_or(b"NULL")).into_owned()
    };
    (answer.kept.iter())
        .map(|row| row.iter().map(text).collect())
        .collect()
}

#[test]
fn statements_are_answered_however_the_bytes_are_cut() {
    for protocol in protocols() {
        for cut in [1, 3, 7, 1 << 20] {
            let server_model = server_model(&[("rows", "2")]);
            let mut session = Session::open(protocol, &server_model, cut);
            let answer = session.text("SELECT a, b FROM t");
            assert_eq!(answer.columns, ["a", "b"], "{protocol}");
            assert_eq!(cells(&answer), [["1", "1"], ["2", "2"]], "{protocol}");
            let answer = session.text("UPDATE t SET a = 1");
            let changed = u64::from(is_sql(protocol));
            assert_eq!((answer.affected, answer.rows), (changed, 0), "{protocol}");

            let text = "SELECT a FROM t WHERE b = ? AND c = ?";
            let pieces = &pieces(text);
            let prepared = session.ask(&Request::Prepare { id: 3, pieces });
            assert_eq!(prepared.error, None, "{protocol}");
            for parameters in
                [[Value::Int(7), Value::Text("x".into())], [Value::Null, Value::Double(0.5)]]
            {
                let parameters = &parameters;
                let answer = session.ask(&Request::Execute { id: 3, parameters });
                assert_eq!(cells(&answer), [["1"], ["2"]], "{protocol}");
                assert_eq!(answer.columns, ["a"], "{protocol}");
                // The same as an unnamed statement, twice: it leaves no state in the session.
                for _ in 0..2 {
                    let answer = session.ask(&Request::Direct { pieces, parameters });
                    assert_eq!(answer.error, None, "{protocol}");
                    assert_eq!(cells(&answer), [["1"], ["2"]], "{protocol}");
                }
            }
            let pieces = &[Piece::Text("BEGIN".into())];
            let prepared = session.ask(&Request::Prepare { id: 0, pieces });
            assert_eq!(prepared.error, None, "{protocol}");
            let parameters = &[];
            session.ask(&Request::Execute { id: 0, parameters });
            assert_eq!(session.text("COMMIT").error, None, "{protocol}");
        }
    }
}

#[test]
fn rows_of_a_load_are_counted() {
    for protocol in protocols() {
        let server_model = server_model(&[]);
        let mut session = Session::open(protocol, &server_model, 4096);
        session.text("CREATE TABLE t (a INTEGER, b TEXT, c TEXT)");
        for text in load_texts(protocol) {
            let answer = session.load(text, 5_000);
            assert_eq!((answer.error, answer.affected), (None, 5_000), "{protocol}");
        }
        let mut second = Session::open(protocol, &server_model, 1);
        assert_eq!(cells(&second.text("SELECT count(*) FROM t")), [["10000"]]);
        if is_sql(protocol) {
            assert_eq!(session.text("DELETE FROM t").affected, 10_000, "{protocol}");
        }
    }
}

#[test]
fn a_statement_error_leaves_the_session_open() {
    for protocol in protocols() {
        // Those that the protocol has a number for.
        let [first, second] = match is_sql(protocol) {
            true => [ErrorClass::Deadlock, ErrorClass::Constraint],
            false => [ErrorClass::Timeout, ErrorClass::Data],
        };
        let fail = format!("{}@#2,{}@#5", first.word(), second.word());
        let server_model = server_model(&[("fail", &fail), ("rows", "1")]);
        let mut session = Session::open(protocol, &server_model, 5);
        assert_eq!(session.text("BEGIN").error, None);
        assert_eq!(class(session.text("SELECT 1")), Some(first), "{protocol}");
        assert_eq!(session.text("ROLLBACK").error, None, "{protocol}");
        let text = "INSERT INTO t VALUES (?)";
        let pieces = &pieces(text);
        session.ask(&Request::Prepare { id: 1, pieces });
        let parameters = &[Value::Int(1)];
        let mut insert = || session.ask(&Request::Execute { id: 1, parameters });
        assert_eq!(insert().error, None, "{protocol}");
        assert_eq!(class(insert()), Some(second), "{protocol}");
        assert_eq!(insert().error, None, "{protocol}");
        let class = class(session.text("SELECT 1 FROM pg_catalog.pg_class"));
        assert_eq!(class, Some(ErrorClass::UnknownObject), "{protocol}");
    }
}

#[test]
fn a_refused_client_receives_the_reason() {
    for protocol in crate::fuzz::wire::protocols() {
        let mut wire = wire_of(protocol);
        let full = SystemError::new(ErrorClass::TooManyConnections, "", "100 are enough");
        let mut server = server_of(protocol, Err(full));
        let (mut to_client, mut to_server) = (Vec::new(), Vec::new());
        server.connected(&mut to_client);
        wire.connected(&mut to_server);
        let (_, demand) = (server.receive(&to_server, &mut to_client)).expect("well formed");
        assert!(matches!(demand, ServerEvent::Over), "{protocol}");
        let error = wire
            .receive(&to_client, &mut to_server, &mut Answer::default())
            .expect_err("the client is refused");
        assert_eq!(error.class, ErrorClass::TooManyConnections, "{protocol}");
        // A protocol without codes has the class in the words of the message.
        assert!(error.message.ends_with("100 are enough"), "{protocol}");
    }
}

/// Several statements in one text, as the drivers send combined statements.
#[test]
fn a_text_of_several_statements_gets_an_answer_for_each() {
    for protocol in protocols().filter(|protocol| is_sql(protocol)) {
        let server_model = server_model(&[("rows", "2")]);
        let mut session = Session::open(protocol, &server_model, 2);
        let answer = session.text("BEGIN; SELECT a FROM t; UPDATE t SET a = ';'; COMMIT");
        assert_eq!(answer.error, None, "{protocol}");
        assert_eq!(answer.rows, 2, "{protocol}");
        assert_eq!(answer.affected, 1, "{protocol}");
    }
}

#[test]
fn an_answer_of_many_rows_comes_in_pieces() {
    for protocol in protocols() {
        let server_model = server_model(&[("rows", "100000")]);
        let mut session = Session::open(protocol, &server_model, 1 << 16);
        let mut answer = Answer::new(Keep::Count);
        session.to_server = sent(&mut session.wire, &Request::Text("SELECT a FROM t"));
        assert_eq!(session.exchange(&mut answer), Ok(Progress::Ready));
        assert_eq!(answer.rows, 100_000, "{protocol}");
    }
}

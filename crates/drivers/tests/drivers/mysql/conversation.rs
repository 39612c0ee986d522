//! Defines a conversation that uses every part of the protocol, as steps.

use std::fmt::Write as _;

use crate::support::pieces;
use assay_drivers::{Answer, BulkForm, ConnectOptions, Keep, Request};
use assay_values::{Piece, Row, Value};

use super::client::{Client, options, row};

pub enum Step {
    Text(&'static str),
    Prepare(u32, &'static str),
    Execute(u32, Vec<Value>),
    Load(BulkForm, &'static str, Vec<Row>),
}

impl Step {
    /// `pieces` are those of the statement to prepare.
    pub fn request<'a>(&'a self, pieces: &'a [Piece]) -> Request<'a> {
        match *self {
            Self::Text(text) => Request::Text(text),
            Self::Prepare(id, _) => Request::Prepare { id, pieces },
            Self::Execute(id, ref parameters) => Request::Execute { id, parameters },
            Self::Load(form, text, _) => bulk(text, form),
        }
    }
}

/// Begins a load into columns of any types.
pub fn bulk(text: &str, form: BulkForm) -> Request<'_> {
    let types = &[];
    Request::Bulk { text, form, types }
}

pub const SERVERS: [&str; 2] = ["mariadb", "mysql"];

pub fn opening() -> ConnectOptions {
    let mut options = options("guest", Some("pass wörd"), "own");
    options.session_statements = vec!["SET @greeting = 'hello'".to_owned()];
    options
}

pub fn steps() -> Vec<Step> {
    const CREATE: &str =
        "CREATE TABLE said (id INT PRIMARY KEY, word VARCHAR(20), weight DOUBLE, day DATE)";
    const SELECT: &str = "SELECT id, word, weight, day FROM said WHERE id >= ? AND word <> ?";
    const UPDATE: &str = "UPDATE said SET day = '2011-03-04', weight = weight * ? WHERE id < 10";
    const FILE: &str = "LOAD DATA LOCAL INFILE 'rows' INTO TABLE said (id, word, weight)";
    const INSERT: &str = "INSERT INTO said (id, word, weight) VALUES";
    let rows = |from: i32| {
        let row = |(at, word): (i32, _)| row(&[Some(&at.to_string()), word, Some("0.5")]);
        let words = [Some("one\ttwo\\"), None, Some("")];
        (from..).zip(words).map(row).collect()
    };
    vec![
        Step::Text("DROP TABLE IF EXISTS said"),
        Step::Text(CREATE),
        Step::Text("SELECT @greeting AS greeting, NULL AS nothing, '' AS blank"),
        Step::Load(BulkForm::Native, FILE, rows(0)),
        Step::Load(BulkForm::Native, FILE, rows(2)),
        Step::Load(BulkForm::MultiRow, INSERT, rows(10)),
        Step::Load(BulkForm::MultiRow, INSERT, rows(10)),
        Step::Load(BulkForm::Native, "DO 0", rows(20)),
        Step::Prepare(0, SELECT),
        Step::Execute(0, vec![Value::Int(0), Value::Text("no".into())]),
        Step::Execute(0, vec![Value::Int(1), Value::Null]),
        Step::Execute(0, vec![Value::Double(9.5), Value::Bool(false)]),
        Step::Prepare(1, "SELECT nothing FROM said"),
        Step::Prepare(1, "BEGIN"),
        Step::Execute(1, vec![]),
        Step::Prepare(2, UPDATE),
        Step::Execute(2, vec![Value::Double(1.5)]),
        Step::Text("INSERT INTO said (id) VALUES (0)"),
        Step::Text("SELECT id FROM said WHERE id < 2; SELECT day FROM said; COMMIT"),
        Step::Text("DROP TABLE said"),
    ]
}

/// Runs the steps on a client; returns one line for each, which describes the answer.
pub fn hold(client: &mut Client, steps: &[Step], keep: Keep) -> Vec<String> {
    let mut lines = vec![client_line(client)];
    for step in steps {
        let answer = match step {
            Step::Load(_, _, rows) => Ok(client.load_as(&step.request(&[]), rows.clone(), None)),
            Step::Prepare(_, text) => client.try_ask(&step.request(&pieces(text)), keep),
            _ => client.try_ask(&step.request(&[]), keep),
        };
        lines.push(answer_line(&answer.expect("the session stays open")));
    }
    lines
}

/// The line of an answer whose rows are only counted.
pub fn counted(line: &str) -> String {
    match line.split_once(" affected (") {
        Some((counts, _)) => format!("{counts} affected"),
        None => line.to_owned(),
    }
}

fn client_line(client: &Client) -> String {
    use assay_drivers::Wire as _;
    let wire = &client.wire;
    format!("{}, session {}", wire.server_version(), wire.session_id())
}

fn answer_line(answer: &Answer) -> String {
    let mut line = format!("{} rows, {} affected", answer.rows, answer.affected);
    for row in &answer.kept {
        let cell = |cell: &Option<Box<[u8]>>| match cell {
            Some(text) => text.escape_ascii().to_string(),
            None => "NULL".to_owned(),
        };
        let cells: Vec<String> = row.iter().map(cell).collect();
        let _ = write!(line, " ({})", cells.join("|"));
    }
    if let Some(error) = &answer.error {
        let _ = write!(line, ": {error}");
    }
    line
}

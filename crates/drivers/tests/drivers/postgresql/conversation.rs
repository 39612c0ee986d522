//! Takes a conversation's text; returns its steps, runs them on a driver, and formats the results.
//!
//! Lines: `! key value` an option of the session, `> …` the request, `C …` what the driver sends,
//! `S …` what the server sent (both escaped as Rust escapes bytes), `= …` the result.

use std::fmt::Write as _;

use assay_drivers::postgresql::PostgresqlWire;
use assay_drivers::{Answer, ConnectOptions, Keep, Progress, Request, SystemError, Wire};
use assay_values::{Row, Value};

use crate::support::{native, pieces};

#[derive(Default)]
pub struct Conversation {
    pub options: ConnectOptions,
    pub steps: Vec<Step>,
}

#[derive(Clone, Default)]
pub struct Step {
    pub request: String,
    pub sent: Vec<u8>,
    pub received: Vec<u8>,
    pub meaning: String,
}

impl Conversation {
    pub fn read(text: &str) -> Self {
        let mut conversation = Self::default();
        let is_said = |line: &&str| !line.is_empty() && !line.starts_with('#');
        for line in text.lines().filter(is_said) {
            let (kind, rest) = line.split_at_checked(2).unwrap_or((line, ""));
            if kind == "> " {
                conversation.steps.push(Step {
                    request: rest.to_owned(),
                    ..Step::default()
                });
                continue;
            }
            if kind == "! " {
                conversation.set_option(rest);
                continue;
            }
            let step = conversation.steps.last_mut();
            let step = step.expect("a step begins with a request");
            match kind {
                "C " => step.sent.extend(unescape(rest)),
                "S " => step.received.extend(unescape(rest)),
                "= " => rest.clone_into(&mut step.meaning),
                _ => panic!("invalid line of a conversation: {line}"),
            }
        }
        conversation
    }

    fn set_option(&mut self, line: &str) {
        let (key, value) = line.split_once(' ').expect("an option has a value");
        match key {
            "user" => value.clone_into(&mut self.options.user),
            "database" => value.clone_into(&mut self.options.database),
            "password" => self.options.password = Some(value.to_owned()),
            "private" => self.options.is_private = value == "yes",
            "session" => self.options.session_statements.push(value.to_owned()),
            _ => panic!("unknown option of a session: {line}"),
        }
    }
}

/// Begins the step `request`; returns whether the server will answer it.
pub fn begin(
    wire: &mut PostgresqlWire,
    request: &str,
    out: &mut Vec<u8>,
) -> Result<bool, SystemError> {
    let (verb, rest) = request.split_once(' ').unwrap_or((request, ""));
    match verb {
        "connect" => wire.connected(out),
        "text" => wire.request(&Request::Text(rest), out)?,
        "prepare" => {
            let (id, text) = numbered(rest);
            let pieces = &pieces(text);
            wire.request(&Request::Prepare { id, pieces }, out)?;
        }
        "execute" => {
            let (id, parameters) = executed(rest);
            let parameters = &parameters;
            wire.request(&Request::Execute { id, parameters }, out)?;
        }
        "queue" => {
            match rest.split_once(' ').unwrap_or((rest, "")) {
                ("text", text) => {
                    let (pieces, parameters) = (&pieces(text), &[]);
                    wire.queue(&Request::Direct { pieces, parameters }, out)?;
                }
                ("together", text) => wire.queue(&Request::Text(text), out)?,
                (_, rest) => {
                    let (id, parameters) = executed(rest);
                    let parameters = &parameters;
                    wire.queue(&Request::Execute { id, parameters }, out)?;
                }
            }
            return Ok(false);
        }
        "sync" => wire.sync(out),
        "bulk" => wire.request(&native(rest), out)?,
        "row" => {
            let mut row = Row::new();
            for cell in rest.split('|') {
                if cell == "NULL" {
                    row.push_null();
                } else {
                    row.push_bytes(&unescape(cell));
                }
            }
            assert!(wire.bulk_row(&row, out).is_continue());
            return Ok(false);
        }
        "end" => wire.bulk_end(None, out),
        "abort" => wire.bulk_end(Some(rest), out),
        _ => panic!("unknown step of a conversation: {request}"),
    }
    Ok(true)
}

/// The result of a step, in one line.
pub fn meaning(result: &Result<Progress, SystemError>, answer: &Answer) -> String {
    let progress = match result {
        Ok(progress) => progress,
        Err(error) => return format!("over: {} {}", error.class.word(), error.code),
    };
    let (rows, affected) = (answer.rows, answer.affected);
    let mut line = format!("{progress:?} rows {rows} affected {affected}");
    if let Some(error) = &answer.error {
        write!(line, " error {} {}", error.class.word(), error.code).expect("memory");
    }
    if !answer.columns.is_empty() {
        write!(line, " columns {}", answer.columns.join(",")).expect("memory");
    }
    for row in &answer.kept {
        let cells = row.iter().map(|cell| match cell {
            Some(text) => text.escape_ascii().to_string(),
            None => "NULL".to_owned(),
        });
        write!(line, " [{}]", cells.collect::<Vec<_>>().join("|")).expect("memory");
    }
    line
}

/// Reads answers until the step ends or more bytes are needed; appends the earlier answers of a pipeline
/// to `earlier`. `read` returns the driver's result for the bytes received.
pub fn read_all(
    earlier: &mut String,
    answer: &mut Answer,
    keep: Keep,
    mut read: impl FnMut(&mut Answer) -> Result<Progress, SystemError>,
) -> Result<Progress, SystemError> {
    loop {
        let result = read(answer);
        if result != Ok(Progress::Answered) {
            return result;
        }
        write!(earlier, "{}; ", meaning(&result, answer)).expect("memory");
        answer.clear(keep);
    }
}

/// The result of a step whose rows are only counted.
pub fn counted(meaning: &str) -> String {
    let parts = meaning.split("; ").map(|part| {
        let end = part.find(" columns ").or_else(|| part.find(" ["));
        &part[..end.unwrap_or(part.len())]
    });
    parts.collect::<Vec<_>>().join("; ")
}

pub fn answer() -> Answer {
    Answer::new(Keep::Rows)
}

fn numbered(text: &str) -> (u32, &str) {
    let (id, rest) = text.split_once(' ').unwrap_or((text, ""));
    (id.parse().expect("a statement id comes first"), rest)
}

/// The number of a prepared statement, and its values.
fn executed(text: &str) -> (u32, Vec<Value>) {
    let (id, list) = numbered(text);
    (id, list.split_terminator(", ").map(value).collect())
}

fn value(word: &str) -> Value {
    match word.split_once(' ') {
        Some(("int", number)) => Value::Int(number.parse().expect("an integer")),
        Some(("double", number)) => Value::Double(number.parse().expect("a number")),
        Some(("bool", truth)) => Value::Bool(truth == "true"),
        Some(("text", text)) => Value::Text(text.into()),
        _ => Value::Null,
    }
}

/// Reverses `escape_ascii`.
pub fn unescape(text: &str) -> Vec<u8> {
    let mut bytes = text.bytes();
    let mut plain = Vec::new();
    while let Some(byte) = bytes.next() {
        plain.push(match byte {
            b'\\' => match bytes.next().expect("something follows a backslash") {
                b't' => b'\t',
                b'n' => b'\n',
                b'r' => b'\r',
                b'x' => {
                    let digits =
                        [bytes.next(), bytes.next()].map(|digit| digit.expect("two digits"));
                    let digits = std::str::from_utf8(&digits).expect("digits are ASCII");
                    u8::from_str_radix(digits, 16).expect("two hexadecimal digits")
                }
                plain => plain,
            },
            byte => byte,
        });
    }
    plain
}

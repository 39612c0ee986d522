//! Shared by the tests of this crate: statements in pieces, options, sessions of a library on files of their own, and
//! drivers at a real server or at what was written down of one.

use std::collections::{BTreeMap, VecDeque};
use std::fmt::Write as _;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::PathBuf;
use std::time::Duration;

use assay_drivers::{
    Answer, Blocking, BulkForm, Keep, LocalOptions, Progress, Request, SystemError, Wire,
};
use assay_values::{ColumnType, Piece, Row};

/// A `?` within quotes is text.
pub fn pieces(marked: &str) -> Vec<Piece> {
    let (mut pieces, mut text, mut quote) = (Vec::new(), String::new(), None);
    for letter in marked.chars() {
        match (letter, quote) {
            ('?', None) => {
                pieces.push(Piece::Text(std::mem::take(&mut text).into()));
                pieces.push(Piece::Value);
                continue;
            }
            ('\'' | '"', None) => quote = Some(letter),
            (letter, Some(open)) if letter == open => quote = None,
            _ => {}
        }
        text.push(letter);
    }
    pieces.push(Piece::Text(text.into()));
    pieces
}

/// Options by their names.
pub fn named(options: &[(&str, &str)]) -> BTreeMap<String, String> {
    let option = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    options.iter().map(option).collect()
}

/// A temporary folder, removed when dropped.
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn new(test: &str) -> Self {
        let path = std::env::temp_dir().join(format!("assay-{test}-{}", std::process::id()));
        std::fs::create_dir_all(&path).expect("the temporary directory takes a folder");
        Self(path)
    }

    /// The file of the test's database.
    pub fn file(&self) -> PathBuf {
        self.0.join("test.db")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A session of a library.
pub fn local<'a>(
    file: Option<&'a str>,
    options: &'a BTreeMap<String, String>,
    session_statements: &'a [String],
) -> LocalOptions<'a> {
    LocalOptions {
        password: None,
        file,
        session_statements,
        connect_timeout: Duration::from_secs(30),
        options,
    }
}

pub fn ask(session: &mut impl Blocking, request: &Request<'_>) -> Answer {
    let mut answer = Answer::new(Keep::Rows);
    session
        .request(request, &mut answer)
        .expect("the session stays open");
    answer
}

pub fn text(session: &mut impl Blocking, sql: &str) -> Answer {
    ask(session, &Request::Text(sql))
}

/// Executes a statement without an error; returns how many rows it changed.
pub fn done(session: &mut impl Blocking, sql: &str) -> u64 {
    let answer = text(session, sql);
    assert_eq!(answer.error, None, "{sql}");
    answer.affected
}

/// The cells of the rows, separated by bars.
pub fn rows(answer: &Answer, null: &str) -> Vec<String> {
    assert_eq!(answer.error, None);
    let cell = |cell: &Option<Box<[u8]>>| match cell {
        Some(text) => String::from_utf8_lossy(text).into_owned(),
        None => null.to_owned(),
    };
    let row = |row: &Vec<_>| row.iter().map(cell).collect::<Vec<_>>().join("|");
    answer.kept.iter().map(row).collect()
}

/// The driver waits for an answer, and receives this: why the session is over.
pub fn refused(wire: &mut impl Wire, bytes: &[u8]) -> SystemError {
    let (mut out, mut answer) = (Vec::new(), Answer::new(Keep::Rows));
    let error = match wire.receive(bytes, &mut out, &mut answer) {
        Err(error) => error,
        Ok(end) => panic!("it was believed: {end:?} {bytes:02x?}"),
    };
    assert!(error.class.ends_the_session(), "{error}");
    let again = wire.receive(bytes, &mut out, &mut answer);
    assert!(again.is_err(), "it stays over");
    error
}

/// What one side did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    Sent(Vec<u8>),
    Received(Vec<u8>),
    /// What the driver made of it.
    Said(String),
}

enum Peer {
    Server(TcpStream),
    Recording(VecDeque<Event>),
}

pub struct Client<W> {
    pub wire: W,
    peer: Peer,
    input: Vec<u8>,
    pub events: Vec<Event>,
}

impl<W: Wire> Client<W> {
    pub fn to_server(address: &str, wire: W) -> Result<Self, SystemError> {
        let stream = TcpStream::connect(address).expect("the server listens");
        (stream.set_read_timeout(Some(Duration::from_secs(60)))).expect("a socket has time-outs");
        Self::open(Peer::Server(stream), wire)
    }

    pub fn to_recording(events: &[Event], wire: W) -> Result<Self, SystemError> {
        let said = |event: &Event| matches!(event, Event::Said(_));
        let bytes = events.iter().filter(|event| !said(event)).cloned();
        Self::open(Peer::Recording(bytes.collect()), wire)
    }

    fn open(peer: Peer, wire: W) -> Result<Self, SystemError> {
        let mut client = Self {
            wire,
            peer,
            input: Vec::new(),
            events: Vec::new(),
        };
        let mut out = Vec::new();
        client.wire.connected(&mut out);
        client.send(&out);
        let progress = client.progress(&mut Answer::default())?;
        assert_eq!(progress, Progress::Ready);
        Ok(client)
    }

    pub fn send(&mut self, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        match &mut self.peer {
            Peer::Server(stream) => stream.write_all(bytes).expect("the server reads"),
            Peer::Recording(events) => {
                assert_eq!(events.pop_front(), Some(Event::Sent(bytes.to_vec())));
            }
        }
        self.events.push(Event::Sent(bytes.to_vec()));
    }

    fn hear(&mut self) {
        let bytes = match &mut self.peer {
            Peer::Server(stream) => {
                let mut bytes = vec![0; 1 << 16];
                let count = stream.read(&mut bytes).expect("the server answers");
                assert_ne!(count, 0, "the server closed the connection");
                bytes.truncate(count);
                bytes
            }
            Peer::Recording(events) => match events.pop_front() {
                Some(Event::Received(bytes)) => bytes,
                other => panic!("expected bytes of the server, recorded was {other:?}"),
            },
        };
        self.input.extend_from_slice(&bytes);
        self.events.push(Event::Received(bytes));
    }

    /// Reads until the driver wants something else than bytes.
    pub fn progress(&mut self, answer: &mut Answer) -> Result<Progress, SystemError> {
        loop {
            let mut out = Vec::new();
            let (used, progress) = self.wire.receive(&self.input, &mut out, answer)?;
            self.input.drain(..used);
            self.send(&out);
            if progress != Progress::NeedMore {
                return Ok(progress);
            }
            self.hear();
        }
    }

    pub fn ask(&mut self, request: &Request<'_>) -> Answer {
        let (mut out, mut answer) = (Vec::new(), Answer::new(Keep::Rows));
        if let Err(error) = self.wire.request(request, &mut out) {
            answer.error = Some(error);
            return answer;
        }
        self.send(&out);
        let progress = self.progress(&mut answer).expect("the session goes on");
        assert_eq!(progress, Progress::Ready);
        answer
    }

    pub fn load(
        &mut self,
        text: &str,
        types: &[ColumnType],
        rows: impl Iterator<Item = Row>,
    ) -> Answer {
        let request = Request::Bulk {
            text,
            form: BulkForm::Native,
            types,
        };
        let (mut out, mut answer) = (Vec::new(), Answer::new(Keep::Rows));
        if let Err(error) = self.wire.request(&request, &mut out) {
            answer.error = Some(error);
            return answer;
        }
        self.send(&out);
        if self.progress(&mut answer).expect("the session goes on") == Progress::Ready {
            return answer;
        }
        out.clear();
        for row in rows {
            if self.wire.bulk_row(&row, &mut out).is_break() {
                self.send(&out);
                self.progress(&mut answer).expect("the session goes on");
                return answer;
            }
            if self.wire.bulk_is_full() {
                self.send(&out);
                out.clear();
                while self.wire.bulk_is_full() {
                    self.hear();
                    let (used, progress) = (self.wire)
                        .receive(&self.input, &mut out, &mut answer)
                        .expect("the session goes on");
                    self.input.drain(..used);
                    if progress == Progress::Ready {
                        return answer;
                    }
                }
            }
        }
        self.wire.bulk_end(None, &mut out);
        self.send(&out);
        let progress = self.progress(&mut answer).expect("the session goes on");
        assert_eq!(progress, Progress::Ready);
        answer
    }

    /// Notes what an answer says, with this text for its columns.
    pub fn note(&mut self, what: &str, answer: &Answer, columns: &str) {
        self.say(what.to_owned());
        if let Some(error) = &answer.error {
            self.say(format!("  {error} {:?}", error.certainty));
        }
        if !answer.columns.is_empty() {
            self.say(format!("  columns {columns}"));
        }
        for row in &answer.kept {
            let cell = |cell: &Option<Box<[u8]>>| match cell {
                Some(bytes) => String::from_utf8_lossy(bytes).escape_debug().to_string(),
                None => "NULL".to_owned(),
            };
            let cells: Vec<String> = row.iter().map(cell).collect();
            self.say(format!("  {}", cells.join(" | ")));
        }
        if answer.rows + answer.affected > 0 {
            self.say(format!(
                "  rows {}, affected {}",
                answer.rows, answer.affected
            ));
        }
    }

    /// Notes what the driver made of the server's bytes.
    pub fn say(&mut self, text: String) {
        self.events.push(Event::Said(text));
    }
}

fn file(driver: &str, name: &str) -> PathBuf {
    let tests = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/drivers");
    (tests.join(driver).join("conversations").join(name)).with_extension("txt")
}

pub fn write(driver: &str, name: &str, events: &[Event]) {
    let mut text = String::new();
    for event in events {
        let (mark, line) = match event {
            Event::Sent(bytes) => ('>', hex(bytes)),
            Event::Received(bytes) => ('<', hex(bytes)),
            Event::Said(said) => ('=', said.clone()),
        };
        writeln!(text, "{mark} {line}").expect("memory is written to");
    }
    std::fs::write(file(driver, name), text).expect("the file can be written");
}

pub fn read(driver: &str, name: &str) -> Vec<Event> {
    let text = std::fs::read_to_string(file(driver, name)).expect("it was recorded");
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

/// What the driver made of it all.
pub fn said(events: &[Event]) -> Vec<&str> {
    (events.iter())
        .filter_map(|event| match event {
            Event::Said(text) => Some(text.as_str()),
            _ => None,
        })
        .collect()
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

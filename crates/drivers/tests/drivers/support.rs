//! Shared by the tests of this crate: statements in pieces, options, sessions of a library on files of their own, and
//! drivers at a real server or at what was written down of one.

use std::collections::{BTreeMap, VecDeque};
use std::fmt::Write as _;
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use assay_drivers::{
    Answer, Blocking, BulkForm, ErrorClass, Keep, LocalOptions, Progress, Request, SystemError,
    Wire,
};
use assay_values::{ColumnType, Piece, Row, Value};

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

/// Begins a load in the protocol's own form, into columns of any types.
pub fn native(text: &str) -> Request<'_> {
    Request::Bulk {
        text,
        form: BulkForm::Native,
        types: &[],
    }
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

static NEVER: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

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
        stop: &NEVER,
    }
}

/// What is expected of a session whose statement fails or not.
pub const OPEN: &str = "the session stays open";

pub fn ask(session: &mut impl Blocking, request: &Request<'_>) -> Answer {
    ask_for(session, request, Keep::Rows)
}

pub fn ask_for(session: &mut impl Blocking, request: &Request<'_>, keep: Keep) -> Answer {
    let mut answer = Answer::new(keep);
    session.request(request, &mut answer).expect(OPEN);
    answer
}

pub fn text(session: &mut impl Blocking, sql: &str) -> Answer {
    ask(session, &Request::Text(sql))
}

pub fn prepare(session: &mut impl Blocking, id: u32, marked: &str) {
    let pieces = &pieces(marked);
    let answer = ask(session, &Request::Prepare { id, pieces });
    assert_eq!(answer.error, None, "{marked}");
}

pub fn execute(session: &mut impl Blocking, id: u32, parameters: &[Value]) -> Answer {
    ask(session, &Request::Execute { id, parameters })
}

/// Executes a statement without an error; returns how many rows it changed.
pub fn done(session: &mut impl Blocking, sql: &str) -> u64 {
    let answer = text(session, sql);
    assert_eq!(answer.error, None, "{sql}");
    answer.affected
}

/// Ends a load.
pub fn end(session: &mut impl Blocking, abort: Option<&str>) -> Answer {
    let mut answer = Answer::default();
    session.bulk_end(abort, &mut answer).expect(OPEN);
    answer
}

/// The class of a statement's error.
pub fn class(answer: Answer) -> Option<ErrorClass> {
    answer.error.map(|error| error.class)
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

/// What the driver sends for a request.
pub fn sent(wire: &mut impl Wire, request: &Request<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    let made = wire.request(request, &mut out);
    made.expect("it can be expressed");
    out
}

pub fn has(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

/// A driver that has connected and received these messages, each as a whole, and what the last came to.
pub fn greeted<W: Wire>(mut wire: W, messages: impl IntoIterator<Item = Vec<u8>>) -> (W, Progress) {
    let (mut out, mut answer, mut progress) = (Vec::new(), Answer::default(), Progress::NeedMore);
    wire.connected(&mut out);
    for bytes in messages {
        let received = wire.receive(&bytes, &mut out, &mut answer);
        let (used, next) = received.expect("well formed");
        assert_eq!(used, bytes.len());
        progress = next;
    }
    (wire, progress)
}

/// The driver waits for the rest of a message, which never comes.
pub fn is_waited_for(wire: &mut impl Wire, bytes: &[u8]) {
    let heard = wire.receive(bytes, &mut Vec::new(), &mut Answer::default());
    assert_eq!(heard, Ok((0, Progress::NeedMore)));
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

/// How long a server may send nothing before a test fails.
const SILENCE: Duration = Duration::from_secs(60);

/// What one side did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    Sent(Vec<u8>),
    Received(Vec<u8>),
    /// What the driver made of it.
    Said(String),
}

/// A connection, or what stands for one.
pub trait Socket: Read + Write + Send {}
impl<T: Read + Write + Send> Socket for T {}

/// Replays the server's side, `cut` bytes at a time, and checks the client's side.
pub struct Replay {
    events: VecDeque<Event>,
    cut: usize,
}

impl Replay {
    pub fn new(events: &[Event], cut: usize) -> Self {
        let bytes = events
            .iter()
            .filter(|event| !matches!(event, Event::Said(_)));
        let events = bytes.cloned().collect();
        Self { events, cut }
    }

    /// Up to `count` bytes of what the client sends next, or else of what the server does.
    fn take(&mut self, of_client: bool, count: usize) -> Vec<u8> {
        let taken = match self.events.front_mut() {
            Some(Event::Sent(bytes)) if of_client => take_first(bytes, count),
            Some(Event::Received(bytes)) if !of_client => take_first(bytes, count),
            None => Vec::new(),
            other => panic!("it is the other side's turn: {other:?}"),
        };
        if let Some(Event::Sent(rest) | Event::Received(rest)) = self.events.front()
            && rest.is_empty()
        {
            self.events.pop_front();
        }
        taken
    }
}

fn take_first(bytes: &mut Vec<u8>, count: usize) -> Vec<u8> {
    bytes.drain(..count.min(bytes.len())).collect()
}

impl Read for Replay {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let taken = self.take(false, self.cut.min(buffer.len()));
        buffer[..taken.len()].copy_from_slice(&taken);
        Ok(taken.len())
    }
}

impl Write for Replay {
    fn write(&mut self, buffer: &[u8]) -> std::io::Result<usize> {
        let expected = self.take(true, buffer.len());
        assert_eq!(expected, buffer[..expected.len()]);
        Ok(expected.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

pub fn tcp(address: &str) -> TcpStream {
    let stream = TcpStream::connect(address).expect("the server listens");
    (stream.set_read_timeout(Some(SILENCE))).expect("a socket has time-outs");
    stream
}

pub fn unix(path: &Path) -> UnixStream {
    let stream = UnixStream::connect(path).expect("the server listens");
    (stream.set_read_timeout(Some(SILENCE))).expect("a socket has time-outs");
    stream
}

/// A wire driver on a blocking socket.
pub struct Client<W> {
    pub wire: W,
    pub out: Vec<u8>,
    pub events: Vec<Event>,
    /// Whether the bytes of both sides are among the events.
    pub is_recorded: bool,
    socket: Box<dyn Socket>,
    input: Vec<u8>,
}

impl<W: Wire> Client<W> {
    /// Over TCP, at `host:port`.
    pub fn to_server(address: &str, wire: W) -> Result<Self, SystemError> {
        Self::open(tcp(address), wire)
    }

    /// At a Unix socket.
    pub fn to_socket(path: &Path, wire: W) -> Result<Self, SystemError> {
        Self::open(unix(path), wire)
    }

    pub fn to_recording(events: &[Event], wire: W) -> Result<Self, SystemError> {
        Self::open(Replay::new(events, usize::MAX), wire)
    }

    pub fn open(socket: impl Socket + 'static, wire: W) -> Result<Self, SystemError> {
        let mut client = Self::new(socket, wire);
        client.wire.connected(&mut client.out);
        assert_eq!(client.progress(&mut Answer::default())?, Progress::Ready);
        Ok(client)
    }

    pub fn new(socket: impl Socket + 'static, wire: W) -> Self {
        Self {
            wire,
            out: Vec::new(),
            events: Vec::new(),
            is_recorded: true,
            socket: Box::new(socket),
            input: Vec::new(),
        }
    }

    pub fn send(&mut self) {
        if self.out.is_empty() {
            return;
        }
        let _ = self.socket.write_all(&self.out); // an error is reported by the next read
        let bytes = std::mem::take(&mut self.out);
        if self.is_recorded {
            self.events.push(Event::Sent(bytes));
        }
    }

    fn hear(&mut self) -> Result<(), SystemError> {
        let lost = |message: &str| SystemError::new(ErrorClass::LostConnection, "", message);
        let mut bytes = vec![0; 1 << 16];
        let count = loop {
            match self.socket.read(&mut bytes) {
                Ok(0) => return Err(lost("the server closed the connection")),
                Ok(count) => break count,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(lost(&error.to_string())),
            }
        };
        bytes.truncate(count);
        self.input.extend_from_slice(&bytes);
        if self.is_recorded {
            self.events.push(Event::Received(bytes));
        }
        Ok(())
    }

    /// Sends the driver's bytes and reads until it wants something else than bytes.
    pub fn progress(&mut self, answer: &mut Answer) -> Result<Progress, SystemError> {
        loop {
            self.send();
            let (used, progress) = self.wire.receive(&self.input, &mut self.out, answer)?;
            self.input.drain(..used);
            if progress != Progress::NeedMore {
                self.send();
                return Ok(progress);
            }
            if self.out.is_empty() {
                self.hear()?;
            }
        }
    }

    /// # Errors
    /// Where the request cannot be expressed, or the session ends.
    pub fn try_ask(&mut self, request: &Request<'_>, keep: Keep) -> Result<Answer, SystemError> {
        let mut answer = Answer::new(keep);
        self.wire.request(request, &mut self.out)?;
        assert_eq!(self.progress(&mut answer)?, Progress::Ready);
        Ok(answer)
    }

    pub fn ask(&mut self, request: &Request<'_>) -> Answer {
        let mut answer = Answer::new(Keep::Rows);
        if let Err(error) = self.wire.request(request, &mut self.out) {
            self.out.clear();
            answer.error = Some(error);
            return answer;
        }
        let progress = self.progress(&mut answer).expect("the session goes on");
        assert_eq!(progress, Progress::Ready);
        answer
    }

    pub fn load(
        &mut self,
        text: &str,
        types: &[ColumnType],
        rows: impl IntoIterator<Item = Row>,
    ) -> Answer {
        let form = BulkForm::Native;
        self.load_as(&Request::Bulk { text, form, types }, rows, None)
    }

    /// Runs a bulk load and sends its rows as the engine does, in pieces of 64 KiB.
    pub fn load_as(
        &mut self,
        bulk: &Request<'_>,
        rows: impl IntoIterator<Item = Row>,
        abort: Option<&str>,
    ) -> Answer {
        const OPEN: &str = "the session goes on";
        let mut answer = Answer::new(Keep::Rows);
        if let Err(error) = self.wire.request(bulk, &mut self.out) {
            self.out.clear();
            answer.error = Some(error);
            return answer;
        }
        if self.progress(&mut answer).expect(OPEN) == Progress::Ready {
            return answer;
        }
        for row in rows {
            if self.wire.bulk_row(&row, &mut self.out).is_break() {
                self.progress(&mut answer).expect(OPEN);
                return answer;
            }
            if self.out.len() > 64 * 1024 || self.wire.bulk_is_full() {
                self.send();
            }
            while self.wire.bulk_is_full() {
                self.hear().expect(OPEN);
                let received = self.wire.receive(&self.input, &mut self.out, &mut answer);
                let (used, progress) = received.expect(OPEN);
                self.input.drain(..used);
                if progress == Progress::Ready {
                    return answer;
                }
            }
        }
        self.wire.bulk_end(abort, &mut self.out);
        assert_eq!(self.progress(&mut answer).expect(OPEN), Progress::Ready);
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
            let (rows, affected) = (answer.rows, answer.affected);
            self.say(format!("  rows {rows}, affected {affected}"));
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

pub fn bytes(hex: &str) -> Vec<u8> {
    let pairs = hex.as_bytes().chunks_exact(2);
    let byte = |pair: &[u8]| {
        let pair = std::str::from_utf8(pair).expect("digits");
        u8::from_str_radix(pair, 16).expect("digits")
    };
    pairs.map(byte).collect()
}

//! Takes a driver; connects it with a real server, whose bytes can be written down, or with what was written
//! down.

pub mod conversations;

use std::collections::VecDeque;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use assay_drivers::{Answer, BulkForm, Keep, Progress, Request, SystemError, Wire};
use assay_values::{ColumnType, Row};

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

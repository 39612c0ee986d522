//! A minimal client: a wire driver on a blocking socket.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;

use crate::support::pieces;
use assay_drivers::mysql::MysqlWire;
use assay_drivers::{
    Answer, BulkForm, ConnectOptions, ErrorClass, Keep, Progress, Request, SystemError, Wire,
};
use assay_values::{Row, Value};

use super::server::Server;

trait Socket: Read + Write + Send {}
impl<T: Read + Write + Send> Socket for T {}

pub struct Client {
    socket: Box<dyn Socket>,
    pub wire: MysqlWire,
    input: Vec<u8>,
    out: Vec<u8>,
    /// If recording: the bytes of both directions, each with `C` (client) or `S` (server).
    pub record: Option<Vec<(char, Vec<u8>)>>,
}

pub fn options(user: &str, password: Option<&str>, database: &str) -> ConnectOptions {
    ConnectOptions {
        user: user.to_owned(),
        password: password.map(str::to_owned),
        database: database.to_owned(),
        ..ConnectOptions::default()
    }
}

impl Client {
    pub fn unix(server: &Server, options: ConnectOptions) -> Result<Self, SystemError> {
        let socket = UnixStream::connect(server.socket()).expect("the server accepts connections");
        Self::open(
            Box::new(socket),
            ConnectOptions {
                is_private: true,
                ..options
            },
            false,
        )
    }

    pub fn root(server: &Server, database: &str) -> Self {
        Self::unix(server, options("root", None, database)).expect("root is accepted")
    }

    pub fn tcp(server: &Server, options: ConnectOptions) -> Result<Self, SystemError> {
        let socket =
            TcpStream::connect(("127.0.0.1", server.port)).expect("the server accepts connections");
        Self::open(Box::new(socket), options, false)
    }

    /// Over TCP, with a record of every byte.
    pub fn recorded(server: &Server, options: ConnectOptions) -> Result<Self, SystemError> {
        let socket =
            TcpStream::connect(("127.0.0.1", server.port)).expect("the server accepts connections");
        Self::open(Box::new(socket), options, true)
    }

    /// Over any socket, for example a recorded one.
    pub fn over(
        socket: impl Read + Write + Send + 'static,
        options: ConnectOptions,
    ) -> Result<Self, SystemError> {
        Self::open(Box::new(socket), options, false)
    }

    fn open(
        socket: Box<dyn Socket>,
        options: ConnectOptions,
        is_recorded: bool,
    ) -> Result<Self, SystemError> {
        let mut client = Self {
            socket,
            wire: MysqlWire::new(options),
            input: Vec::new(),
            out: Vec::new(),
            record: is_recorded.then(Vec::new),
        };
        client.wire.connected(&mut client.out);
        let progress = client.turn(&mut Answer::default())?;
        assert_eq!(progress, Progress::Ready);
        Ok(client)
    }

    /// Sends the driver's bytes and reads until the driver requires an action of its caller.
    pub fn turn(&mut self, answer: &mut Answer) -> Result<Progress, SystemError> {
        loop {
            self.send();
            let (used, progress) = self.wire.receive(&self.input, &mut self.out, answer)?;
            self.input.drain(..used);
            if progress != Progress::NeedMore {
                self.send();
                return Ok(progress);
            }
            if !self.out.is_empty() {
                continue;
            }
            let mut piece = vec![0; 1 << 16];
            let count = match self.socket.read(&mut piece) {
                Ok(0) => return Err(lost("the server closed the connection")),
                Ok(count) => count,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(lost(&error.to_string())),
            };
            if let Some(record) = &mut self.record {
                record.push(('S', piece[..count].to_vec()));
            }
            self.input.extend_from_slice(&piece[..count]);
        }
    }

    fn send(&mut self) {
        if self.out.is_empty() {
            return;
        }
        if let Some(record) = &mut self.record {
            record.push(('C', self.out.clone()));
        }
        let _ = self.socket.write_all(&self.out); // an error is reported by the next read
        self.out.clear();
    }

    pub fn ask(&mut self, request: &Request<'_>, keep: Keep) -> Result<Answer, SystemError> {
        let mut answer = Answer::new(keep);
        self.wire.request(request, &mut self.out)?;
        assert_eq!(self.turn(&mut answer)?, Progress::Ready);
        Ok(answer)
    }

    /// Executes a text statement that must succeed; returns all its rows.
    pub fn rows(&mut self, text: &str) -> Answer {
        let answer = self.ask(&Request::Text(text), Keep::Rows).expect(text);
        assert_eq!(answer.error, None, "{text}");
        answer
    }

    /// The only cell of the only row that a statement returns.
    pub fn cell(&mut self, text: &str) -> String {
        let answer = self.rows(text);
        assert_eq!(answer.kept.len(), 1, "{text}");
        String::from_utf8(answer.kept[0][0].as_deref().expect("not NULL").to_vec()).expect("text")
    }

    /// The error of a statement that must fail; the session must stay open.
    pub fn error(&mut self, text: &str) -> SystemError {
        let answer = self
            .ask(&Request::Text(text), Keep::Count)
            .expect("the session stays open");
        answer.error.unwrap_or_else(|| panic!("{text} must fail"))
    }

    pub fn prepare(&mut self, id: u32, text: &str) {
        let answer = self
            .ask(
                &Request::Prepare {
                    id,
                    pieces: &pieces(text),
                },
                Keep::Count,
            )
            .expect(text);
        assert_eq!(answer.error, None, "{text}");
    }

    pub fn execute(&mut self, id: u32, parameters: &[Value], keep: Keep) -> Answer {
        let request = Request::Execute { id, parameters };
        let answer = self.ask(&request, keep).expect("the session stays open");
        assert_eq!(answer.error, None, "{parameters:?}");
        answer
    }

    /// Runs a bulk load and sends its rows as the engine does, in pieces of 64 KiB.
    pub fn load(
        &mut self,
        text: &str,
        form: BulkForm,
        rows: impl IntoIterator<Item = Row>,
        abort: Option<&str>,
    ) -> Answer {
        let mut answer = Answer::new(Keep::Count);
        self.wire
            .request(
                &Request::Bulk {
                    text,
                    form,
                    types: &[],
                },
                &mut self.out,
            )
            .expect("a bulk request");
        if self.turn(&mut answer).expect("the session stays open") == Progress::Ready {
            return answer;
        }
        for row in rows {
            assert!(self.wire.bulk_row(&row, &mut self.out).is_continue());
            if self.out.len() > 64 * 1024 {
                self.send();
            }
        }
        self.wire.bulk_end(abort, &mut self.out);
        assert_eq!(
            self.turn(&mut answer).expect("the session stays open"),
            Progress::Ready
        );
        answer
    }
}

pub fn row(cells: &[Option<&str>]) -> Row {
    let mut row = Row::new();
    for cell in cells {
        match cell {
            None => row.push_null(),
            Some(text) => row.push_bytes(text.as_bytes()),
        }
    }
    row
}

fn lost(message: &str) -> SystemError {
    SystemError::new(ErrorClass::LostConnection, "", message)
}

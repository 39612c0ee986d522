//! Takes requests; appends their packets, and reports when the next request may be sent.

pub(crate) mod authentication;
pub(crate) mod file_load;
pub(crate) mod insert_load;
pub(crate) mod packets;
pub(crate) mod prepare;
pub(crate) mod public_key;
pub(crate) mod scramble;
pub(crate) mod session;
pub(crate) mod signature;
pub(crate) mod statement;
pub(crate) mod typed_value;

use std::ops::ControlFlow;

use assay_values::Row;

use crate::mysql::client::file_load::FileLoad;
use crate::mysql::client::insert_load::InsertLoad;
use crate::mysql::client::session::{Opening, Server};
use crate::mysql::client::statement::{DIRECT, Preparation, Statements};
use crate::mysql::shared::column::Column;
use crate::mysql::shared::constants::command;
use crate::mysql::shared::packet::Packets;
use crate::mysql::shared::results::{Format, Results};
use crate::mysql::shared::{greeting, refusal};
use crate::{
    Answer, BulkForm, Cancel, ConnectOptions, Progress, Request, Sender, SystemError, Wire,
};

/// One session with a MySQL or MariaDB server, or another server with their protocol.
pub struct MysqlWire {
    pub(crate) options: ConnectOptions,
    pub(crate) server: Server,
    pub(crate) packets: Packets,
    pub(crate) phase: Phase,
    pub(crate) statements: Statements,
    /// Columns of the last result in text.
    pub(crate) columns: Vec<Column>,
    /// Buffer for the text of numbers.
    pub(crate) text: Vec<u8>,
}

/// The state of the session.
pub(crate) enum Phase {
    Opening(Opening),
    Idle,
    /// A statement's results are being read; `id` is that of a prepared statement.
    Results {
        results: Results,
        id: Option<u32>,
    },
    /// Prepare was sent; the text is kept for servers that cannot prepare every kind of statement.
    PrepareSent {
        id: u32,
        text: String,
        has_values: bool,
    },
    Preparing {
        id: u32,
        preparation: Preparation,
    },
    FileLoad(FileLoad),
    InsertLoad(InsertLoad),
    /// An error ended the session.
    Over,
}

impl MysqlWire {
    /// A session that has not been connected yet.
    #[must_use]
    pub fn new(mut options: ConnectOptions) -> Self {
        // A zero byte ends a name in the protocol. It is replaced by U+FFFD, so that the server
        // reports the name as unknown.
        for name in [&mut options.user, &mut options.database] {
            *name = name.replace('\0', "\u{fffd}");
        }
        Self {
            options,
            server: Server::default(),
            packets: Packets::default(),
            phase: Phase::Opening(Opening::AwaitingGreeting),
            statements: Statements::default(),
            columns: Vec::new(),
            text: Vec::new(),
        }
    }

    #[inline]
    fn query(&mut self, text: &str, out: &mut Vec<u8>) {
        self.packets.query(text, out);
        self.phase = Phase::Results {
            results: Results::new(Format::Text),
            id: None,
        };
    }
}

impl Wire for MysqlWire {
    fn sender_of(first: &[u8]) -> Option<Sender> {
        greeting::sender_of(first)
    }

    /// The server sends first.
    fn connected(&mut self, _out: &mut Vec<u8>) {}

    fn secured(&mut self, out: &mut Vec<u8>) {
        if let Phase::Opening(opening) = &mut self.phase {
            opening.secured(&self.options, &self.server, &mut self.packets, out);
        }
    }

    #[inline]
    fn request(&mut self, request: &Request<'_>, out: &mut Vec<u8>) -> Result<(), SystemError> {
        if !matches!(self.phase, Phase::Idle) {
            return Err(refusal::refused(
                "a request was made before the session was ready",
            ));
        }
        match *request {
            Request::Execute { id, parameters } => {
                let Some(statement) = self.statements.get_mut(id) else {
                    return Err(refusal::refused(
                        "the statement is not prepared in this session",
                    ));
                };
                let format = statement.write(parameters, &mut self.packets, out)?;
                self.phase = Phase::Results {
                    results: Results::new(format),
                    id: Some(id),
                };
            }
            Request::Text(text) => self.query(text, out),
            Request::Prepare { id, pieces } => self.prepare(id, pieces, out),
            Request::Begin | Request::Commit | Request::Rollback => {
                self.query(request.sql().unwrap_or_default(), out);
            }
            // The protocol prepares and executes in two requests; the second is sent after the first is answered.
            Request::Direct { pieces, parameters } => {
                self.statements.values = parameters.to_vec();
                self.prepare(DIRECT, pieces, out);
            }
            Request::Bulk {
                text,
                form: BulkForm::Native,
                ..
            } => {
                self.phase = Phase::FileLoad(FileLoad::begin(text, &mut self.packets, out));
            }
            Request::Bulk {
                text,
                form: BulkForm::MultiRow,
                ..
            } => {
                self.phase = Phase::InsertLoad(InsertLoad::begin(text, &mut self.packets, out));
            }
        }
        Ok(())
    }

    #[inline]
    fn receive(
        &mut self,
        input: &[u8],
        out: &mut Vec<u8>,
        answer: &mut Answer,
    ) -> Result<(usize, Progress), SystemError> {
        let (skimmed, is_complete) = self.skim(input, out, answer);
        if is_complete {
            return Ok((skimmed, Progress::Ready));
        }
        let received = self
            .receive_messages(&input[skimmed..], out, answer)
            .map(|(used, progress)| (skimmed + used, progress));
        if received.is_err() {
            self.phase = Phase::Over;
        }
        received
    }

    #[inline]
    fn bulk_row(&mut self, row: &Row, out: &mut Vec<u8>) -> ControlFlow<()> {
        match &mut self.phase {
            Phase::FileLoad(load) => load.row(row, &mut self.packets, out),
            Phase::InsertLoad(load) => load.row(row, &mut self.packets, out),
            _ => debug_assert!(false, "rows come after BulkReady"),
        }
        ControlFlow::Continue(())
    }

    fn bulk_end(&mut self, abort: Option<&str>, out: &mut Vec<u8>) {
        match &mut self.phase {
            Phase::FileLoad(load) => load.end(abort, &mut self.packets, out),
            Phase::InsertLoad(load) => load.end(abort, &mut self.packets, out),
            _ => debug_assert!(false, "a load ends after BulkReady"),
        }
    }

    fn terminate(&mut self, out: &mut Vec<u8>) {
        self.packets.begin_command();
        self.packets.append(out, &[command::QUIT]);
    }

    fn server_version(&self) -> &str {
        &self.server.version
    }

    fn session_id(&self) -> u64 {
        self.server.session_id
    }

    fn cancel(&self) -> Option<Cancel> {
        let id = self.session_id();
        (id != 0).then(|| Cancel::Statement(format!("KILL QUERY {id}")))
    }
}

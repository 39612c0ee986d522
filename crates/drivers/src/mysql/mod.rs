//! Takes requests; gives the bytes of the client/server protocol of MySQL and MariaDB, and the answers
//! that came back.
//!
//! The road of an execution is kept short, because the client's cost is what Assay measures itself by:
//! parameters go straight into the send buffer, their types only where the server does not know them;
//! rows are scanned in the receive buffer, and where nobody wants their cells only their headers are.
//! A MariaDB server sends a statement's column definitions once (`MARIADB_CLIENT_CACHE_METADATA`).
//!
//! The packets this driver needs are few, so they are written out here: `mysql_common` 0.38 brings
//! fifty crates for them, and panics where a server's public key is empty.
//!
//! Protocol: "Client/Server Protocol" of the MariaDB documentation, and the chapter of that name in the
//! source documentation of the MySQL server.

mod authentication;
mod binary_cell;
mod column;
mod constants;
mod escape;
mod file_load;
mod float_text;
mod greeting;
mod insert_load;
mod own_statement;
mod packet;
mod prepare;
mod public_key;
mod refusal;
mod results;
mod rows;
mod scan;
mod scramble;
mod server;
mod server_greeting;
mod server_ok;
mod server_reply;
mod session;
mod statement;
mod statements;
mod typed_value;

use std::ops::ControlFlow;

use assay_values::Row;

use crate::{Answer, BulkForm, Cancel, ConnectOptions, Progress, Request, SystemError, Wire};
use column::Column;
use constants::command;
use file_load::FileLoad;
use insert_load::InsertLoad;
use packet::Packets;
use results::{Format, Results, Skim, Step};
pub use server::MysqlServer;
use session::{Opening, Server};
use statement::{Preparation, Statement};
use statements::{DIRECT, Statements};

/// One session with a MySQL or MariaDB server, or with anything that speaks their protocol.
pub struct MysqlWire {
    options: ConnectOptions,
    server: Server,
    packets: Packets,
    phase: Phase,
    statements: Statements,
    /// Columns of the last result in text.
    columns: Vec<Column>,
    /// Memory to write numbers into.
    text: Vec<u8>,
}

/// Where the session stands.
enum Phase {
    Opening(Opening),
    Idle,
    /// A statement's results are coming; of a prepared one where there is an id.
    Results {
        results: Results,
        id: Option<u32>,
    },
    /// Prepare was sent; the text is kept for servers that do not prepare every kind of statement.
    PrepareAsked {
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
    #[must_use]
    pub fn new(mut options: ConnectOptions) -> Self {
        // The protocol ends names with a zero byte, and no name there has one: with a mark in its
        // place the server refuses the name in its own words.
        for name in [&mut options.user, &mut options.database] {
            *name = name.replace('\0', "\u{fffd}");
        }
        Self {
            options,
            server: Server::default(),
            packets: Packets::default(),
            phase: Phase::Opening(Opening::Silent),
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

    /// Takes one message; gives what the caller must do, where it must do anything.
    fn packet(
        &mut self,
        payload: &[u8],
        out: &mut Vec<u8>,
        answer: &mut Answer,
    ) -> Result<Option<Progress>, SystemError> {
        let agreement = self.server.agreement;
        let packets = &mut self.packets;
        let progress = match &mut self.phase {
            Phase::Results { results, id } => {
                let statement = id.and_then(|id| self.statements.get_mut(id));
                let columns = match statement {
                    Some(Statement::Prepared(prepared)) => &mut prepared.columns,
                    _ => &mut self.columns,
                };
                match results.packet(payload, agreement, columns, &mut self.text, answer)? {
                    Step::More => None,
                    Step::End => Some(Progress::Ready),
                    Step::WantsFile => {
                        // An empty file; the server's answer to it is still to come.
                        packets.append(out, &[]);
                        answer.error = Some(refusal::no_file());
                        None
                    }
                }
            }
            Phase::FileLoad(load) => load.packet(payload, agreement, packets, out, answer)?,
            Phase::InsertLoad(load) => load.packet(payload, packets, answer)?,
            Phase::PrepareAsked { .. } | Phase::Preparing { .. } => {
                self.prepare_packet(payload, out, answer)?
            }
            Phase::Opening(opening) => {
                opening.packet(payload, &self.options, &mut self.server, packets, out)?
            }
            Phase::Idle | Phase::Over => return Err(refusal::unasked(payload)),
        };
        if progress == Some(Progress::Ready) {
            self.answered(out);
        }
        Ok(progress)
    }

    /// Passes over the messages of a usual answer whose rows are only counted: gives their bytes, and
    /// whether the answer is complete. All other messages are left for [`MysqlWire::packet`].
    #[inline]
    fn skim(&mut self, input: &[u8], out: &mut Vec<u8>, answer: &mut Answer) -> (usize, bool) {
        let Phase::Results { results, id } = &mut self.phase else {
            return (0, false);
        };
        if answer.wants_cells() {
            return (0, false);
        }
        let columns = match id.and_then(|id| self.statements.get(id)) {
            Some(Statement::Prepared(prepared)) => prepared.columns.len(),
            _ => usize::MAX,
        };
        let mut used = 0;
        while let Some(payload) = self.packets.peek(&input[used..]) {
            let skim = results.skim(payload, self.server.agreement, columns, answer);
            if skim == Skim::Left {
                break;
            }
            self.packets.passed();
            used += Packets::HEADER + payload.len();
            if skim == Skim::End {
                self.answered(out);
                return (used, true);
            }
        }
        (used, false)
    }

    /// The request under way is answered; what was prepared for it alone is given back.
    #[inline]
    fn answered(&mut self, out: &mut Vec<u8>) {
        if let Phase::Results {
            id: Some(DIRECT), ..
        } = self.phase
        {
            self.statements.close(DIRECT, &mut self.packets, out);
        }
        self.phase = Phase::Idle;
    }

    /// What the caller may do where no message is under way.
    fn standing(&self) -> Progress {
        match &self.phase {
            Phase::Idle => Progress::Ready,
            Phase::FileLoad(load) if load.takes_rows() => Progress::BulkReady,
            Phase::InsertLoad(load) if load.takes_rows() => Progress::BulkReady,
            _ => Progress::NeedMore,
        }
    }

    fn receive_messages(
        &mut self,
        input: &[u8],
        out: &mut Vec<u8>,
        answer: &mut Answer,
    ) -> Result<(usize, Progress), SystemError> {
        let mut used = 0;
        loop {
            let (size, payload) = self.packets.read(&input[used..])?;
            used += size;
            let Some(payload) = payload else {
                return Ok((used, self.standing()));
            };
            match self.packet(&payload, out, answer)? {
                None => {}
                // What came in the clear must not pass for what comes under TLS.
                Some(Progress::StartTls) if used < input.len() => {
                    return Err(SystemError::protocol(
                        "TLS to begin",
                        "bytes in the clear before it",
                    ));
                }
                Some(progress) => return Ok((used, progress)),
            }
        }
    }
}

impl Wire for MysqlWire {
    /// The server speaks first.
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
                "a request before the session was ready for it",
            ));
        }
        match *request {
            Request::Execute { id, parameters } => {
                let Some(statement) = self.statements.get_mut(id) else {
                    return Err(refusal::refused(
                        "the statement was not prepared in this session",
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
            // The protocol compiles and binds in two requests; the second follows the first one's answer.
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

    fn goodbye(&mut self, out: &mut Vec<u8>) {
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

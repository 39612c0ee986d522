//! Takes requests; appends their packets, and reports when the next request may be sent. Takes the packets that a server
//! sends; fills the answer, and reports when it is complete.

pub(crate) mod authentication;
pub(crate) mod load;
pub(crate) mod proof;
pub(crate) mod session;
pub(crate) mod statement;

use std::ops::ControlFlow;

use assay_values::{Piece, Row};

use crate::mysql::client::load::{FileLoad, InsertLoad};
use crate::mysql::client::session::{Opening, Server};
use crate::mysql::client::statement::{DIRECT, Preparation, Statement, Statements};
use crate::mysql::constants::{command, head};
use crate::mysql::packet::Packets;
use crate::mysql::refusal::Moment;
use crate::mysql::results::{Format, Results, Skim, Step};
use crate::mysql::rows::Column;
use crate::mysql::{greeting, refusal};
use crate::{
    Answer, BulkForm, Cancel, ConnectOptions, Progress, Received, Request, Result, Sender,
    SystemError, TransactionStatus, Wire,
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

    fn secured(&mut self, out: &mut Vec<u8>) {
        if let Phase::Opening(opening) = &mut self.phase {
            opening.secured(&self.options, &self.server, &mut self.packets, out);
        }
    }

    #[inline]
    fn request(&mut self, request: &Request<'_>, out: &mut Vec<u8>) -> Result<()> {
        if !matches!(self.phase, Phase::Idle) {
            return Err(SystemError::refused(
                "a request was made before the session was ready",
            ));
        }
        match *request {
            Request::Execute { id, parameters } => {
                let Some(statement) = self.statements.get_mut(id) else {
                    return Err(SystemError::refused(
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
    fn receive(&mut self, input: &[u8], out: &mut Vec<u8>, answer: &mut Answer) -> Received {
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

impl MysqlWire {
    /// Takes one message; returns what the caller must do, if anything.
    fn packet(
        &mut self,
        payload: &[u8],
        out: &mut Vec<u8>,
        answer: &mut Answer,
    ) -> Result<Option<Progress>> {
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
                        // An empty file; the server's answer to it follows.
                        packets.append(out, &[]);
                        answer.error = Some(refusal::no_file());
                        None
                    }
                }
            }
            Phase::FileLoad(load) => load.packet(payload, agreement, packets, out, answer)?,
            Phase::InsertLoad(load) => load.packet(payload, packets, answer)?,
            Phase::PrepareSent { .. } | Phase::Preparing { .. } => {
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

    /// Skips the messages of a common answer whose rows are only counted: returns their length in bytes,
    /// and whether the answer is complete. All other messages are left to [`MysqlWire::packet`].
    #[inline]
    pub(crate) fn skim(
        &mut self,
        input: &[u8],
        out: &mut Vec<u8>,
        answer: &mut Answer,
    ) -> (usize, bool) {
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

    /// The current request is answered; a statement prepared only for it is closed.
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

    /// What the caller may do when no further message is complete.
    fn progress(&self) -> Progress {
        match &self.phase {
            Phase::Idle => Progress::Ready,
            Phase::FileLoad(load) if load.takes_rows() => Progress::BulkReady,
            Phase::InsertLoad(load) if load.takes_rows() => Progress::BulkReady,
            _ => Progress::NeedMore,
        }
    }

    pub(crate) fn receive_messages(
        &mut self,
        input: &[u8],
        out: &mut Vec<u8>,
        answer: &mut Answer,
    ) -> Received {
        let mut used = 0;
        loop {
            let (size, payload) = self.packets.read(&input[used..])?;
            used += size;
            let Some(payload) = payload else {
                return Ok((used, self.progress()));
            };
            match self.packet(&payload, out, answer)? {
                None => {}
                // Bytes received unencrypted must not be taken for TLS data.
                Some(Progress::StartTls) if used < input.len() => {
                    return Err(SystemError::protocol(
                        "TLS to begin",
                        "unencrypted bytes before it",
                    ));
                }
                Some(progress) => return Ok((used, progress)),
            }
        }
    }
}

/// "This command is not supported in the prepared statement protocol yet".
const CANNOT_BE_PREPARED: &str = "1295";

impl MysqlWire {
    pub(crate) fn prepare(&mut self, id: u32, pieces: &[Piece], out: &mut Vec<u8>) {
        let text = Piece::join(pieces, |_, text| text.push('?'));
        self.statements.close(id, &mut self.packets, out);
        self.packets.begin_command();
        self.packets.write(out, |out| {
            out.push(command::STMT_PREPARE);
            out.extend_from_slice(text.as_bytes());
        });
        self.phase = Phase::PrepareSent {
            id,
            text,
            has_values: pieces.contains(&Piece::Value),
        };
    }

    /// Takes one message of the answer to Prepare.
    pub(crate) fn prepare_packet(
        &mut self,
        payload: &[u8],
        out: &mut Vec<u8>,
        answer: &mut Answer,
    ) -> Result<Option<Progress>> {
        let (id, preparation) = match std::mem::replace(&mut self.phase, Phase::Over) {
            Phase::PrepareSent {
                id,
                text,
                has_values,
            } if payload.first() == Some(&head::ERROR) => {
                let error = refusal::read(payload, Moment::Statement).of_statement()?;
                if error.code == CANNOT_BE_PREPARED && !has_values {
                    self.statements.put(id, Statement::Text(text));
                    return Ok(self.prepared(id, out, answer));
                }
                answer.error = Some(error);
                answer.transaction = TransactionStatus::Unknown;
                return Ok(Some(Progress::Ready));
            }
            Phase::PrepareSent { id, .. } => {
                let preparation = Preparation::read(payload, self.server.agreement)
                    .ok_or_else(|| SystemError::malformed("a prepared statement", payload))?;
                (id, preparation)
            }
            Phase::Preparing {
                id,
                mut preparation,
            } => {
                preparation.packet(payload)?;
                (id, preparation)
            }
            _ => return Err(refusal::unasked(payload)),
        };
        if !preparation.is_complete() {
            self.phase = Phase::Preparing { id, preparation };
            return Ok(None);
        }
        let prepared = preparation.finish();
        self.statements.put(id, Statement::Prepared(prepared));
        Ok(self.prepared(id, out, answer))
    }

    /// The server has prepared a statement; a direct statement is executed next.
    fn prepared(&mut self, id: u32, out: &mut Vec<u8>, answer: &mut Answer) -> Option<Progress> {
        if id != DIRECT {
            return Some(Progress::Ready);
        }
        let values = std::mem::take(&mut self.statements.values);
        let statement = self.statements.get_mut(id).expect("it was just prepared");
        match statement.write(&values, &mut self.packets, out) {
            Ok(format) => {
                let results = Results::new(format);
                self.phase = Phase::Results {
                    results,
                    id: Some(id),
                };
                None
            }
            Err(error) => {
                self.statements.close(id, &mut self.packets, out);
                answer.error = Some(error);
                Some(Progress::Ready)
            }
        }
    }
}

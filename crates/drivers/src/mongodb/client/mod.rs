//! Takes requests; gives the messages of each. Takes the messages of a server; fills the answer of the request under
//! way, and says what the caller must do.

pub(crate) mod bind;
pub(crate) mod command;
pub(crate) mod extended;
pub(crate) mod handshake;
pub(crate) mod load;
pub(crate) mod reply;
pub(crate) mod rows;
pub(crate) mod scram;
pub(crate) mod session;

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use assay_values::{Piece, Row, Value};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::mongodb::client::command::{Command, CommandKind};
use crate::mongodb::client::handshake::{Handshake, Hello};
use crate::mongodb::client::load::Load;
use crate::mongodb::client::reply::{Moment, Reply};
use crate::mongodb::client::rows::Rows;
use crate::mongodb::client::session::Session;
use crate::mongodb::message;
use crate::mongodb::message::{Message, flag};
use crate::mongodb::scan::kind;
use crate::mongodb::settings::Settings;
use crate::request::ById;
use crate::{
    Answer, BulkForm, Cancel, ConnectOptions, ErrorClass, Keep, Progress, Received, Request,
    Result, Sender, SystemError, Wire, WrongOption,
};

/// One session with a MongoDB server, or with anything that speaks its protocol.
pub struct MongodbWire {
    side: Box<ClientSide>,
    commands: ById<Command>,
}

impl MongodbWire {
    /// Options that [`Wire::check_options`] refuses are left out.
    pub fn new(options: ConnectOptions) -> Self {
        let settings = Settings::of(&options.options).unwrap_or_default();
        let session = Session::new(settings, &options.database);
        Self {
            side: Box::new(ClientSide {
                options,
                session,
                phase: Phase::Handshake(Handshake::Silent),
                rows: Rows::default(),
                server_version: String::new(),
                connection_id: 0,
            }),
            commands: ById::default(),
        }
    }

    /// Compiles a command and executes it once.
    fn direct(&mut self, pieces: &[Piece], values: &[Value], out: &mut Vec<u8>) -> Result<Phase> {
        let command = Command::compile(pieces, &self.side.session.settings)?;
        execute(&mut self.side.session, &command, values, out)
    }

    fn prepare(&mut self, id: u32, pieces: &[Piece]) -> Result<()> {
        *self.commands.place(id) = None;
        let command = Command::compile(pieces, &self.side.session.settings)?;
        *self.commands.place(id) = Some(command);
        Ok(())
    }

    fn receive_messages(
        &mut self,
        input: &[u8],
        out: &mut Vec<u8>,
        answer: &mut Answer,
    ) -> Received {
        if let Some(progress) = self.side.answer_without_server(answer) {
            return Ok((0, progress));
        }
        let mut used = 0;
        loop {
            let Some((size, message)) = message::next(&input[used..])? else {
                return Ok((used, Progress::NeedMore));
            };
            used += size;
            let progress = self.side.message(&message, out, answer)?;
            if progress != Progress::NeedMore {
                return Ok((used, progress));
            }
        }
    }
}

/// Sends a command; those that begin and end transactions as far as the server must hear of them.
#[inline]
fn execute(
    session: &mut Session,
    command: &Command,
    values: &[Value],
    out: &mut Vec<u8>,
) -> Result<Phase> {
    match command.kind {
        CommandKind::Begin => session.begin().map(|()| Phase::Local),
        CommandKind::Commit | CommandKind::Abort => end(session, command.kind, out),
        kind => {
            session.execute(command, values, out)?;
            Ok(Phase::Request(kind))
        }
    }
}

fn end(session: &mut Session, kind: CommandKind, out: &mut Vec<u8>) -> Result<Phase> {
    Ok(match session.end(kind, out)? {
        true => Phase::Request(kind),
        false => Phase::Local,
    })
}

impl Wire for MongodbWire {
    fn check_options(options: &BTreeMap<String, String>) -> Result<(), WrongOption> {
        Settings::of(options).map(drop)
    }

    fn sender_of(first: &[u8]) -> Option<Sender> {
        message::sender_of(first)
    }

    fn connected(&mut self, out: &mut Vec<u8>) {
        let side = &mut self.side;
        handshake::hello(false, &side.options, &mut side.session, out);
        side.phase = Phase::Handshake(Handshake::HelloSent { is_old: false });
    }

    fn begins_with_tls(&self) -> bool {
        true
    }

    fn secured(&mut self, out: &mut Vec<u8>) {
        self.connected(out);
    }

    #[inline]
    fn request(&mut self, request: &Request<'_>, out: &mut Vec<u8>) -> Result<()> {
        self.side.begin()?;
        let session = &mut self.side.session;
        let phase = match *request {
            Request::Execute { id, parameters } => {
                execute(session, self.commands.known(id)?, parameters, out)?
            }
            Request::Text(text) => self.direct(&[Piece::Text(text.into())], &[], out)?,
            Request::Direct { pieces, parameters } => self.direct(pieces, parameters, out)?,
            Request::Prepare { id, pieces } => {
                self.prepare(id, pieces)?;
                Phase::Local
            }
            Request::Begin => session.begin().map(|()| Phase::Local)?,
            Request::Commit => end(session, CommandKind::Commit, out)?,
            Request::Rollback => end(session, CommandKind::Abort, out)?,
            Request::Bulk {
                text,
                form: BulkForm::Native,
                types,
            } => Phase::LoadAsked(Box::new(Load::new(text, types)?)),
            Request::Bulk {
                form: BulkForm::MultiRow,
                ..
            } => {
                return Err(SystemError::refused(
                    "the protocol has no INSERT of several rows",
                ));
            }
        };
        self.side.phase = phase;
        Ok(())
    }

    #[inline]
    fn receive(&mut self, input: &[u8], out: &mut Vec<u8>, answer: &mut Answer) -> Received {
        let received = self.receive_messages(input, out, answer);
        if received.is_err() {
            self.side.phase = Phase::Over;
        }
        received
    }

    #[inline]
    fn bulk_row(&mut self, row: &Row, out: &mut Vec<u8>) -> ControlFlow<()> {
        match &mut self.side.phase {
            Phase::Load(load) => load.row(row, &mut self.side.session, out),
            _ => {
                debug_assert!(false, "rows come after BulkReady");
                ControlFlow::Continue(())
            }
        }
    }

    fn bulk_is_full(&self) -> bool {
        matches!(&self.side.phase, Phase::Load(load) if load.is_full())
    }

    fn bulk_end(&mut self, abort: Option<&str>, out: &mut Vec<u8>) {
        match &mut self.side.phase {
            Phase::Load(load) => load.end(abort, &mut self.side.session, out),
            _ => debug_assert!(false, "a load ends after BulkReady"),
        }
    }

    fn terminate(&mut self, out: &mut Vec<u8>) {
        if !matches!(self.side.phase, Phase::Handshake(_) | Phase::Over) {
            self.side.session.terminate(out);
        }
    }

    fn server_version(&self) -> &str {
        &self.side.server_version
    }

    fn session_id(&self) -> u64 {
        self.side.connection_id
    }

    /// Killing the session ends what it runs, and rolls its transaction back.
    fn cancel(&self) -> Option<Cancel> {
        let id = STANDARD.encode(self.side.session.id()?);
        Some(Cancel::Statement(format!(
            "{{\"killSessions\": [{{\"id\": {{\"$binary\": {{\"base64\": \"{id}\", \"subType\": \"04\"}}}}}}], \"$db\": \"admin\"}}"
        )))
    }
}

/// Everything but the bytes not read yet.
pub(crate) struct ClientSide {
    pub(crate) options: ConnectOptions,
    pub(crate) session: Session,
    pub(crate) phase: Phase,
    pub(crate) rows: Rows,
    pub(crate) server_version: String,
    pub(crate) connection_id: u64,
}

pub(crate) enum Phase {
    Handshake(Handshake),
    Idle,
    /// The request needs no server.
    Local,
    Request(CommandKind),
    /// A load begins: the server hears of it with the first rows.
    LoadAsked(Box<Load>),
    Load(Box<Load>),
    /// An error ended the session.
    Over,
}

impl ClientSide {
    #[inline]
    pub(crate) fn message(
        &mut self,
        message: &Message<'_>,
        out: &mut Vec<u8>,
        answer: &mut Answer,
    ) -> Result<Progress> {
        if message.flags & flag::MORE_TO_COME != 0 {
            let found = "a message that announces another";
            return Err(SystemError::protocol("one answer to a request", found));
        }
        let body = message
            .body()
            .map_err(|_| SystemError::protocol("an answer with one document", "other sections"))?;
        if let Phase::Load(load) = &mut self.phase {
            let is_over = load.message(message.response_to, body, &mut self.session, answer)?;
            if !is_over {
                return Ok(Progress::NeedMore);
            }
            return Ok(self.ready(answer));
        }
        if matches!(self.phase, Phase::Idle | Phase::Over) {
            return Err(unasked(body));
        }
        if message.response_to != self.session.last_request {
            return Err(SystemError::protocol(
                "the answer to the last request",
                format_args!("an answer to request {}", message.response_to),
            ));
        }
        match std::mem::replace(&mut self.phase, Phase::Over) {
            Phase::Request(kind) => {
                if self.answered(kind, body, out, answer)? {
                    return Ok(self.ready(answer));
                }
                self.phase = Phase::Request(kind);
                Ok(Progress::NeedMore)
            }
            Phase::Handshake(opening) => {
                let next = self.opening(opening, body, out)?;
                Ok(match next {
                    Some(opening) => {
                        self.phase = Phase::Handshake(opening);
                        Progress::NeedMore
                    }
                    None => self.ready(answer),
                })
            }
            _ => Err(unasked(body)),
        }
    }

    /// The answer of a request that sent nothing.
    #[inline]
    pub(crate) fn answer_without_server(&mut self, answer: &mut Answer) -> Option<Progress> {
        match std::mem::replace(&mut self.phase, Phase::Over) {
            Phase::Local => Some(self.ready(answer)),
            Phase::LoadAsked(load) => {
                self.phase = Phase::Load(load);
                Some(Progress::BulkReady)
            }
            other => {
                self.phase = other;
                None
            }
        }
    }

    /// The next request may be sent.
    #[inline]
    fn ready(&mut self, answer: &mut Answer) -> Progress {
        self.phase = Phase::Idle;
        answer.transaction = self.session.status();
        Progress::Ready
    }

    /// Takes an answer; says whether it is complete.
    #[inline]
    fn answered(
        &mut self,
        command: CommandKind,
        body: &[u8],
        out: &mut Vec<u8>,
        answer: &mut Answer,
    ) -> Result<bool> {
        let malformed = |_| reply::malformed(body);
        let reply = Reply::read(body).map_err(malformed)?;
        let count = u64::try_from(reply.count.unwrap_or(0)).unwrap_or(0);
        if command.is_write() {
            answer.affected = count;
        }
        if let Some(error) = reply::error_of(&reply, self.session.moment(command)) {
            self.session.failed();
            let error = error.of_statement()?;
            // A transaction that is rolled back may be undone already.
            if command != CommandKind::Abort {
                answer.error = Some(error);
            }
            self.rows.end(answer);
            return Ok(true);
        }
        if let Some(cursor) = reply.cursor {
            answer.result();
            self.rows.batch(cursor.batch, answer).map_err(malformed)?;
            if cursor.id != 0 {
                self.session.get_more(cursor.id, cursor.namespace, out)?;
                return Ok(false);
            }
            self.rows.end(answer);
            return Ok(true);
        }
        match command {
            CommandKind::Write(_)
            | CommandKind::UnorderedWrite(_)
            | CommandKind::Begin
            | CommandKind::Commit
            | CommandKind::Abort => {}
            CommandKind::FindAndModify => {
                let modified = reply.modified().map_err(malformed)?;
                answer.affected = u64::try_from(modified).unwrap_or(0);
                if let Some(value) = reply.value.filter(|value| value.kind == kind::DOCUMENT) {
                    self.rows.document(value.value, answer).map_err(malformed)?;
                }
            }
            CommandKind::Query
            | CommandKind::Read
            | CommandKind::WritingQuery
            | CommandKind::BulkWrite
            | CommandKind::Other => match reply.values.and_then(|values| values.elements()) {
                Some(values) => {
                    let values = values.map_err(malformed)?;
                    self.rows.values(values, answer).map_err(malformed)?;
                }
                None => self.rows.rest(body, answer).map_err(malformed)?,
            },
        }
        Ok(true)
    }

    /// Takes the server's side of the opening; gives what is under way next, and none when the session is open.
    fn opening(
        &mut self,
        opening: Handshake,
        body: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<Option<Handshake>> {
        const COMMAND_NOT_FOUND: i64 = 59;
        let malformed = |_| reply::malformed(body);
        let reply = Reply::read(body).map_err(malformed)?;
        if matches!(opening, Handshake::HelloSent { is_old: false })
            && !reply.is_ok
            && reply.code == COMMAND_NOT_FOUND
        {
            handshake::hello(true, &self.options, &mut self.session, out);
            return Ok(Some(Handshake::HelloSent { is_old: true }));
        }
        if let Some(error) = reply::error_of(&reply, Moment::Connecting) {
            return Err(match opening {
                Handshake::Statement(index) => self.own_statement_failed(index, &error),
                _ => SystemError {
                    certainty: crate::Certainty::Undone,
                    ..error
                },
            });
        }
        match opening {
            Handshake::Silent => Err(unasked(body)),
            Handshake::HelloSent { .. } => {
                let hello = Hello::read(body).map_err(malformed)?;
                hello.apply(&mut self.session)?;
                self.connection_id = hello.connection_id;
                handshake::authenticate(&hello, &self.options, &mut self.session, out).map(Some)
            }
            Handshake::Scram(mut scram) => {
                match handshake::step(&mut scram, body, &mut self.session, out)? {
                    true => Ok(Some(handshake::ask_version(&mut self.session, out))),
                    false => Ok(Some(Handshake::Scram(scram))),
                }
            }
            Handshake::PlainSent => Ok(Some(handshake::ask_version(&mut self.session, out))),
            Handshake::VersionAsked => {
                self.server_version = handshake::version(body).map_err(malformed)?;
                self.own_statement(0, out)
            }
            Handshake::Statement(index) => {
                // A statement of a session may give rows, which are not read.
                let mut unread = Answer::new(Keep::Count);
                match self.answered(CommandKind::Other, body, out, &mut unread)? {
                    true => self.own_statement(index + 1, out),
                    false => Ok(Some(Handshake::Statement(index))),
                }
            }
        }
    }

    /// Sends the session's own statement of this index; the session is open where there are no more.
    fn own_statement(&mut self, index: usize, out: &mut Vec<u8>) -> Result<Option<Handshake>> {
        let Some(text) = self.options.session_statements.get(index) else {
            return Ok(None);
        };
        let pieces = [Piece::Text(text.as_str().into())];
        let sent = Command::compile(&pieces, &self.session.settings)
            .and_then(|command| self.session.execute(&command, &[], out));
        match sent {
            Ok(()) => Ok(Some(Handshake::Statement(index))),
            Err(error) => Err(self.own_statement_failed(index, &error)),
        }
    }

    fn own_statement_failed(&self, index: usize, error: &SystemError) -> SystemError {
        let text = self.options.session_statements.get(index);
        let text = text.map_or("", String::as_str);
        let message = format!("{} (in the session's own statement: {text})", error.message);
        SystemError {
            message,
            ..error.clone()
        }
    }

    /// # Errors
    /// Where another request is under way.
    pub(crate) fn begin(&mut self) -> Result<()> {
        match self.phase {
            Phase::Idle => {
                self.rows.begin();
                Ok(())
            }
            _ => Err(SystemError::refused(
                "a request before the session was ready for it",
            )),
        }
    }
}

/// A message that nothing asked for: a server that ends the session may say why.
#[cold]
fn unasked(body: &[u8]) -> SystemError {
    let said = Reply::read(body).ok().and_then(|reply| {
        let error = reply::error_of(&reply, Moment::Connecting)?;
        Some(error.lost())
    });
    said.unwrap_or_else(|| {
        SystemError::new(
            ErrorClass::Protocol,
            "",
            "expected silence, the server sent an answer to nothing",
        )
    })
}

//! Takes requests; gives the messages of each, and says when the next may come.

pub(crate) mod bind;
pub(crate) mod cell;
pub(crate) mod client_side;
pub(crate) mod command;
pub(crate) mod extended;
pub(crate) mod handshake;
pub(crate) mod json;
pub(crate) mod load;
pub(crate) mod refusal;
pub(crate) mod reply;
pub(crate) mod rows;
pub(crate) mod scram;
pub(crate) mod session;

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use assay_values::{Piece, Row, Value};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::mongodb::client::client_side::{ClientSide, Phase};
use crate::mongodb::client::command::{Command, CommandKind};
use crate::mongodb::client::handshake::Handshake;
use crate::mongodb::client::load::Load;
use crate::mongodb::client::rows::Rows;
use crate::mongodb::client::session::Session;
use crate::mongodb::shared::message;
use crate::mongodb::shared::settings::Settings;
use crate::{
    Answer, BulkForm, Cancel, ConnectOptions, Progress, Request, Sender, SystemError, Wire,
    WrongOption,
};

/// One session with a MongoDB server, or with anything that speaks its protocol.
pub struct MongodbWire {
    side: Box<ClientSide>,
    /// By the ids that the engine gives them; `None` where compiling failed or was never asked.
    commands: Vec<Option<Command>>,
}

impl MongodbWire {
    /// Options that [`Wire::check_options`] refuses are left out.
    #[must_use]
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
            commands: Vec::new(),
        }
    }

    /// Compiles a command and executes it once.
    fn direct(
        &mut self,
        pieces: &[Piece],
        values: &[Value],
        out: &mut Vec<u8>,
    ) -> Result<Phase, SystemError> {
        let command = Command::compile(pieces, &self.side.session.settings)?;
        execute(&mut self.side.session, &command, values, out)
    }

    fn prepare(&mut self, id: u32, pieces: &[Piece]) -> Result<(), SystemError> {
        let index = id as usize;
        if self.commands.len() <= index {
            self.commands.resize_with(index + 1, || None);
        }
        self.commands[index] = None;
        let command = Command::compile(pieces, &self.side.session.settings)?;
        self.commands[index] = Some(command);
        Ok(())
    }

    fn receive_messages(
        &mut self,
        input: &[u8],
        out: &mut Vec<u8>,
        answer: &mut Answer,
    ) -> Result<(usize, Progress), SystemError> {
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
) -> Result<Phase, SystemError> {
    match command.kind {
        CommandKind::Begin => session.begin().map(|()| Phase::Local),
        CommandKind::Commit | CommandKind::Abort => end(session, command.kind, out),
        kind => {
            session.execute(command, values, out)?;
            Ok(Phase::Request(kind))
        }
    }
}

fn end(session: &mut Session, kind: CommandKind, out: &mut Vec<u8>) -> Result<Phase, SystemError> {
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
    fn request(&mut self, request: &Request<'_>, out: &mut Vec<u8>) -> Result<(), SystemError> {
        self.side.begin()?;
        let session = &mut self.side.session;
        let phase = match *request {
            Request::Execute { id, parameters } => {
                let Some(command) = self.commands.get(id as usize).and_then(Option::as_ref) else {
                    return Err(refusal::refused(
                        "the statement was not prepared in this session",
                    ));
                };
                execute(session, command, parameters, out)?
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
                return Err(refusal::refused(
                    "the protocol has no INSERT of several rows",
                ));
            }
        };
        self.side.phase = phase;
        Ok(())
    }

    #[inline]
    fn receive(
        &mut self,
        input: &[u8],
        out: &mut Vec<u8>,
        answer: &mut Answer,
    ) -> Result<(usize, Progress), SystemError> {
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

//! Opens one client's session: connects, authenticates and prepares its statements, a step for each readiness
//! event.

use std::io;
use std::time::{Duration, Instant};

use assay_drivers::{Answer, ErrorClass, Keep, Progress, Request, SystemError};
use mio::event::Event;
use mio::{Registry, Token};

use crate::EngineError;
use crate::account::SessionServer;
use crate::drive::plan::Plan;
use crate::session::{
    Connection, RETRY_AFTER, Scratch, WireDeployment, connect_timed_out, out_of_resources,
    unreachable,
};

pub struct SessionOpener {
    begun: Instant,
    answer: Answer,
    stage: Stage,
    /// Which server answers the session, once it is open.
    server: Option<SessionServer>,
}

enum Stage {
    NotBegun,
    /// The server's listen queue was full.
    Retry {
        at: Instant,
        place: usize,
    },
    /// Connects to the address at index `place`.
    Connecting {
        connection: Connection,
        place: usize,
    },
    /// Authentication and session statements.
    Greeting(Connection),
    /// Prepares the statement at index `next`.
    Preparing {
        connection: Connection,
        next: usize,
    },
    /// Asks which server answers.
    Asking(Connection),
    Open(Connection),
    Refused,
}

/// Why a session could not be opened.
pub enum OpenError {
    /// The system refused it.
    Refused(SystemError),
    /// No session can be opened: the run itself is wrong.
    Failed(EngineError),
}

impl OpenError {
    /// The same, as the error of a single session.
    pub fn into_error(self) -> SystemError {
        match self {
            Self::Refused(error)
            | Self::Failed(EngineError::System(error, _) | EngineError::Unprepared(error, _)) => {
                error
            }
            Self::Failed(other) => SystemError::new(ErrorClass::Other, "", other.to_string()),
        }
    }
}

/// What opening a session needs besides the client itself.
pub struct Opening<'a> {
    pub deployment: &'a WireDeployment,
    pub plan: &'a Plan,
    /// The statements that the session prepares.
    pub to_prepare: &'a [u32],
    pub registry: &'a Registry,
    pub scratch: &'a mut Scratch,
    /// Whether the session is asked which server answers it: not in the measured time.
    pub asks_server: bool,
}

impl SessionOpener {
    pub fn new() -> Self {
        let answer = Answer::new(Keep::Count);
        Self {
            begun: Instant::now(),
            answer,
            stage: Stage::NotBegun,
            server: None,
        }
    }

    pub fn is_pending(&self) -> bool {
        !matches!(
            self.stage,
            Stage::NotBegun | Stage::Open(_) | Stage::Refused
        )
    }

    /// Whether the session is open and has prepared its statements.
    pub fn is_open(&self) -> bool {
        matches!(self.stage, Stage::Open(_))
    }

    /// Which server answers the session; `None` until it is open, and where it was not asked.
    pub fn take_server(&mut self) -> Option<SessionServer> {
        if self.is_open() {
            self.server.take()
        } else {
            None
        }
    }

    /// The connection, if there is one.
    pub fn into_connection(self) -> Option<Connection> {
        match self.stage {
            Stage::Connecting { connection, .. }
            | Stage::Greeting(connection)
            | Stage::Preparing { connection, .. }
            | Stage::Asking(connection)
            | Stage::Open(connection) => Some(connection),
            Stage::NotBegun | Stage::Retry { .. } | Stage::Refused => None,
        }
    }

    /// Starts to connect.
    ///
    /// # Errors
    /// If that failed at once.
    pub fn begin(&mut self, opening: &mut Opening<'_>, token: Token) -> Result<(), OpenError> {
        self.begun = Instant::now();
        self.go_on(|_| Self::connect(opening, token, 0))
    }

    /// The socket is readable, writable or closed.
    ///
    /// # Errors
    /// If the session could not be opened.
    pub fn ready(&mut self, opening: &mut Opening<'_>, event: &Event) -> Result<(), OpenError> {
        self.go_on(|opener| {
            let stage = match opener.take_stage() {
                Stage::Connecting { connection, place } => {
                    opener.connected(opening, event.token(), connection, place)?
                }
                other => other,
            };
            let mut stage = match stage {
                Stage::Greeting(mut connection) => {
                    match opener.talk(opening, event, &mut connection)? {
                        Progress::Ready => opener.prepare(opening, connection, 0)?,
                        _ => Stage::Greeting(connection),
                    }
                }
                Stage::Preparing {
                    mut connection,
                    next,
                } => match opener.talk(opening, event, &mut connection)? {
                    Progress::Ready => match opener.answer.error.take() {
                        None => opener.prepare(opening, connection, next + 1)?,
                        Some(error) => return Err(unprepared_at(opening, next, error)),
                    },
                    _ => Stage::Preparing { connection, next },
                },
                Stage::Asking(mut connection) => {
                    match opener.talk(opening, event, &mut connection)? {
                        Progress::Ready => opener.answered(connection),
                        _ => Stage::Asking(connection),
                    }
                }
                other => other,
            };
            if let Stage::Connecting { connection, .. }
            | Stage::Greeting(connection)
            | Stage::Preparing { connection, .. }
            | Stage::Asking(connection)
            | Stage::Open(connection) = &mut stage
            {
                watch(opening, connection, event.token())?;
            }
            Ok(stage)
        })
    }

    /// Retries at the right time, and fails at the deadline.
    ///
    /// # Errors
    /// If opening took too long.
    pub fn check(
        &mut self,
        opening: &mut Opening<'_>,
        now: Instant,
        token: Token,
    ) -> Result<(), OpenError> {
        if !self.is_pending() {
            return Ok(());
        }
        if now >= self.begun + opening.deployment.connect_timeout {
            let error = match self.take_stage() {
                Stage::Connecting { connection, .. }
                | Stage::Greeting(connection)
                | Stage::Preparing { connection, .. }
                | Stage::Asking(connection) => connection.timed_out(opening.deployment),
                _ => connect_timed_out(opening.deployment),
            };
            return Err(OpenError::Refused(error));
        }
        match self.stage {
            Stage::Retry { at, place } if now >= at => {
                self.go_on(|_| Self::connect(opening, token, place))
            }
            _ => Ok(()),
        }
    }

    /// How long to wait for an event at most.
    pub fn retry_delay(&self) -> Duration {
        match self.stage {
            Stage::Retry { .. } => RETRY_AFTER,
            _ => Duration::MAX,
        }
    }

    /// Replaces the stage by the result of `step`; after an error there is no session.
    fn go_on(
        &mut self,
        step: impl FnOnce(&mut Self) -> Result<Stage, OpenError>,
    ) -> Result<(), OpenError> {
        let stage = step(self);
        match stage {
            Ok(stage) => {
                self.stage = stage;
                Ok(())
            }
            Err(error) => {
                self.stage = Stage::Refused;
                Err(error)
            }
        }
    }

    fn take_stage(&mut self) -> Stage {
        std::mem::replace(&mut self.stage, Stage::Refused)
    }

    /// Starts to connect to the first address, from index `place` on, that does not fail at once.
    fn connect(
        opening: &mut Opening<'_>,
        token: Token,
        mut place: usize,
    ) -> Result<Stage, OpenError> {
        loop {
            match Connection::begin(opening.deployment, place) {
                Ok(mut connection) => {
                    watch(opening, &mut connection, token)?;
                    return Ok(Stage::Connecting { connection, place });
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    return Ok(Stage::Retry {
                        at: Instant::now() + RETRY_AFTER,
                        place,
                    });
                }
                Err(_) if place + 1 < opening.deployment.address.place_count() => place += 1,
                Err(error) => {
                    return Err(OpenError::Refused(unreachable(opening.deployment, &error)));
                }
            }
        }
    }

    /// Checks whether connecting has finished, and tries the next address if it failed.
    fn connected(
        &mut self,
        opening: &mut Opening<'_>,
        token: Token,
        mut connection: Connection,
        place: usize,
    ) -> Result<Stage, OpenError> {
        match connection.writable(opening.scratch) {
            Ok(()) if connection.is_connected() => Ok(Stage::Greeting(connection)),
            Ok(()) => Ok(Stage::Connecting { connection, place }),
            Err(error) if connection.is_connected() => Err(OpenError::Refused(
                connection.error_before_close(&error, opening.scratch, &mut self.answer),
            )),
            Err(_) if place + 1 < opening.deployment.address.place_count() => {
                Self::connect(opening, token, place + 1)
            }
            Err(error) => Err(OpenError::Refused(unreachable(opening.deployment, &error))),
        }
    }

    /// Sends what is pending, and reads what has arrived.
    fn talk(
        &mut self,
        opening: &mut Opening<'_>,
        event: &Event,
        connection: &mut Connection,
    ) -> Result<Progress, OpenError> {
        if let Err(error) = connection.writable(opening.scratch) {
            let sent = connection.error_before_close(&error, opening.scratch, &mut self.answer);
            return Err(OpenError::Refused(sent));
        }
        let is_closed = event.is_read_closed() || event.is_error();
        if !event.is_readable() && !is_closed {
            return Ok(Progress::NeedMore);
        }
        connection
            .receive(is_closed, opening.scratch, &mut self.answer)
            .map_err(OpenError::Refused)
    }

    /// Prepares the statement at index `next`, if there is one, and those behind it that need no server for that.
    fn prepare(
        &mut self,
        opening: &mut Opening<'_>,
        mut connection: Connection,
        mut next: usize,
    ) -> Result<Stage, OpenError> {
        while let Some(&id) = opening.to_prepare.get(next) {
            let pieces = &opening.plan.program.statements[id as usize].pieces;
            self.answer.clear(Keep::Count);
            let request = Request::Prepare { id, pieces };
            match connection.request(&request, opening.scratch, &mut self.answer) {
                Ok(Progress::NeedMore) => return Ok(Stage::Preparing { connection, next }),
                Ok(_) => next += 1,
                Err(error) if error.class.ends_the_session() => {
                    return Err(OpenError::Refused(error));
                }
                Err(error) => return Err(unprepared_at(opening, next, error)),
            }
        }
        self.ask(opening, connection)
    }

    /// Asks which server answers, where the deployment has a query for that.
    fn ask(
        &mut self,
        opening: &mut Opening<'_>,
        mut connection: Connection,
    ) -> Result<Stage, OpenError> {
        if !opening.asks_server {
            return Ok(Stage::Open(connection));
        }
        self.answer.clear(Keep::Rows);
        let Some(query) = &opening.deployment.server_query else {
            return Ok(self.answered(connection));
        };
        match connection.request(&Request::Text(query), opening.scratch, &mut self.answer) {
            Ok(Progress::NeedMore) => Ok(Stage::Asking(connection)),
            Ok(_) => Ok(self.answered(connection)),
            Err(error) => Err(OpenError::Refused(error)),
        }
    }

    /// Notes which server answers. Another program that speaks the protocol may refuse the query, or answer
    /// something else: then only the version of its greeting is known.
    fn answered(&mut self, connection: Connection) -> Stage {
        let mut server = SessionServer {
            version: connection.server_version().to_owned(),
            ..SessionServer::default()
        };
        let text = |cell: &Option<Box<[u8]>>| {
            String::from_utf8_lossy(cell.as_deref().unwrap_or_default()).into_owned()
        };
        if self.answer.error.is_none()
            && let Some([address, role, id]) = self.answer.kept.first().map(Vec::as_slice)
        {
            server.address = text(address);
            server.role = text(role);
            let at_login = connection.session_id();
            server.is_behind_pooler = at_login > 0 && text(id) != at_login.to_string();
        }
        self.server = Some(server);
        self.answer.clear(Keep::Count);
        Stage::Open(connection)
    }
}

/// The error of a run if a statement cannot be prepared.
pub fn unprepared(plan: &Plan, statement: u32, error: SystemError) -> EngineError {
    EngineError::Unprepared(
        error,
        format!("preparing the statement at {}", plan.place(statement)),
    )
}

fn unprepared_at(opening: &Opening<'_>, next: usize, error: SystemError) -> OpenError {
    OpenError::Failed(unprepared(opening.plan, opening.to_prepare[next], error))
}

fn watch(
    opening: &mut Opening<'_>,
    connection: &mut Connection,
    token: Token,
) -> Result<(), OpenError> {
    connection
        .watch(opening.registry, token)
        .map_err(|error| OpenError::Refused(out_of_resources(&error)))
}

//! One client on its way in: connecting, greeting, preparing its statements, one step for each readiness.

use std::io;
use std::time::{Duration, Instant};

use assay_drivers::{Answer, ErrorClass, Keep, Progress, Request, SystemError};
use mio::event::Event;
use mio::{Registry, Token};

use super::plan::Plan;
use crate::EngineError;
use crate::session::{
    Conversation, RETRY_AFTER, Scratch, WireSite, lost, out_of_resources, too_late, unreachable,
};

pub struct Entrant {
    begun: Instant,
    answer: Answer,
    stage: Stage,
}

enum Stage {
    NotBegun,
    /// The server's queue of clients was full.
    Retry {
        at: Instant,
        place: usize,
    },
    /// To the `place`-th place of the address.
    Connecting {
        conversation: Conversation,
        place: usize,
    },
    /// Names, passwords, session statements.
    Greeting(Conversation),
    /// The `next`-th of the statements to prepare is under way.
    Preparing {
        conversation: Conversation,
        next: usize,
    },
    Open(Conversation),
    Refused,
}

/// Why a client does not come in.
pub enum Trouble {
    /// The system did not let it.
    Refused(SystemError),
    /// Nobody will come in: the run itself is wrong.
    Failed(EngineError),
}

impl Trouble {
    /// The same as what became of one session of many.
    #[must_use]
    pub fn into_error(self) -> SystemError {
        match self {
            Self::Refused(error) | Self::Failed(EngineError::System(error, _)) => error,
            Self::Failed(other) => SystemError::new(ErrorClass::Other, "", other.to_string()),
        }
    }
}

/// What opening a session needs beside the client itself.
pub struct Door<'a> {
    pub site: &'a WireSite,
    pub plan: &'a Plan,
    /// The statements that the session prepares.
    pub to_prepare: &'a [u32],
    pub registry: &'a Registry,
    pub scratch: &'a mut Scratch,
}

impl Entrant {
    #[must_use]
    pub fn new() -> Self {
        let answer = Answer::new(Keep::Count);
        Self {
            begun: Instant::now(),
            answer,
            stage: Stage::NotBegun,
        }
    }

    #[must_use]
    pub fn is_pending(&self) -> bool {
        !matches!(
            self.stage,
            Stage::NotBegun | Stage::Open(_) | Stage::Refused
        )
    }

    /// Whether the session stands and has prepared its statements.
    #[must_use]
    pub fn is_open(&self) -> bool {
        matches!(self.stage, Stage::Open(_))
    }

    /// The session, as far as there is one.
    #[must_use]
    pub fn into_conversation(self) -> Option<Conversation> {
        match self.stage {
            Stage::Connecting { conversation, .. }
            | Stage::Greeting(conversation)
            | Stage::Preparing { conversation, .. }
            | Stage::Open(conversation) => Some(conversation),
            Stage::NotBegun | Stage::Retry { .. } | Stage::Refused => None,
        }
    }

    /// Begins to connect.
    ///
    /// # Errors
    /// Where that failed at once.
    pub fn begin(&mut self, door: &mut Door<'_>, token: Token) -> Result<(), Trouble> {
        self.begun = Instant::now();
        self.go_on(|entrant| entrant.connect(door, token, 0))
    }

    /// The socket is ready for something.
    ///
    /// # Errors
    /// Where the client does not come in.
    pub fn ready(&mut self, door: &mut Door<'_>, event: &Event) -> Result<(), Trouble> {
        self.go_on(|entrant| {
            let stage = match entrant.take_stage() {
                Stage::Connecting {
                    conversation,
                    place,
                } => entrant.connected(door, event.token(), conversation, place)?,
                other => other,
            };
            let mut stage = match stage {
                Stage::Greeting(mut conversation) => {
                    match entrant.talk(door, event, &mut conversation)? {
                        Progress::Ready => entrant.prepare(door, conversation, 0)?,
                        _ => Stage::Greeting(conversation),
                    }
                }
                Stage::Preparing {
                    mut conversation,
                    next,
                } => match entrant.talk(door, event, &mut conversation)? {
                    Progress::Ready => match entrant.answer.error.take() {
                        None => entrant.prepare(door, conversation, next + 1)?,
                        Some(error) => return Err(unprepared_at(door, next, error)),
                    },
                    _ => Stage::Preparing { conversation, next },
                },
                other => other,
            };
            if let Stage::Connecting { conversation, .. }
            | Stage::Greeting(conversation)
            | Stage::Preparing { conversation, .. }
            | Stage::Open(conversation) = &mut stage
            {
                watch(door, conversation, event.token())?;
            }
            Ok(stage)
        })
    }

    /// Looks whether it is time to try again, or to give up.
    ///
    /// # Errors
    /// Where it has taken too long.
    pub fn look(&mut self, door: &mut Door<'_>, now: Instant, token: Token) -> Result<(), Trouble> {
        if !self.is_pending() {
            return Ok(());
        }
        if now >= self.begun + door.site.connect_timeout {
            self.stage = Stage::Refused;
            return Err(Trouble::Refused(too_late(door.site)));
        }
        match self.stage {
            Stage::Retry { at, place } if now >= at => {
                self.go_on(|entrant| entrant.connect(door, token, place))
            }
            _ => Ok(()),
        }
    }

    /// How long nothing but an event can change anything.
    #[must_use]
    pub fn patience(&self) -> Duration {
        match self.stage {
            Stage::Retry { .. } => RETRY_AFTER,
            _ => Duration::MAX,
        }
    }

    /// Replaces the stage by what `step` makes of it; a client in trouble has no session any more.
    fn go_on(
        &mut self,
        step: impl FnOnce(&mut Self) -> Result<Stage, Trouble>,
    ) -> Result<(), Trouble> {
        let stage = step(self);
        match stage {
            Ok(stage) => {
                self.stage = stage;
                Ok(())
            }
            Err(trouble) => {
                self.stage = Stage::Refused;
                Err(trouble)
            }
        }
    }

    fn take_stage(&mut self) -> Stage {
        std::mem::replace(&mut self.stage, Stage::Refused)
    }

    /// Begins to connect to the first place from the `place`-th on that does not refuse at once.
    fn connect(
        &mut self,
        door: &mut Door<'_>,
        token: Token,
        mut place: usize,
    ) -> Result<Stage, Trouble> {
        loop {
            match Conversation::begin(door.site, place) {
                Ok(mut conversation) => {
                    watch(door, &mut conversation, token)?;
                    return Ok(Stage::Connecting {
                        conversation,
                        place,
                    });
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    return Ok(Stage::Retry {
                        at: Instant::now() + RETRY_AFTER,
                        place,
                    });
                }
                Err(_) if place + 1 < door.site.address.place_count() => place += 1,
                Err(error) => return Err(Trouble::Refused(unreachable(door.site, &error))),
            }
        }
    }

    /// Looks whether connecting has ended, and goes on to the next place where it failed.
    fn connected(
        &mut self,
        door: &mut Door<'_>,
        token: Token,
        mut conversation: Conversation,
        place: usize,
    ) -> Result<Stage, Trouble> {
        match conversation.writable(door.scratch) {
            Ok(()) if conversation.is_connected() => Ok(Stage::Greeting(conversation)),
            Ok(()) => Ok(Stage::Connecting {
                conversation,
                place,
            }),
            Err(_) if place + 1 < door.site.address.place_count() => {
                self.connect(door, token, place + 1)
            }
            Err(error) => Err(Trouble::Refused(unreachable(door.site, &error))),
        }
    }

    /// Sends what is left, and reads what has come.
    fn talk(
        &mut self,
        door: &mut Door<'_>,
        event: &Event,
        conversation: &mut Conversation,
    ) -> Result<Progress, Trouble> {
        conversation
            .writable(door.scratch)
            .map_err(|error| Trouble::Refused(lost(&error)))?;
        let is_closed = event.is_read_closed() || event.is_error();
        if !event.is_readable() && !is_closed {
            return Ok(Progress::NeedMore);
        }
        conversation
            .receive(is_closed, door.scratch, &mut self.answer)
            .map_err(Trouble::Refused)
    }

    /// Asks for the `next`-th of the statements to prepare, if there is one.
    fn prepare(
        &mut self,
        door: &mut Door<'_>,
        mut conversation: Conversation,
        next: usize,
    ) -> Result<Stage, Trouble> {
        let Some(&id) = door.to_prepare.get(next) else {
            return Ok(Stage::Open(conversation));
        };
        let pieces = &door.plan.program.statements[id as usize].pieces;
        self.answer.clear(Keep::Count);
        let request = Request::Prepare { id, pieces };
        match conversation.request(&request, door.scratch, &mut self.answer) {
            Ok(()) => Ok(Stage::Preparing { conversation, next }),
            Err(error) if error.class.ends_the_session() => Err(Trouble::Refused(error)),
            Err(error) => Err(unprepared_at(door, next, error)),
        }
    }
}

/// The error of a run of which a statement cannot be prepared.
pub fn unprepared(plan: &Plan, statement: u32, error: SystemError) -> EngineError {
    EngineError::System(
        error,
        format!("preparing the statement at {}", plan.place(statement)),
    )
}

fn unprepared_at(door: &Door<'_>, next: usize, error: SystemError) -> Trouble {
    Trouble::Failed(unprepared(door.plan, door.to_prepare[next], error))
}

fn watch(
    door: &mut Door<'_>,
    conversation: &mut Conversation,
    token: Token,
) -> Result<(), Trouble> {
    conversation
        .watch(door.registry, token)
        .map_err(|error| Trouble::Refused(out_of_resources(&error)))
}

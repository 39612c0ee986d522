//! Takes the statements of one session in order; returns the planned reply to each, by the options of
//! the deployment. It never waits: the caller does.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use assay_values::Random;

use crate::null::deployment::{Deployment, SessionPlace};
use crate::null::meaning::{Meaning, Statement};
use crate::null::options::Options;
use crate::{Certainty, ErrorClass, SystemError};

/// A null system: its options, and the tables that its sessions share.
pub struct ServerModel {
    options: Options,
    deployment: Arc<Deployment>,
}

/// One session of a [`ServerModel`]; dropping it closes the session.
pub struct SessionModel {
    options: Options,
    deployment: Arc<Deployment>,
    /// The session's number among all ever opened, from 1.
    ordinal: u64,
    /// When the first of the deployment's open sessions was opened.
    since: Instant,
    random: Random,
    /// Statements executed so far, without DDL.
    executed: u64,
}

/// How the null system replies to a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlannedReply {
    /// The session is lost during the statement.
    Lost,
    /// It is answered this long after it arrived: with this error, or else by [`SessionModel::answer`].
    Answered {
        /// Time from the statement's arrival to its answer.
        after: Duration,
        /// The error of the answer; `None` if the statement succeeds.
        error: Option<SystemError>,
    },
}

/// What a statement that succeeded returns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ResultSize {
    /// How many rows; each column of a row holds the row's number.
    pub rows: u64,
    /// The number of the first row.
    pub first: u64,
    /// How many rows the statement reports as changed.
    pub affected: u64,
}

impl ServerModel {
    /// # Errors
    /// Where an option is unknown or its value invalid.
    pub fn new(options: &BTreeMap<String, String>) -> Result<Self, SystemError> {
        Ok(Self {
            options: Options::parse(options)?,
            deployment: Arc::default(),
        })
    }

    /// The model of the sessions of this process that have the same options.
    ///
    /// # Errors
    /// As [`ServerModel::new`].
    pub(super) fn shared(options: &BTreeMap<String, String>) -> Result<Self, SystemError> {
        Ok(Self {
            options: Options::parse(options)?,
            deployment: Deployment::shared(options),
        })
    }

    /// Opens one more session.
    ///
    /// # Errors
    /// Where the deployment has reached its limit of sessions.
    pub fn open_session(&self) -> Result<SessionModel, SystemError> {
        let SessionPlace { ordinal, since } = self.deployment.enter(self.options.refuse_after)?;
        Ok(SessionModel {
            options: self.options.clone(),
            deployment: Arc::clone(&self.deployment),
            ordinal,
            since,
            random: Random::stream(self.options.seed, ordinal),
            executed: 0,
        })
    }
}

impl SessionModel {
    /// The session's number among all ever opened, from 1.
    #[must_use]
    pub fn ordinal(&self) -> u64 {
        self.ordinal
    }

    /// The reply to a statement that arrives at `now`.
    pub fn plan_reply(&mut self, statement: &Statement, now: Instant) -> PlannedReply {
        let at_once = PlannedReply::Answered {
            after: Duration::ZERO,
            error: None,
        };
        if statement.is_schema() {
            return at_once;
        }
        if statement.meaning == Meaning::Catalogue {
            let message = "the null system has no catalogue of its tables";
            return PlannedReply::Answered {
                after: Duration::ZERO,
                error: Some(SystemError::new(ErrorClass::UnknownObject, "", message)),
            };
        }
        self.executed += 1;
        if self.options.is_plain() {
            return at_once;
        }
        let age = now.saturating_duration_since(self.since);
        if let Some(lose) = &mut self.options.lose
            && lose.fires(self.executed, age, &mut self.random)
        {
            return PlannedReply::Lost;
        }
        let mut after = self.options.delay.draw(&mut self.random);
        for stall in &mut self.options.stalls {
            after = stall.lengthen(after, self.executed, age, &mut self.random);
        }
        let (executed, random) = (self.executed, &mut self.random);
        let mut failures = self.options.failures.iter_mut();
        let failure = failures.find_map(|failure| {
            // A rollback never fails: a client could do nothing about it.
            let fires = failure.trigger.fires(executed, age, random)
                && statement.meaning != Meaning::Rollback;
            fires.then(|| {
                let (class, certainty) = (failure.class, failure.certainty);
                match certainty {
                    Certainty::Undone => SystemError::new(class, "", caused_by_option("fail")),
                    Certainty::Unknown => {
                        SystemError::new(class, "", caused_by_option("unknown")).unknown()
                    }
                }
            })
        });
        PlannedReply::Answered {
            after,
            error: failure,
        }
    }

    /// Executes the statement and returns its result.
    #[must_use]
    pub fn answer(&self, statement: &Statement) -> ResultSize {
        let rows = |rows, first| ResultSize {
            rows,
            first,
            affected: 0,
        };
        let changed = |affected| ResultSize {
            affected,
            ..ResultSize::default()
        };
        match &statement.meaning {
            Meaning::Count(table) => match self.deployment.tables().rows(table) {
                Some(counted) => rows(1, counted),
                None => rows(self.options.rows, 1),
            },
            Meaning::Read => rows(self.options.rows, 1),
            Meaning::Create(table) => {
                self.deployment.tables().make(table);
                ResultSize::default()
            }
            Meaning::Drop(table) => {
                self.deployment.tables().remove(table);
                ResultSize::default()
            }
            Meaning::Empty(table) => changed(self.deployment.tables().empty(table)),
            Meaning::Insert { table, rows } => {
                self.deployment.tables().extend(table, *rows);
                ResultSize {
                    rows: if statement.columns.is_empty() {
                        0
                    } else {
                        *rows
                    },
                    first: 1,
                    affected: *rows,
                }
            }
            Meaning::Change(_) => ResultSize {
                rows: u64::from(!statement.columns.is_empty()),
                first: 1,
                affected: 1,
            },
            _ => ResultSize::default(),
        }
    }

    /// Counts rows that were loaded into a table.
    pub fn loaded(&self, table: &str, rows: u64) {
        self.deployment.tables().add(table.to_owned(), rows);
    }
}

impl Drop for SessionModel {
    fn drop(&mut self) {
        self.deployment.leave();
    }
}

pub(super) fn caused_by_option(option: &str) -> String {
    format!("caused by the option {option}")
}

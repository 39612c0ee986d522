//! Takes the statements of one session in order; returns the planned reply to each, by the options of
//! the deployment. It never waits: the caller does.
//!
//! The sessions of a deployment share their number, the deployment's age, and its tables.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use assay_values::Random;

use crate::null::options::Options;
use crate::null::statement::{Meaning, Statement};
use crate::{Certainty, ErrorClass, Result, SystemError};

/// Deployments of this process, by their options: sessions with equal options share a deployment.
static DEPLOYMENTS: LazyLock<Mutex<Deployments>> = LazyLock::new(Mutex::default);

type Deployments = HashMap<BTreeMap<String, String>, Arc<Deployment>>;

#[derive(Debug, Default)]
pub(super) struct Deployment {
    sessions: Mutex<Sessions>,
    tables: Mutex<Tables>,
}

#[derive(Debug, Default)]
struct Sessions {
    open: u64,
    opened: u64,
    /// When the first of the open sessions was opened.
    since: Option<Instant>,
}

/// A session's place at its deployment.
pub(super) struct SessionPlace {
    /// The session's number among all ever opened.
    pub ordinal: u64,
    /// When the first of the open sessions was opened.
    pub since: Instant,
}

impl Deployment {
    /// The deployment of this process that has these options.
    pub(super) fn shared(options: &BTreeMap<String, String>) -> Arc<Self> {
        Arc::clone(locked(&DEPLOYMENTS).entry(options.clone()).or_default())
    }

    /// Opens a session.
    ///
    /// # Errors
    /// Where the deployment has reached its limit of sessions.
    pub(super) fn enter(&self, most: Option<u64>) -> Result<SessionPlace> {
        let mut sessions = locked(&self.sessions);
        if let Some(most) = most.filter(|&most| sessions.open >= most) {
            return Err(SystemError::new(
                ErrorClass::TooManyConnections,
                "",
                format!("the option refuse_after allows {most} sessions, and all of them are open"),
            ));
        }
        if sessions.open == 0 {
            sessions.since = Some(Instant::now());
        }
        sessions.open += 1;
        sessions.opened += 1;
        Ok(SessionPlace {
            ordinal: sessions.opened,
            since: sessions.since.unwrap_or_else(Instant::now),
        })
    }

    pub(super) fn leave(&self) {
        locked(&self.sessions).open -= 1;
    }

    pub(super) fn tables(&self) -> MutexGuard<'_, Tables> {
        locked(&self.tables)
    }
}

/// A thread that panicked leaves these values consistent: they change by single assignments.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[derive(Debug, Default)]
pub(super) struct Tables(HashMap<String, u64>);

impl Tables {
    /// The number of rows of a table, if it exists.
    pub(super) fn rows(&self, table: &str) -> Option<u64> {
        self.0.get(table).copied()
    }

    pub(super) fn add(&mut self, table: String, rows: u64) {
        *self.0.entry(table).or_default() += rows;
    }

    /// Adds rows to a table if it exists.
    pub(super) fn extend(&mut self, table: &str, rows: u64) {
        if let Some(known) = self.0.get_mut(table) {
            *known += rows;
        }
    }

    pub(super) fn make(&mut self, table: &str) {
        self.0.insert(table.into(), 0);
    }

    pub(super) fn remove(&mut self, table: &str) {
        self.0.remove(table);
    }

    /// Removes all rows; returns how many there were.
    pub(super) fn empty(&mut self, table: &str) -> u64 {
        self.0
            .get_mut(table)
            .map(std::mem::take)
            .unwrap_or_default()
    }
}

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
    pub ordinal: u64,
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
    pub fn new(options: &BTreeMap<String, String>) -> Result<Self> {
        Ok(Self {
            options: Options::parse(options)?,
            deployment: Arc::default(),
        })
    }

    /// The model of the sessions of this process that have the same options.
    ///
    /// # Errors
    /// As [`ServerModel::new`].
    pub(super) fn shared(options: &BTreeMap<String, String>) -> Result<Self> {
        Ok(Self {
            options: Options::parse(options)?,
            deployment: Deployment::shared(options),
        })
    }

    /// Opens one more session.
    ///
    /// # Errors
    /// Where the deployment has reached its limit of sessions.
    pub fn open_session(&self) -> Result<SessionModel> {
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

//! Takes the statements of one session, one after the other; gives what becomes of each, as the
//! options of the site tell. It never waits: the caller does.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use assay_values::Random;

use super::meaning::{Meaning, Statement};
use super::options::Options;
use super::site::{SessionPlace, Site};
use crate::{Certainty, ErrorClass, SystemError};

/// A null system to which sessions come: what it is told to do, and the tables they share.
pub struct ServerModel {
    options: Options,
    site: Arc<Site>,
}

/// One session with a [`ServerModel`]; it leaves when it is dropped.
pub struct SessionModel {
    options: Options,
    site: Arc<Site>,
    /// The session's number among all there were, from 1.
    ordinal: u64,
    /// When the first of the site's open sessions was opened.
    since: Instant,
    random: Random,
    /// Statements executed so far, but for those of the schema.
    executed: u64,
}

/// What becomes of a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlannedReply {
    /// The session is lost in it.
    Lost,
    /// It is answered so long after it came: by this error, or else well ([`SessionModel::answer`]).
    Answered {
        /// How long after the statement the answer is due.
        after: Duration,
        /// The error it is answered by; none where it ends well.
        error: Option<SystemError>,
    },
}

/// What a statement that ended well gives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Given {
    /// How many rows; each column of a row holds the row's number.
    pub rows: u64,
    /// The number of the first row.
    pub first: u64,
    /// How many rows the statement reports as changed.
    pub affected: u64,
}

impl ServerModel {
    /// # Errors
    /// Where an option is unknown or says what it cannot mean.
    pub fn new(options: &BTreeMap<String, String>) -> Result<Self, SystemError> {
        Ok(Self {
            options: Options::parse(options)?,
            site: Arc::default(),
        })
    }

    /// The model of the sessions of this process that have the same options.
    ///
    /// # Errors
    /// As [`ServerModel::new`].
    pub(super) fn shared(options: &BTreeMap<String, String>) -> Result<Self, SystemError> {
        Ok(Self {
            options: Options::parse(options)?,
            site: Site::shared(options),
        })
    }

    /// Lets one more session in.
    ///
    /// # Errors
    /// Where there are as many as the server takes.
    pub fn open_session(&self) -> Result<SessionModel, SystemError> {
        let SessionPlace { ordinal, since } = self.site.enter(self.options.refuse_after)?;
        Ok(SessionModel {
            options: self.options.clone(),
            site: Arc::clone(&self.site),
            ordinal,
            since,
            random: Random::stream(self.options.seed, ordinal),
            executed: 0,
        })
    }
}

impl SessionModel {
    /// The session's number among all there were, from 1.
    #[must_use]
    pub fn ordinal(&self) -> u64 {
        self.ordinal
    }

    /// What becomes of a statement that comes at `now`.
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
            // To give up a transaction cannot fail: who is told to do it could do nothing more.
            let fires = failure.trigger.fires(executed, age, random)
                && statement.meaning != Meaning::Rollback;
            fires.then(|| {
                let (class, certainty) = (failure.class, failure.certainty);
                match certainty {
                    Certainty::Undone => SystemError::new(class, "", told_by("fail")),
                    Certainty::Unknown => SystemError::new(class, "", told_by("unknown")).unknown(),
                }
            })
        });
        PlannedReply::Answered {
            after,
            error: failure,
        }
    }

    /// Does what the statement says, and gives what it answers.
    #[must_use]
    pub fn answer(&self, statement: &Statement) -> Given {
        let rows = |rows, first| Given {
            rows,
            first,
            affected: 0,
        };
        let changed = |affected| Given {
            affected,
            ..Given::default()
        };
        match &statement.meaning {
            Meaning::Count(table) => match self.site.tables().rows(table) {
                Some(counted) => rows(1, counted),
                None => rows(self.options.rows, 1),
            },
            Meaning::Read => rows(self.options.rows, 1),
            Meaning::Create(table) => {
                self.site.tables().make(table);
                Given::default()
            }
            Meaning::Drop(table) => {
                self.site.tables().remove(table);
                Given::default()
            }
            Meaning::Empty(table) => changed(self.site.tables().empty(table)),
            Meaning::Insert { table, rows } => {
                self.site.tables().extend(table, *rows);
                Given {
                    rows: if statement.columns.is_empty() {
                        0
                    } else {
                        *rows
                    },
                    first: 1,
                    affected: *rows,
                }
            }
            Meaning::Change(_) => Given {
                rows: u64::from(!statement.columns.is_empty()),
                first: 1,
                affected: 1,
            },
            _ => Given::default(),
        }
    }

    /// So many rows have been loaded into a table.
    pub fn loaded(&self, table: &str, rows: u64) {
        self.site.tables().add(table.to_owned(), rows);
    }
}

impl Drop for SessionModel {
    fn drop(&mut self) {
        self.site.leave();
    }
}

pub(super) fn told_by(option: &str) -> String {
    format!("told to by the option {option}")
}

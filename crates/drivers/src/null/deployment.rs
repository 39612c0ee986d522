//! What the sessions of one null deployment share: their number, the deployment's age, its tables.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use crate::{ErrorClass, SystemError};

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
    pub(super) fn enter(&self, most: Option<u64>) -> Result<SessionPlace, SystemError> {
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
